"""What a package index shows: the README, with links that lead somewhere from there too.

Links in the README are relative, which a forge and an editor follow. On the page of an index they would lead nowhere.
So they become absolute, by the address of the repository in `pyproject.toml`; while there is none, only their words
stay. The addresses of the project come from the same place.

And what a wheel brings along beside the package: the documents of its version, for `discreet.plugins.documents`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def shown(readme: str, address: str) -> str:
    """Return the README for an index."""

    def absolute(link: re.Match[str]) -> str:
        picture, words, place = link.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/main/{place})"

    return _LINK.sub(absolute, readme)


def addresses(address: str) -> dict[str, str]:
    """Return the addresses of the project."""
    if not address:
        return {}
    return {
        "Source": address,
        "Documentation": f"{address}/blob/main/docs/index.md",
        "Changes": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def documents(root: Path) -> dict[str, str]:
    """Return the pages that a wheel brings along, and where it has them: those written by hand, without pictures."""
    pages = (page for page in sorted((root / "docs").rglob("*.md")) if "_build" not in page.parts)
    return {str(page): f"discreet/documents/{page.relative_to(root / 'docs').as_posix()}" for page in pages}


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the documents of its version into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the pages; an editable installation has those of its checkout."""
        if version == "standard":
            build_data["force_include"] |= documents(Path(self.root))


class CustomMetadataHook(MetadataHookInterface):
    """Fills in what `pyproject.toml` calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README and the addresses."""
        address = str(self.config.get("address", "")).rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown(text, address)}
        metadata["urls"] = addresses(address)
