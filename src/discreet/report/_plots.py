"""Which pictures a result has, by name: what `plot` of patterns, rules, releases, outcomes and forecasts returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ..checks import parse_positive
from ..errors import MisuseError
from ..results import NOT_PRIVATE, UNITS, Patterns, Picture, Rules, promises
from ._charts import Bar, Drawing, bars
from ._graph import GraphPicture, graph
from ._lines import DrawnLine, lines
from ._matrix import confidences, pairs
from ._mount import mounted
from ._scatter import names_of, scatter
from ._sections import chart
from ._text import number_of, whole

ROWS = 30


def plot(
    result: Patterns | Rules, kind: str | None = None, rows: int = ROWS, level: int | str | None = None
) -> Picture:
    """Return a picture of patterns or rules.

    Parameters
    ----------
    result
        Patterns, rules or relations.
    kind
        Which picture; the first of those there are by default: for patterns ``"bars"``, ``"graph"``, ``"matrix"`` or
        ``"sizes"``, for rules ``"scatter"``, ``"bars"`` or ``"matrix"``, and for relations ``"matrix"`` first.
    rows
        How many bars, of those that come first.
    level
        The level of the hierarchy that is drawn, where it is one alone.
    """
    many = parse_positive("rows", rows)
    result = result if level is None else result.where(level=level)
    kinds = _pattern_kinds(result, many) if isinstance(result, Patterns) else _rule_kinds(result, many)
    chosen = next(iter(kinds)) if kind is None else kind
    if chosen not in kinds:
        word = "Patterns are" if isinstance(result, Patterns) else f"{result.kind.capitalize()} are"
        raise MisuseError(f"{word} drawn as {' or '.join(map(repr, kinds))}; {kind!r} was given.")
    if not len(result):
        raise MisuseError("There is nothing to draw: nothing was found.")
    notes = promises(result) or ([NOT_PRIVATE] if not result.noisy else [])
    return mounted([kinds[chosen]()], heading=_heading(result), notes=notes)


def _heading(result: Patterns | Rules) -> str:
    word = "pattern" if isinstance(result, Patterns) else result.kind.removesuffix("s")
    about = "" if result.people_within is None else "about "
    unit = UNITS[result.unit][result.people != 1]
    return f"{number_of(len(result), word)} of {about}{whole(result.people)} {unit}"


def _pattern_kinds(patterns: Patterns, rows: int) -> dict[str, Callable[[], Drawing]]:
    return {
        "bars": lambda: chart(_counted(patterns), rows),
        "graph": lambda: _graph(patterns),
        "matrix": lambda: _pairs(patterns),
        "sizes": lambda: _sizes(patterns),
    }


def _rule_kinds(rules: Rules, rows: int) -> dict[str, Callable[[], Drawing]]:
    kinds: dict[str, Callable[[], Drawing]] = {
        "scatter": lambda: scatter(rules),
        "bars": lambda: _confidence_bars(rules[:rows]),
        "matrix": lambda: confidences(rules),
    }
    return kinds if rules.kind == "rules" else {"matrix": kinds.pop("matrix"), **kinds}


def _counted(patterns: Patterns) -> Patterns:
    if not patterns.counted:
        raise MisuseError('These patterns have no counts, and so no bars: plot("graph") draws them without.')
    return patterns


def _graph(patterns: Patterns) -> Drawing:
    picture = GraphPicture.of(patterns)
    if not picture.items:
        raise MisuseError("A graph joins items that were found together: there is no pattern of two or three items.")
    return graph(picture)


def _pairs(patterns: Patterns) -> Drawing:
    if not (patterns.sizes == 2).any():
        raise MisuseError("A matrix shows pairs: there is no pattern of two items.")
    return pairs(patterns)


def _sizes(patterns: Patterns) -> Drawing:
    found = sorted(Counter(patterns.sizes.tolist()).items())
    rows = [Bar("1 item" if size == 1 else f"{size} items", many) for size, many in found]
    return bars(rows, title="Patterns by how many items they have", unit="count")


def _confidence_bars(rules: Rules) -> Drawing:
    nothing = [None] * len(rules)
    low, high = (nothing if end is None else end.tolist() for end in (rules.low, rules.high))
    rows = zip(names_of(rules, 70), rules.measure("confidence").tolist(), low, high, strict=True)
    return bars([Bar(*row) for row in rows], title=f"Confidence of {rules.kind}")


def forecast(rows: Sequence[tuple[str, float]], *, stands: str, notes: Sequence[str]) -> Picture:
    """Return what each mechanism or protocol is expected to get right, at a budget and a crowd.

    Parameters
    ----------
    rows
        Names, and which share of what is found is right.
    stands
        The budget and the crowd, in words.
    notes
        Sentences that belong with it.
    """
    return mounted([forecast_bars(rows)], heading="What this budget buys", notes=[stands, *notes])


def forecast_bars(rows: Sequence[tuple[str, float]]) -> Drawing:
    """Return which share of what each finds is right, expected."""
    return bars(
        [Bar(name, right) for name, right in rows],
        title="Share of the patterns found that is right, expected",
        most=1.0,
    )


def bought(
    sides: Sequence[tuple[str, str, Sequence[tuple[str, bool, Sequence[float], Sequence[float]]]]],
    epsilons: Sequence[float],
    *,
    notes: Sequence[str],
) -> Picture:
    """Return what each mechanism or protocol is expected to find at several budgets, and how far off counts are.

    Parameters
    ----------
    sides
        For a curator, for devices: a heading, what counts are of, and for each a name, whether it is the one to take,
        which share it finds at each epsilon, and half an interval of a count.
    epsilons
        The budgets.
    notes
        Sentences that belong with it.
    """
    return mounted(bought_lines(sides, epsilons), heading="What a budget buys", notes=notes)


def bought_lines(
    sides: Sequence[tuple[str, str, Sequence[tuple[str, bool, Sequence[float], Sequence[float]]]]],
    epsilons: Sequence[float],
) -> list[Drawing]:
    """Return the pictures of :func:`bought`."""
    drawn: list[Drawing] = []
    for heading, unit, rows in sides:
        found = [DrawnLine(name, tuple(right), strong) for name, strong, right, _ in rows]
        off = [DrawnLine(name, tuple(half), strong) for name, strong, _, half in rows]
        drawn += [
            lines(found, epsilons, title=f"{heading}: share found, expected", below="epsilon", share=True),
            lines(off, epsilons, title=f"How many {unit} a count is off by, at most", below="epsilon", share=False),
        ]
    return drawn
