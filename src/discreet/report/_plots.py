"""The pictures of a result, by name: the results of `plot` for patterns, rules, releases, outcomes and forecasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..checks import parse_positive
from ..errors import MisuseError
from ..results import NOT_PRIVATE, UNITS, Patterns, Picture, Rules, promise_lines
from ._charts import PAGE_BARS_WIDTH, PHONE_BARS_WIDTH, Bar, Unit, draw_bars, mount_drawings, reach
from ._graph import GraphPicture, draw_graph
from ._lines import DrawnLine, draw_lines
from ._matrix import draw_confidences, draw_pairs
from ._scatter import draw_scatter, rule_texts
from ._svg import Drawing
from ._text import count_text, labels_of, number_of, plain_itemset

_BARS_PER_DRAWING = 5  # a sheet of paper may end between two drawings
_LABEL_COLUMNS = 60  # of a bar
_TITLES = {
    "people": ("Share of people who hold each pattern", "People who hold each pattern"),
    "baskets": ("Share of baskets that hold each pattern", "Baskets that hold each pattern"),
}
# A curator's or a device's side of a forecast: its heading, its unit, and for each mechanism a name, whether it is
# recommended, the share that it finds at each epsilon, and the margin of a count at each epsilon.
ForecastSide: TypeAlias = tuple[str, str, Sequence[tuple[str, bool, Sequence[float], Sequence[float]]]]


def plot(result: Patterns | Rules, kind: str | None = None, rows: int = 30, level: int | str | None = None) -> Picture:
    """Return a picture of patterns or rules.

    Parameters
    ----------
    result
        Patterns, rules or relations.
    kind
        The name of the picture: ``"bars"``, ``"graph"``, ``"matrix"`` or ``"sizes"`` for patterns, ``"scatter"``,
        ``"bars"`` or ``"matrix"`` for rules, and ``"matrix"`` first for relations. None for the first.
    rows
        The number of bars.
    level
        The level of the hierarchy that is drawn; None for all levels.
    """
    # Checked before the level is applied: a wrong number is reported at once.
    row_count = parse_positive("rows", rows)
    result = result if level is None else result.where(level=level)
    kinds = _pattern_kinds(result, row_count) if isinstance(result, Patterns) else _rule_kinds(result, row_count)
    # The first kind suits most results: bars for patterns, points for rules.
    name = next(iter(kinds)) if kind is None else kind
    if name not in kinds:
        subject = "Patterns are" if isinstance(result, Patterns) else f"{result.kind.capitalize()} are"
        raise MisuseError(f"{subject} drawn as {' or '.join(map(repr, kinds))}; {kind!r} was given.")
    if not len(result):
        raise MisuseError("There is nothing to draw: nothing was found.")
    # A picture travels alone, so that it states its guarantee or that it has none.
    notes = promise_lines(result) or ([NOT_PRIVATE] if not result.noisy else [])
    return mount_drawings([kinds[name]()], heading=_heading(result), notes=notes)


def _heading(result: Patterns | Rules) -> str:
    noun = "pattern" if isinstance(result, Patterns) else result.kind.removesuffix("s")
    about = "" if result.people_within is None else "about "
    unit = UNITS[result.unit][result.people != 1]
    return f"{number_of(len(result), noun)} of {about}{count_text(result.people)} {unit}"


def chart(patterns: Patterns, rows: int = 30) -> Drawing:
    """Return the first patterns as one bar chart."""
    title, unit = _bar_title(patterns)
    return draw_bars(bars_of(patterns[:rows]), title=title, unit=unit)


def draw_pieces(patterns: Patterns) -> list[tuple[Drawing, Drawing]]:
    """Return the bars of patterns in pieces that fit on paper, each for a page and for a telephone, on one scale."""
    # One scale for all pieces, so that bars on two sheets of paper can be compared.
    bars = bars_of(patterns)
    title, unit = _bar_title(patterns)
    scale_end = reach(bars)
    page_pieces, phone_pieces = (
        [
            draw_bars(
                bars[start : start + _BARS_PER_DRAWING],
                title=title,
                unit=unit,
                scale_end=scale_end,
                with_scale=start == 0,
                min_width=width,
            )
            for start in range(0, len(bars), _BARS_PER_DRAWING)
        ]
        for width in (PAGE_BARS_WIDTH, PHONE_BARS_WIDTH)
    )
    return list(zip(page_pieces, phone_pieces, strict=True))


def _bar_title(patterns: Patterns) -> tuple[str, Unit]:
    """Return the title of a bar chart, and whether its bars are shares or counts."""
    # The number of people is noisy as well: at a noisy number of 0, bars are counts.
    unit: Unit = "share" if patterns.people > 0 else "count"
    return _TITLES[patterns.unit][unit == "count"], unit


def bars_of(patterns: Patterns) -> list[Bar]:
    """Return a bar for each pattern: its support, or its count where the number of people is 0."""
    share = patterns.people > 0
    ends = patterns.support_bounds or (None, None) if share else (patterns.low, patterns.high)
    low, high = ([None] * len(patterns) if bound is None else bound.tolist() for bound in ends)
    values = (patterns.supports if share else patterns.counts).tolist()
    labels = [plain_itemset(labels, _LABEL_COLUMNS) for labels in labels_of(patterns.itemsets, patterns)]
    cut_rows = patterns.cut_supports.tolist() if share else [False] * len(patterns)
    return [Bar(*row) for row in zip(labels, values, low, high, cut_rows, strict=True)]


def _pattern_kinds(patterns: Patterns, rows: int) -> dict[str, Callable[[], Drawing]]:
    def draw_chart() -> Drawing:
        if not patterns.counted:
            raise MisuseError('These patterns have no counts, and so no bars: plot("graph") draws them without.')
        return chart(patterns, rows)

    def draw_items() -> Drawing:
        picture = GraphPicture.of(patterns)
        if not picture.items:
            raise MisuseError(
                "A graph joins items that were found together: there is no pattern of two or three items."
            )
        return draw_graph(picture)

    def draw_matrix() -> Drawing:
        if not (patterns.sizes == 2).any():
            raise MisuseError("A matrix shows pairs: there is no pattern of two items.")
        return draw_pairs(patterns)

    def draw_sizes() -> Drawing:
        bars = [
            Bar("1 item" if size == 1 else f"{size} items", count)
            for size, count in sorted(Counter(patterns.sizes.tolist()).items())
        ]
        return draw_bars(bars, title="Patterns by how many items they have", unit="count")

    return {"bars": draw_chart, "graph": draw_items, "matrix": draw_matrix, "sizes": draw_sizes}


def _rule_kinds(rules: Rules, rows: int) -> dict[str, Callable[[], Drawing]]:
    kinds: dict[str, Callable[[], Drawing]] = {
        "scatter": lambda: draw_scatter(rules),
        "bars": lambda: _confidence_bars(rules[:rows]),
        "matrix": lambda: draw_confidences(rules),
    }
    return kinds if rules.kind == "rules" else {"matrix": kinds.pop("matrix"), **kinds}


def _confidence_bars(rules: Rules) -> Drawing:
    low, high = ([None] * len(rules) if end is None else end.tolist() for end in (rules.low, rules.high))
    rows = zip(rule_texts(rules, 70), rules.measure("confidence").tolist(), low, high, strict=True)
    return draw_bars([Bar(*row) for row in rows], title=f"Confidence of {rules.kind}")


def draw_forecast(rows: Sequence[tuple[str, float]], *, crowd: str, notes: Sequence[str]) -> Picture:
    """Return the picture of the expected precision of each mechanism or protocol, at one budget and crowd.

    Parameters
    ----------
    rows
        The name of each mechanism, and the expected share of its patterns that are true, from 0 to 1.
    crowd
        The budget and the crowd, in words.
    notes
        Sentences for the reader.
    """
    return mount_drawings([draw_precisions(rows)], heading="What this budget buys", notes=[crowd, *notes])


def draw_precisions(rows: Sequence[tuple[str, float]]) -> Drawing:
    """Return the bars of :func:`draw_forecast`."""
    title = "Share of the patterns found that is right, expected"
    return draw_bars([Bar(name, precision) for name, precision in rows], title=title, scale_end=1.0)


def draw_budgets(sides: Sequence[ForecastSide], epsilons: Sequence[float], *, notes: Sequence[str]) -> Picture:
    """Return the picture of the expected results of each mechanism or protocol at several budgets.

    Parameters
    ----------
    sides
        The expected results of mechanisms for a curator, and of protocols for devices.
    epsilons
        The budgets.
    notes
        Sentences for the reader.
    """
    return mount_drawings(draw_budget_lines(sides, epsilons), heading="What a budget buys", notes=notes)


def draw_budget_lines(sides: Sequence[ForecastSide], epsilons: Sequence[float]) -> list[Drawing]:
    """Return the drawings of :func:`draw_budgets`: for each side the shares found, and the margins of counts."""
    drawings: list[Drawing] = []
    for heading, unit, rows in sides:
        shares = [DrawnLine(name, tuple(values), strong) for name, strong, values, _ in rows]
        margins = [DrawnLine(name, tuple(values), strong) for name, strong, _, values in rows]
        drawings += [
            draw_lines(shares, epsilons, title=f"{heading}: share found, expected", below="epsilon", share=True),
            draw_lines(
                margins, epsilons, title=f"How many {unit} a count is off by, at most", below="epsilon", share=False
            ),
        ]
    return drawings
