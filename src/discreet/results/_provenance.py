"""The origin of a result: one typed value that travels with it, in memory and in files.

`Provenance` has the guarantee, the question, the mechanism with its settings, and the notes. Its fields are the one
table of names: each field carries its key and its type in files. Anybody can write a file, so `from_dict` checks each
value. The display of results and the meaning of a guarantee belong elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._untrusted import MAX_WHOLE, brief_text, check_values, exact_number

_UNNAMED = "The provenance"  # the subject of a message about values that come from no file
_LOSSES = ("epsilon", "delta")


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee:
    """A guarantee as a result states it: plain values, by which nothing is decided.

    Parameters
    ----------
    model, neighbours
        ``"central"`` or ``"local"``, and the neighbour relation as in files; None if a file does not state it.
    epsilon, delta
        The stated losses, exact; None if a file does not state them.
    details
        The remaining fields of :class:`discreet.Guarantee`: charges, public facts, assumptions.
    """

    model: str | None = None
    neighbours: str | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, numbers as exact text."""
        losses = {name: None if (loss := getattr(self, name)) is None else str(loss) for name in _LOSSES}
        values = {"model": self.model, "neighbours": self.neighbours, **losses}
        return {name: value for name, value in values.items() if value is not None} | dict(self.details)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = _UNNAMED) -> StatedGuarantee:
        """Return the guarantee of plain values, from a `place` for messages; a wrong value is an `InputError`."""
        # Unknown fields of a newer version travel on unchanged.
        details = dict(values)
        fields_given: dict[str, Any] = {name: details.pop(name) for name in ("model", "neighbours") if name in details}
        for name, text in fields_given.items():
            if not isinstance(text, str):
                raise InputError(f"{place}: {name!r} of its guarantee is {brief_text(text)}, but it must be text.")
        # Exact fractions: a sum of floats could promise less than it costs.
        fields_given |= {name: _parse_loss(name, details.pop(name), place) for name in _LOSSES if name in details}
        return cls(**fields_given, details=details)


def _parse_loss(name: str, value: Any, place: Path | str) -> Fraction:
    """Return an exact number from 0 on."""
    # A negative loss would lower the sum of a ledger.
    try:
        loss = exact_number(value)
        if loss < 0:
            raise ValueError(loss)
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{place}: {name!r} of its guarantee is {brief_text(value)}, but it must be an exact number from 0 on."
        ) from None
    return loss


# The name of the fact of a result with a larger bias than its intervals cover; the value of the fact is the reason.
BIAS_FACT = "bias beyond intervals"

# The types of fields in files, by their name in messages: a check of a value.
_VALUE_KINDS = {
    "an object": lambda value: isinstance(value, Mapping),
    "text": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number from 0 to 2^53": lambda value: type(value) is int and 0 <= value <= MAX_WHOLE,
    "a list of texts": lambda value: isinstance(value, list | tuple) and all(isinstance(part, str) for part in value),
    "a list of objects": lambda value: (
        isinstance(value, list | tuple) and all(isinstance(part, Mapping) for part in value)
    ),
}


def _file_field(key: str, kind: str) -> Any:
    """Return a field with its key in files and the name of its type; its default is None."""
    return field(default=None, metadata={"key": key, "kind": kind})


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The origin of a result; a field is None if it is not known.

    Parameters
    ----------
    guarantee
        The guarantee; None for an exact result.
    simulated
        Whether the noise or the reports came from a seeded source, so that no guarantee holds.
    marginal, reports
        Of a simulation, whether some counts were drawn one by one; the largest number of rounds that a device answers.
    mechanism, chosen_mechanism, protocol
        The mechanism that ran, and the mechanism that it chose; or the protocol.
    question, settings
        The question, and the settings of the mechanism or protocol: public values.
    rounds
        The transcript of a protocol.
    facts, notes
        Numbers released with the result, by name; sentences for the reader.
    scores
        The scores of a simulation against the truth.
    citations, date
        The publications to cite, and the day of the result.
    others
        The fields of other versions in a file, unchanged.
    """

    guarantee: StatedGuarantee | None = None
    simulated: bool = False
    marginal: bool | None = _file_field("marginal", "true or false")
    reports: int | None = _file_field("reports", "a whole number from 0 to 2^53")
    mechanism: str | None = _file_field("mechanism", "text")
    chosen_mechanism: str | None = _file_field("chosen", "text")
    protocol: str | None = _file_field("protocol", "text")
    question: Mapping[str, Any] | None = _file_field("asked", "an object")
    settings: Mapping[str, Any] | None = _file_field("settings", "an object")
    rounds: tuple[Mapping[str, Any], ...] | None = _file_field("rounds", "a list of objects")
    facts: Mapping[str, Any] | None = _file_field("facts", "an object")
    notes: tuple[str, ...] | None = _file_field("notes", "a list of texts")
    scores: Mapping[str, Any] | None = _file_field("scores", "an object")
    citations: tuple[str, ...] | None = _file_field("citations", "a list of texts")
    date: str | None = _file_field("when", "text")
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Return the name of the mechanism or protocol; "" if it is not known."""
        return self.mechanism or self.protocol or ""

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain values, as files have it."""
        values: dict[str, Any] = {
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "simulated": self.simulated,
        }
        # From the table of fields, so that reading and writing use the same keys.
        for entry in fields(self):
            if "key" in entry.metadata and (value := getattr(self, entry.name)) is not None:
                values[entry.metadata["key"]] = _to_plain(value)
        return values | dict(self.others)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = _UNNAMED) -> Provenance:
        """Return the provenance that :meth:`to_dict` wrote; an impossible value is an `InputError` with the `place`.

        Examples
        --------
        >>> Provenance.from_dict({"simulated": True, "asked": {"top": 3}}).question
        {'top': 3}
        """
        check_values(place, values)
        remaining = dict(values)
        guarantee = remaining.pop("guarantee", None)
        if guarantee is not None and not isinstance(guarantee, Mapping):
            raise InputError(f"{place}: 'guarantee' is {brief_text(guarantee)}, but it must be an object or null.")
        values_by_field: dict[str, Any] = {
            "guarantee": None if guarantee is None else StatedGuarantee.from_dict(guarantee, place),
            "simulated": _check_kind(remaining.pop("simulated", False), "simulated", "true or false", place),
        }
        for entry in fields(cls):
            key = entry.metadata.get("key")
            if key is None or (value := remaining.pop(key, None)) is None:
                continue
            value = _check_kind(value, key, entry.metadata["kind"], place)
            values_by_field[entry.name] = tuple(value) if isinstance(value, list) else value
        return cls(**values_by_field, others=remaining)


def _check_kind(value: Any, key: str, kind: str, place: Path | str) -> Any:
    """Return a value of a file after a check of its type."""
    if not _VALUE_KINDS[kind](value):
        raise InputError(f"{place}: {key!r} is {brief_text(value)}, but it must be {kind}.")
    return value


def _to_plain(value: Any) -> Any:
    """Return a value as JSON has it: copies of mappings, and lists for tuples."""
    if isinstance(value, Mapping):
        return dict(value)
    return [_to_plain(part) for part in value] if isinstance(value, tuple) else value
