"""The cells that could not run, grouped by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.wording import number_of

# The number of experiments that a reason names, about two lines; further experiments are counted.
_NAMED_EXPERIMENTS = 8


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cell that could not run.

    Parameters
    ----------
    experiment, cell
        The name of the experiment, and the cell in words.
    reason
        The reason.
    missing_data
        The name of the data set, if it is one of ours and its file is missing.
    """

    experiment: str
    cell: str
    reason: str
    missing_data: str | None = None

    def __str__(self) -> str:
        return f"{self.cell}: {self.reason}"


def list_reasons(failures: Iterable[Failure]) -> list[str]:
    """Return each reason once, with the cells that it stopped: all missing files are one reason."""
    groups: dict[str, list[Failure]] = {}
    for failure in failures:
        groups.setdefault("" if failure.missing_data else failure.reason, []).append(failure)
    return [_reason_line(group) for group in groups.values()]


def _reason_line(group: list[Failure]) -> str:
    """Return the text about the cells of one reason: one line, or several for missing files."""
    missing_sets = list(dict.fromkeys(failure.missing_data for failure in group if failure.missing_data))
    if not missing_sets and len(group) == 1:
        return str(group[0])
    experiments = list(dict.fromkeys(failure.experiment for failure in group))
    experiment_text = ", ".join(experiments[:_NAMED_EXPERIMENTS])
    if len(experiments) > _NAMED_EXPERIMENTS:
        experiment_text += f" and {len(experiments) - _NAMED_EXPERIMENTS} more experiments"
    beginning = f"{number_of(len(group), 'point')} of {experiment_text}"
    if not missing_sets:
        return f"{beginning}, first {group[0]}"
    from ..data.datasets import missing_files

    return f"{beginning}: {missing_files(missing_sets)}"
