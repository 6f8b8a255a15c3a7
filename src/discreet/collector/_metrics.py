"""The metrics of a service in the text format of Prometheus: counts and states only, and no content of a report."""

from __future__ import annotations

from collections.abc import Mapping

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


def render_metrics(
    collector: StudyCollector, requests: Mapping[int, int], reports: Mapping[str, int], *, watching: bool
) -> str:
    """Return all metrics as text; refused reports with their reasons only for operators with the scope `watch`."""
    samples: dict[str, list[tuple[dict[str, str], int]]] = {name: [] for name in _HELP}
    samples["discreet_requests_total"] = [({"status": str(status)}, requests[status]) for status in sorted(requests)]
    samples["discreet_reports_total"] = [
        ({"outcome": outcome}, reports[outcome])
        for outcome in sorted(reports)
        if watching or outcome in OUTCOMES.values()
    ]
    # Studies and rounds are public already, as the list of studies and the progress of each.
    for record in collector.store.studies():
        study = {"study": record.name}
        for stored in collector.store.rounds(record.name):
            labels = {**study, "round": str(stored.number)}
            samples["discreet_round_people"].append((labels, stored.people))
            samples["discreet_round_open"].append((labels, int(stored.state == "open")))
        samples["discreet_study_released"].append((study, int(collector.has_ended(record.name))))
        if watching:
            refused = collector.store.refused(record.name)
            samples["discreet_refused_total"] += [({**study, "reason": reason}, refused[reason]) for reason in refused]
    lines = []
    for name, (kind, description) in _HELP.items():
        lines += [f"# HELP {name} {description}", f"# TYPE {name} {kind}"]
        for labels, value in samples[name]:
            pairs = ",".join(f'{label}="{text}"' for label, text in labels.items())
            lines.append(f"{name}{{{pairs}}} {value}")
    return "".join(f"{line}\n" for line in lines)
