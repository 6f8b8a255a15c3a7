"""A real browser for tests: Debian's Chromium, led by Playwright. Without one they are skipped, but on a forge."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def opened() -> Iterator[Any]:
    """Start the browser, and stop it afterwards."""
    place = shutil.which("chromium")
    if place is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(
            "Chromium is not on this machine: apt-get install chromium"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # A container's root may not make a sandbox; what is opened is served by the test itself.
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def save_screenshot(page: Any, name: str) -> None:
    """Keep a picture of a page, where DISCREET_SCREENSHOTS names a folder for them."""
    folder = os.environ.get("DISCREET_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
