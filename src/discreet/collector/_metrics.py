"""What a monitor may read, in the text form of Prometheus: counts and states only, and nothing of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ._collector import StudyCollector
from ._reasons import OUTCOMES

_HELP = {
    "discreet_requests_total": ("counter", "Requests that were answered, by status."),
    "discreet_reports_total": ("counter", "Reports that this server was sent, by outcome."),
    "discreet_round_people": ("gauge", "Reports that were counted, by study and round."),
    "discreet_round_open": ("gauge", "Whether a round takes reports, by study and round."),
    "discreet_study_released": ("gauge", "Whether a study has ended, by study."),
    "discreet_refused_total": ("counter", "Reports that were refused, by study and reason."),
}


def exposition(
    collector: StudyCollector, requests: Mapping[int, int], reports: Mapping[str, int], *, watching: bool
) -> str:
    """Return all metrics as text; reports that were refused, and why, are for operators who may watch."""
    found: dict[str, list[tuple[dict[str, str], int]]] = {name: [] for name in _HELP}
    found["discreet_requests_total"] = [({"status": str(one)}, many) for one, many in sorted(requests.items())]
    found["discreet_reports_total"] = [
        ({"outcome": one}, many) for one, many in sorted(reports.items()) if watching or one in OUTCOMES.values()
    ]
    for record in collector.store.studies():
        labels = {"study": record.name}
        for one in collector.store.rounds(record.name):
            place = {**labels, "round": str(one.number)}
            found["discreet_round_people"].append((place, one.people))
            found["discreet_round_open"].append((place, int(one.state == "open")))
        released = collector.has_ended(record.name)
        found["discreet_study_released"].append((labels, int(released)))
        for reason, many in collector.store.refused(record.name).items() if watching else ():
            found["discreet_refused_total"].append(({**labels, "reason": reason}, many))
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: Mapping[str, list[tuple[dict[str, str], int]]]) -> Iterable[str]:
    for name, samples in found.items():
        kind, words = _HELP[name]
        yield f"# HELP {name} {words}"
        yield f"# TYPE {name} {kind}"
        for labels, value in samples:
            inside = ",".join(f'{label}="{text}"' for label, text in labels.items())
            yield f"{name}{{{inside}}} {value}"
