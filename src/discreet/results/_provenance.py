"""Where a result comes from: one typed value that travels with it, in memory and in files.

`Provenance` says what was promised, what was asked, what answered and with which settings, and what is to be said about
it. Its fields are the one table of names: a field carries the key and the kind of value that files have for it. Files
are written by anybody, so `from_dict` checks each value. How results are shown, and what a promise means, stay out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import InputError
from ._untrusted import MOST, brief_text, check_values, exact_number

_UNNAMED = "The provenance"  # what a message names where values come from no file
_LOSSES = ("epsilon", "delta")


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee:
    """A guarantee as a result states it: plain values, which nothing is decided by.

    Parameters
    ----------
    model, neighbours
        ``"central"`` or ``"local"``, and the neighbour relation as files have it. None where a file does not say.
    epsilon, delta
        The stated losses, exact; None where a file does not say.
    details
        What else a guarantee has, as :class:`discreet.Guarantee` writes it: charges, public facts, assumptions.
    """

    model: str | None = None
    neighbours: str | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, numbers as exact text."""
        losses = {name: None if (loss := getattr(self, name)) is None else str(loss) for name in _LOSSES}
        stated = {"model": self.model, "neighbours": self.neighbours, **losses}
        return {name: value for name, value in stated.items() if value is not None} | dict(self.details)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = _UNNAMED) -> StatedGuarantee:
        """Return the guarantee that `values` of a `place` state; whatever it cannot be is an `InputError`."""
        rest = dict(values)
        stated: dict[str, Any] = {name: rest.pop(name) for name in ("model", "neighbours") if name in rest}
        for name, text in stated.items():
            if not isinstance(text, str):
                raise InputError(f"{place}: {name!r} of its guarantee is {brief_text(text)}, but it must be text.")
        stated |= {name: _loss(name, rest.pop(name), place) for name in _LOSSES if name in rest}
        return cls(**stated, details=rest)


def _loss(name: str, value: Any, place: Path | str) -> Fraction:
    try:
        loss = exact_number(value)
        if loss < 0:
            raise ValueError(loss)
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{place}: {name!r} of its guarantee is {brief_text(value)}, but it must be an exact number from 0 on."
        ) from None
    return loss


# The fact of a result whose estimates are biased by more than its intervals hold: its value is the reason.
BIAS_FACT = "bias beyond intervals"

# What a field is in a file: words for a message, and whether a value is such.
_KINDS = {
    "an object": lambda value: isinstance(value, Mapping),
    "text": lambda value: isinstance(value, str),
    "true or false": lambda value: isinstance(value, bool),
    "a whole number from 0 to 2^53": lambda value: type(value) is int and 0 <= value <= MOST,
    "a list of texts": lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
    "a list of objects": lambda value: (
        isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)
    ),
}


def _kept(key: str, kind: str) -> Any:
    """Return a field that files have under `key`, where it is of a `kind`; None where they do not say it."""
    return field(default=None, metadata={"key": key, "kind": kind})


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a result comes from; a field is None where nobody said it.

    Parameters
    ----------
    guarantee
        What was promised; None of an exact result.
    simulated
        Whether the noise or the reports came from a seeded source: then nothing was promised to anyone.
    marginal, reports
        Of a simulation, whether some counts were drawn one by one; how many rounds one device answers at most.
    mechanism, chosen_mechanism, protocol
        The mechanism that ran, and the one that it chose to do the work; or the protocol.
    question, settings
        What was asked for, and the settings of the mechanism or protocol: public values.
    rounds
        The transcript of a protocol.
    facts, notes
        Numbers that were released too, by name; sentences for the reader.
    scores
        How near a simulation came to the truth.
    citations, date
        What to cite, and the day when the result was made.
    others
        What a file says beside all this: fields of other versions, which are kept.
    """

    guarantee: StatedGuarantee | None = None
    simulated: bool = False
    marginal: bool | None = _kept("marginal", "true or false")
    reports: int | None = _kept("reports", "a whole number from 0 to 2^53")
    mechanism: str | None = _kept("mechanism", "text")
    chosen_mechanism: str | None = _kept("chosen", "text")
    protocol: str | None = _kept("protocol", "text")
    question: Mapping[str, Any] | None = _kept("asked", "an object")
    settings: Mapping[str, Any] | None = _kept("settings", "an object")
    rounds: tuple[Mapping[str, Any], ...] | None = _kept("rounds", "a list of objects")
    facts: Mapping[str, Any] | None = _kept("facts", "an object")
    notes: tuple[str, ...] | None = _kept("notes", "a list of texts")
    scores: Mapping[str, Any] | None = _kept("scores", "an object")
    citations: tuple[str, ...] | None = _kept("citations", "a list of texts")
    date: str | None = _kept("when", "text")
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The name of the mechanism or protocol; nothing where nobody said it."""
        return self.mechanism or self.protocol or ""

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain values, as files have it."""
        values: dict[str, Any] = {
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "simulated": self.simulated,
        }
        for one in fields(self):
            if "key" in one.metadata and (value := getattr(self, one.name)) is not None:
                values[one.metadata["key"]] = _plain(value)
        return values | dict(self.others)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = _UNNAMED) -> Provenance:
        """Return the provenance that :meth:`to_dict` wrote; whatever it cannot be is an `InputError` with the `place`.

        Examples
        --------
        >>> Provenance.from_dict({"simulated": True, "asked": {"top": 3}}).question
        {'top': 3}
        """
        check_values(place, values)
        rest = dict(values)
        guarantee = rest.pop("guarantee", None)
        if guarantee is not None and not isinstance(guarantee, Mapping):
            raise InputError(f"{place}: 'guarantee' is {brief_text(guarantee)}, but it must be an object or null.")
        found: dict[str, Any] = {
            "guarantee": None if guarantee is None else StatedGuarantee.from_dict(guarantee, place),
            "simulated": _checked(rest.pop("simulated", False), "simulated", "true or false", place),
        }
        for one in fields(cls):
            key = one.metadata.get("key")
            if key is None or (value := rest.pop(key, None)) is None:
                continue
            value = _checked(value, key, one.metadata["kind"], place)
            found[one.name] = tuple(value) if isinstance(value, list) else value
        return cls(**found, others=rest)


def _checked(value: Any, key: str, kind: str, place: Path | str) -> Any:
    if not _KINDS[kind](value):
        raise InputError(f"{place}: {key!r} is {brief_text(value)}, but it must be {kind}.")
    return value


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: copies of mappings, and lists for tuples."""
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
