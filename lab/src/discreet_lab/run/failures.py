"""What could not be run, and why: each reason is said once, with all that it kept from running."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.wording import number_of

# So many experiments are named with a reason; the others are counted.
_NAMED_EXPERIMENTS = 8


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One cell that could not be run.

    Parameters
    ----------
    experiment, cell
        The name of the experiment, and the cell in words.
    reason
        Why it could not be run.
    missing_data
        The name of its data set, where that is one of ours and its file is not here.
    """

    experiment: str
    cell: str
    reason: str
    missing_data: str | None = None

    def __str__(self) -> str:
        return f"{self.cell}: {self.reason}"


def reasons_once(failures: Iterable[Failure]) -> list[str]:
    """Return each reason once, with the cells that it kept from running: all missing files are one reason."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault("" if failure.missing_data else failure.reason, []).append(failure)
    return [_reason_line(group) for group in groups.values()]


def _reason_line(group: list[Failure]) -> str:
    """Return one line for cells that could not be run for the same reason; for missing files, some lines."""
    missing = list(dict.fromkeys(failure.missing_data for failure in group if failure.missing_data))
    if not missing and len(group) == 1:
        return str(group[0])
    experiments = list(dict.fromkeys(failure.experiment for failure in group))
    named = ", ".join(experiments[:_NAMED_EXPERIMENTS])
    if len(experiments) > _NAMED_EXPERIMENTS:
        named += f" and {len(experiments) - _NAMED_EXPERIMENTS} more experiments"
    beginning = f"{number_of(len(group), 'point')} of {named}"
    if not missing:
        return f"{beginning}, first {group[0]}"
    from ..data.datasets import missing_files

    return f"{beginning}: {missing_files(missing)}"
