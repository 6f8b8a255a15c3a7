"""Reading of the golden vectors, and checks of a device against them: ours, and one with a planted bug."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER, DECLARED_FOLDER = Path(__file__).parent / "v1", Path(__file__).parent / "declared"
MAX_EPSILON, MAX_DELTA = 64, 0  # limits of a device's owner in cases without limits


def cases(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    place = next(folder / f"{name}.json" for folder in (FOLDER, DECLARED_FOLDER) if (folder / f"{name}.json").exists())
    parsed_cases: list[dict[str, Any]] = json.loads(place.read_text())
    return parsed_cases


def asked_in(case: Mapping[str, Any]) -> Any:
    """Return the question of a case: as written, with long lists filled in, or as text padded to a number of bytes."""
    if "text" in case:
        return case["text"].encode()
    question = {**case["question"], **{name: list(range(*ends)) for name, ends in case.get("lists", {}).items()}}
    if "bytes" in case:
        return json.dumps(question).encode().ljust(case["bytes"])
    return question


def held_in(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a case by kind: as written, or with each entry repeated."""
    holdings = {name: case[name] for name in ("basket", "texts", "given", "after") if name in case}
    for name, entries in case.get("repeated", {}).items():
        holdings[name] = [entry for entry, times in entries for _ in range(times)]
    return {
        name: [tuple(pair) for pair in entries] if name in ("given", "after") else entries
        for name, entries in holdings.items()
    }


class Bytes:
    """Given bytes, all of which must be used."""

    def __init__(self, text: str) -> None:
        self.left = bytes.fromhex(text)

    def take(self, count: int) -> bytes:
        assert count <= len(self.left)
        chunk, self.left = self.left[:count], self.left[count:]
        return chunk


def failures(client: Callable[..., bytes], names: list[str], prefix: str = "") -> Iterator[str]:
    """Run a device on the cases of some files, all or the cases with a prefix, and yield a message for each failure."""
    for name in names:
        for number, case in enumerate(cases(name)):
            if not case.get("what", "").startswith(prefix):
                continue
            answer = _answer_case(client, case) if "question" in case or "text" in case else _by_itself(client, case)
            if "most_bytes" in case:
                right = answer.startswith("{") and len(answer) <= case["most_bytes"]
            else:
                right = answer == (f"refused: {case['refused']}" if "refused" in case else case["report"])
            if not right:
                yield f"{name} {number} ({case.get('what', '')}): {answer:.100}"


def _by_itself(client: Callable[..., bytes], case: Mapping[str, Any]) -> str:
    """Return the answer of the oracle of one number, without a question around it."""
    home, source = import_module(client.__module__), Bytes(case["random"])
    report = home.ANSWERS[case["oracle"]["oracle"]](case["oracle"], [case["number"]], home.Draws(source.take))
    return json.dumps(report, separators=(",", ":")) + ("" if not source.left else ", and bytes are left over")


def _answer_case(client: Callable[..., bytes], case: Mapping[str, Any]) -> str:
    source = Bytes(case["random"]) if "random" in case else Bytes("00")
    take = {} if "most_bytes" in case else {"take": source.take}
    holdings = held_in(case)
    # A device that holds texts holds no numbers.
    basket = holdings.pop("basket", [1] if "texts" not in holdings else [])
    limits = {"max_epsilon": case.get("max_epsilon", MAX_EPSILON), "max_delta": case.get("max_delta", MAX_DELTA)}
    try:
        report = client(asked_in(case), basket, **limits, **holdings, **take)
    except ValueError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"stopped: {error!r}"
    return report.decode() + ("" if "most_bytes" in case or not source.left else ", and bytes are left over")
