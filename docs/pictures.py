"""Draws the pictures of the documentation, and one table: `python docs/pictures.py` writes them all.

Each picture is a function that returns SVG text. Numbers come from the package: laws of noise from the ones the audit
computes, probabilities from exact arithmetic. What the product looks like is drawn by the product, of made-up people
and with seeded noise. Letters stay letters, a picture has a ground of its own and is dark where the reader's screen is,
and the same code gives the same bytes, so that a test can tell whether a picture is out of date.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from html import escape
from pathlib import Path
from statistics import median

import discreet
from discreet.auditing import noise
from discreet.baskets import groceries
from discreet.planning import plan, trial
from discreet.privacy.sampling import intervals
from discreet.publish import Release
from discreet.report import colours
from discreet.results import SIMULATED

FOLDER = Path(__file__).parent / "pictures"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, QUIET, RULE, PALE = "#1a1a1a", "#555555", "#cccccc", "#eef3f7"
EPSILONS = ("0.1", "0.5", "1", "4")
BLUE, ORANGE, GREEN, BROWN = "#2f7fb0", "#d9822b", "#4a8f4a", "#a85f12"
NIGHT = {
    RULE: "#4a4f55", PALE: "#22303a", BLUE: "#5fa4cf", ORANGE: "#e39a4f", GREEN: "#6fb36f", BROWN: "#e3b268",
}  # fmt: skip


class Picture:
    """What has been drawn so far, on a ground of this size."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def add(self, tag: str, text: str | None = None, **attributes: object) -> None:
        """Draw one thing; an underscore in a name stands for a hyphen."""
        attribute_text = "".join(
            f' {name.replace("_", "-")}="{escape(_plain(value))}"' for name, value in attributes.items()
        )
        self.parts.append(
            f"<{tag}{attribute_text}/>" if text is None else f"<{tag}{attribute_text}>{escape(text)}</{tag}>"
        )

    def text(self, x: float, y: float, words: str, **attributes: object) -> None:
        """Write words; several lines are separated by line breaks, 18 units apart."""
        for place, line in enumerate(words.split("\n")):
            self.add("text", line, x=x, y=y + 18 * place, **{"fill": INK, **attributes})

    def box(self, x: float, y: float, width: float, height: float, **attributes: object) -> None:
        self.add("rect", x=x, y=y, width=width, height=height, **{"rx": 8, "fill": PALE, "stroke": RULE, **attributes})

    def line(self, *points: tuple[float, float], **attributes: object) -> None:
        places = " ".join(f"{_plain(x)},{_plain(y)}" for x, y in points)
        self.add("polyline", points=places, **{"fill": "none", "stroke": INK, "stroke_width": 1.5, **attributes})

    def arrow(self, *points: tuple[float, float], **attributes: object) -> None:
        self.line(*points, marker_end="url(#tip)", **attributes)

    def svg(self) -> str:
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0L8,4L0,8z" fill="{INK}"/></marker></defs>'
        )
        dark = "".join(
            f'[{attribute}="{day}"]{{{attribute}:{night}}}'
            for day, night in (
                {colour: colours.NIGHT[colour] for colour in (INK, QUIET, colours.PAPER)} | NIGHT
            ).items()
            for attribute in ("fill", "stroke")
            if f'{attribute}="{day}"' in "".join(self.parts) or day in (INK, colours.PAPER)
        )
        dark = f"<style>{colours.DARK}{{{dark}}}</style>"
        ground = f'<rect width="{self.width}" height="{self.height}" rx="12" fill="#ffffff"/>'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" font-family="{escape(FONT)}" font-size="14">'
        )
        return "\n".join([head, f"<title>{escape(self.title)}</title>", dark, tip, ground, *self.parts, "</svg>\n"])


def _plain(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def power(exponent: Fraction) -> float:
    """Return e to a fraction, from an interval that certainly holds it."""
    low, high = intervals.exp(intervals.ratio(exponent, 30), 30)
    return float((low + high) / 2)


def law(epsilon: Fraction, largest: int) -> dict[int, float]:
    """Return the law of the noise that one count gets: discrete Laplace of scale one over epsilon."""
    return {value: float((low + high) / 2) for value, (low, high) in noise(1 / epsilon, Fraction(0), largest).items()}


def certainty(epsilon: Fraction, before: Fraction) -> float:
    """Return how sure somebody can become at most who held something for this likely: odds grow by e to epsilon."""
    odds = float(before / (1 - before)) * power(epsilon)
    return odds / (1 + odds)


def _person(picture: Picture, x: float, y: float, holds: str, colour: str = BLUE, dash: str = "none") -> None:
    picture.add("circle", cx=x, cy=y, r=9, fill=colour)
    picture.add("path", d=f"M{x - 15:g},{y + 30:g}a15,17 0 0 1 30,0z", fill=colour)
    picture.add(
        "rect", x=x - 36, y=y + 36, width=72, height=44, rx=6, fill="none", stroke=colour, stroke_dasharray=dash
    )
    picture.text(x, y + 54, holds, text_anchor="middle", font_size=13)


def neighbours() -> str:
    """Two pairs of data sets: one person more or less, and one person's basket exchanged."""
    picture = Picture(720, 450, "Neighbours: data sets that differ in one person")
    people = ["tea\nmilk", "bread", "tea\njam"]

    def row(y: float, label: str, last_person: tuple[str, str] | None) -> None:
        picture.text(24, y + 30, label, font_weight="bold")
        for place, holds in enumerate(people):
            _person(picture, 200 + 84 * place, y, holds)
        if last_person is None:
            picture.add(
                "rect",
                x=452 - 36,
                y=y - 12,
                width=72,
                height=92,
                rx=6,
                fill="none",
                stroke=RULE,
                stroke_dasharray="5 4",
            )
            picture.text(452, y + 38, "nobody", text_anchor="middle", fill=QUIET)
        else:
            _person(picture, 452, y, *last_person)

    row(28, "with her", ("gin\nlimes", ORANGE))
    row(124, "without her", None)
    picture.text(514, 96, "add or remove\none person: the number\nof people is private too", fill=QUIET)
    picture.line((24, 222), (696, 222), stroke=RULE)
    row(248, "with her basket", ("gin\nlimes", ORANGE))
    row(344, "with another", ("bread\nmilk", GREEN))
    picture.text(514, 318, "replace\none person: the number\nof people is public", fill=QUIET)
    return picture.svg()


def laws() -> str:
    """The laws of one released count, with her and without her, and the factor between them."""
    epsilon, true_count, reach = Fraction(1, 2), 100, 12
    chances = law(epsilon, reach + 1)
    picture = Picture(720, 380, "Two laws of a released count that differ by a factor of e to epsilon at most")
    left_edge, base, step, tall = 60, 300, 24.5, 230 / 0.25

    def x(value: int) -> float:
        return left_edge + step * (value - true_count + reach) + step / 2

    for share in (0.0, 0.1, 0.2):
        picture.line((left_edge, base - tall * share), (680, base - tall * share), stroke=RULE, stroke_width=1)
        picture.text(
            left_edge - 8, base - tall * share + 5, f"{share:.0%}", text_anchor="end", fill=QUIET, font_size=13
        )
    for shift, colour in ((0, BLUE), (1, ORANGE)):
        for value in range(true_count - reach, true_count + reach + 1):
            high = tall * chances[value - true_count - shift]
            picture.add(
                "rect", x=x(value) - 9 + 9 * shift, y=base - high, width=9, height=high, fill=colour, opacity=0.9
            )
    for value in range(true_count - reach, true_count + reach + 1, 4):
        picture.text(x(value), base + 20, str(value), text_anchor="middle", fill=QUIET, font_size=13)
    picture.text(370, base + 42, "the count that is released", text_anchor="middle", fill=QUIET)
    high, low = base - tall * chances[0], base - tall * chances[-1]
    picture.line((x(true_count) - 4.5, high - 4), (x(true_count) - 4.5, 44), (296, 44), stroke=INK, stroke_width=1)
    picture.line((x(true_count) + 4.5, low - 4), (x(true_count) + 4.5, 63), (430, 63), stroke=INK, stroke_width=1)
    picture.text(290, 48, f"without her, 100 hold it: 100 in {chances[0]:.1%}", text_anchor="end", fill=BLUE)
    picture.text(438, 68, f"with her, 101 hold it: 100 in {chances[-1]:.1%}", fill=BROWN)
    ratio = chances[0] / chances[-1]
    picture.text(
        438, 106, f"{chances[0]:.1%} / {chances[-1]:.1%} = {ratio:.2f} = e^0.5\nno column is further apart than that"
    )
    picture.text(24, 366, "ε = 1/2: one count with discrete Laplace noise of scale 1/ε = 2", fill=QUIET, font_size=13)
    return picture.svg()


def bet() -> str:
    """How sure somebody can become at most, by epsilon, for three things they might have held likely before."""
    picture = Picture(720, 380, "How sure an adversary can become at most, by epsilon")
    left_edge, base, plot_width, tall = 70, 290, 590, 240
    steps = 60
    for share in (0, 0.25, 0.5, 0.75, 1):
        picture.line(
            (left_edge, base - tall * share), (left_edge + plot_width, base - tall * share), stroke=RULE, stroke_width=1
        )
        picture.text(
            left_edge - 8, base - tall * share + 5, f"{share:.0%}", text_anchor="end", fill=QUIET, font_size=13
        )
    for mark in range(6):
        picture.text(
            left_edge + plot_width * mark / 5, base + 20, str(mark), text_anchor="middle", fill=QUIET, font_size=13
        )
    picture.text(left_edge + plot_width / 2, base + 42, "epsilon", text_anchor="middle", fill=QUIET)
    picture.text(left_edge - 46, 24, "how sure somebody can be afterwards that she is in the data, at most", fill=QUIET)
    for before, colour, place in (
        (Fraction(1, 2), BLUE, (1.5, 30)),
        (Fraction(1, 10), ORANGE, (2.75, 24)),
        (Fraction(1, 100), GREEN, (3.9, 30)),
    ):
        curve = [
            (left_edge + plot_width * budget / steps, base - tall * certainty(Fraction(5 * budget, steps), before))
            for budget in range(steps + 1)
        ]
        picture.line(*curve, stroke=colour, stroke_width=2.5)
        for budget in (1, 4):
            x, y = left_edge + plot_width * budget / 5, base - tall * certainty(Fraction(budget), before)
            picture.add("circle", cx=x, cy=y, r=4, fill=colour)
            words = f"{certainty(Fraction(budget), before):.0%}"
            picture.text(x - 6, y - 9, words, text_anchor="end", fill=colour, font_weight="bold")
        budget, offset = place
        x, y = left_edge + plot_width * budget / 5, base - tall * certainty(Fraction(budget), before) + offset
        words = f"{float(before):.0%} before"
        picture.text(x + 24, y, words, fill=colour)
    words = "Add or remove one person; for a bet on what she holds, look at twice the epsilon."
    picture.text(24, 366, words, fill=QUIET, font_size=13)
    return picture.svg()


def sides() -> str:
    """Where the noise is put, and who sees what: a curator, and devices."""
    picture = Picture(720, 440, "Two sides: a curator who holds the baskets, and devices that keep them")

    def people(y: float) -> None:
        for place, holds in enumerate(("tea\nmilk", "bread", "gin\nlimes")):
            _person(picture, 66 + 84 * place, y, holds)

    picture.text(24, 30, "The curator", font_weight="bold", font_size=16)
    people(56)
    picture.arrow((284, 92), (336, 92))
    picture.text(310, 78, "baskets", text_anchor="middle", fill=QUIET, font_size=12)
    picture.box(342, 56, 150, 72)
    picture.text(417, 80, "holds everything,\ncounts, adds noise\nonce per release", text_anchor="middle", font_size=13)
    picture.arrow((492, 92), (544, 92), stroke=ORANGE, stroke_width=2.5)
    picture.text(518, 78, "noise", text_anchor="middle", fill=BROWN, font_size=13)
    picture.box(550, 56, 146, 72, fill="#ffffff")
    picture.text(623, 80, "the world sees\npatterns, off by\ntens or hundreds", text_anchor="middle", font_size=13)
    picture.text(
        24, 168, "People must trust the curator. The world learns next to nothing about any one person.", fill=QUIET
    )
    picture.line((24, 210), (696, 210), stroke=RULE)
    picture.text(24, 242, "Devices", font_weight="bold", font_size=16)
    people(268)
    picture.arrow((284, 304), (336, 304), stroke=ORANGE, stroke_width=2.5)
    picture.text(310, 290, "noise", text_anchor="middle", fill=BROWN, font_size=13)
    picture.box(342, 268, 150, 72, fill="#ffffff")
    picture.text(417, 292, "the collector sees\none randomised\nreport per person", text_anchor="middle", font_size=13)
    picture.arrow((492, 304), (544, 304))
    picture.text(518, 290, "sums", text_anchor="middle", fill=QUIET, font_size=12)
    picture.box(550, 268, 146, 72, fill="#ffffff")
    picture.text(623, 292, "the world sees\npatterns, off by\nthousands", text_anchor="middle", font_size=13)
    picture.text(24, 380, "Nobody has to be trusted. Everybody adds noise, so it takes far more people.", fill=QUIET)
    picture.text(
        24, 418, "Unfilled boxes are behind the noise: what stands in them may be given to anyone.", fill=QUIET
    )
    return picture.svg()


def account() -> str:
    """A budget and what releases take of it, until one is refused."""
    picture = Picture(720, 190, "Releases add up, until the budget is spent")
    left_edge, plot_width, total = 40, 640, Fraction(2)
    picture.text(left_edge, 34, "a ledger with a budget of ε = 2", font_weight="bold")
    spent_before = Fraction(0)
    for epsilon, label, colour in (
        (Fraction(1), "top 50 patterns, ε = 1", BLUE),
        (Fraction(1, 2), "pairs, ε = 0.5", ORANGE),
        (Fraction(1, 4), "counts", GREEN),
    ):
        x, width = left_edge + float(plot_width * spent_before / total), float(plot_width * epsilon / total)
        picture.add("rect", x=x, y=52, width=width - 3, height=44, rx=5, fill=colour)
        picture.text(
            x + width / 2 - 1, 79, label, text_anchor="middle", fill="#ffffff", font_weight="bold", font_size=13
        )
        spent_before += epsilon
    x = left_edge + float(plot_width * spent_before / total)
    picture.box(
        x, 52, float(plot_width * (total - spent_before) / total), 44, stroke_dasharray="5 4", fill="#ffffff", rx=5
    )
    picture.text(x + 40, 79, f"{float(total - spent_before)} left", text_anchor="middle", fill=QUIET, font_size=13)
    picture.arrow((x - 30, 132), (x - 4, 132), (x + 20, 100), stroke_dasharray="4 3")
    picture.text(x - 38, 137, "a release of ε = 0.5 is refused: nothing is spent or shown", text_anchor="end")
    picture.text(
        left_edge,
        170,
        "All that was ever released from these data together promises what was spent, at most 2.",
        fill=QUIET,
    )
    return picture.svg()


def choosing() -> str:
    """Which way to go: a flow chart of three questions."""
    picture = Picture(720, 430, "Do you hold the data? Which side, and which command")

    def question(x: float, y: float, words: str) -> None:
        picture.box(x, y, 216, 62, rx=30, stroke=BLUE, fill="#ffffff", stroke_width=2)
        lines = words.count("\n")
        picture.text(x + 108, y + 36 - 9 * lines, words, text_anchor="middle")

    def end(x: float, y: float, command: str, words: str) -> None:
        picture.box(x, y, 204, 84)
        picture.text(x + 102, y + 26, command, text_anchor="middle", font_weight="bold")
        picture.text(x + 102, y + 48, words, text_anchor="middle", fill=QUIET, font_size=13)

    def step(words: str, *points: tuple[float, float]) -> None:
        picture.arrow(*points)
        (x, y), end_x = points[0], points[1][0]
        offset = (8, 18) if x == end_x else ((end_x - x) / 2 - 10, -7)
        picture.text(x + offset[0], y + offset[1], words, fill=QUIET, font_size=13)

    question(252, 24, "Do you hold\npeople's baskets?")
    question(24, 150, "Does anyone but you\nsee the result?")
    question(480, 150, "Do you have data\nof the same kind?")
    step("yes", (252, 55), (132, 55), (132, 146))
    step("no", (468, 55), (588, 55), (588, 146))
    end(24, 310, "discreet mine, rules", "exact; stays with\nthose who see the data")
    end(258, 310, "discreet release", "central privacy:\nlittle noise")
    end(492, 310, "discreet simulate", "local privacy, tried\nbefore anyone is asked")
    step("no", (90, 212), (90, 306))
    step("yes", (200, 212), (200, 262), (330, 262), (330, 306))
    step("yes", (588, 212), (588, 306))
    step("no", (480, 181), (400, 181), (400, 196))
    picture.box(292, 200, 172, 44)
    picture.text(378, 227, "discreet plan", text_anchor="middle", font_weight="bold")
    picture.text(
        360, 416, "discreet plan is worth a look on every way: it reads no data and costs nothing.",
        text_anchor="middle", fill=QUIET,
    )  # fmt: skip
    return picture.svg()


def rooms() -> str:
    """The rooms of the source: the curator's way, the way of a report, and what both share."""
    picture = Picture(720, 590, "The rooms of the source, and the two walks through them")

    def room(x: float, y: float, name: str, words: str, **attributes: object) -> None:
        picture.box(x, y, 228, 52, **attributes)
        picture.text(x + 114, y + 22, name, text_anchor="middle", font_weight="bold", font_size=13)
        picture.text(x + 114, y + 41, words, text_anchor="middle", fill=QUIET, font_size=12)

    def way(x: float, steps: list[tuple[str, str, str]], behind: int) -> None:
        for place, (name, words, goes) in enumerate(steps):
            y = 50 + 80 * place
            room(x, y, name, words, fill="#ffffff" if place >= behind else PALE)
            if goes:
                picture.arrow((x + 114, y + 52), (x + 114, y + 78))
                picture.text(x + 122, y + 70, goes, fill=QUIET, font_size=12)

    picture.text(40, 30, "The curator", font_weight="bold", font_size=16)
    way(
        40,
        [
            ("baskets/", "readers: one basket per person", "Baskets"),
            ("publish/", "a question checked, paid for, run", "Task"),
            ("curator/", "mechanisms/, and steps/ they share", "Query, share of the budget"),
            ("privacy/", "the meter adds noise; ledger/", ""),
            ("exact/", "the engine answers queries", ""),
        ],
        9,
    )
    picture.arrow((134, 342), (134, 368))
    picture.text(126, 360, "Query", text_anchor="end", fill=QUIET, font_size=12)
    picture.arrow((174, 370), (174, 344))
    picture.text(182, 360, "exact answer", fill=QUIET, font_size=12)
    picture.text(420, 30, "Devices and their collector", font_weight="bold", font_size=16)
    way(
        420,
        [
            ("local/device/", "one question, one report", "bytes, randomised"),
            ("local/study/", "collect: reports are read", "reports"),
            ("local/oracles/", "what reports add up to", "Estimate"),
            ("local/protocols/", "which question comes next", "ProtocolResult"),
            ("local/study/", "the outcome and its guarantee", ""),
        ],
        1,
    )
    # What the meter lets out, and the next question of a protocol.
    picture.arrow((268, 316), (326, 316), (326, 456), stroke=ORANGE, stroke_width=2.5)
    picture.text(276, 306, "noisy", fill=BROWN, font_size=12)
    picture.arrow((648, 316), (704, 316), (704, 76), (652, 76))
    picture.text(652, 306, "question", fill=QUIET, font_size=11)
    picture.arrow((420, 396), (394, 396), (394, 456))
    room(246, 460, "results/", "patterns, rules, files", fill="#ffffff")
    picture.arrow((474, 486), (502, 486))
    picture.box(506, 460, 174, 52, fill="#ffffff")
    picture.text(593, 482, "report/", text_anchor="middle", font_weight="bold", font_size=13)
    picture.text(593, 501, "charts, the HTML page", text_anchor="middle", fill=QUIET, font_size=12)
    picture.text(40, 540, "Around both: registry/, planning/, auditing/, cli/. Below both: kernels/.", fill=QUIET)
    picture.text(40, 566, "Unfilled boxes are behind the noise: they see no exact value.", fill=QUIET)
    return picture.svg()


@cache
def _shop() -> Release:
    """Return a release of a made-up shop: its noise is seeded, and it says so."""
    return trial(groceries(20_000, seed=7), seed=4, top=40, epsilon=1, items="public")


def found() -> str:
    """What a release looks like: bars with whiskers."""
    return _shop().plot("bars", rows=8).svg


def together() -> str:
    """What goes together: the graph of items."""
    return _shop().plot("graph").svg


def levels() -> str:
    """What goes together across levels: rings tell categories from products."""
    below = {
        "dairy": ["whole milk", "butter", "cream", "eggs", "plain yoghurt"],
        "bakery": ["white bread", "wholemeal bread", "rolls", "croissants"],
        "hot drinks": ["ground coffee", "black tea", "green tea"],
        "vegetables": ["tomatoes", "onions", "garlic", "potatoes"],
    }
    categories = {item: category for category, items in below.items() for item in items}
    category_baskets = [{item for item in basket if item in categories} for basket in groceries(20_000, seed=7)]
    release = trial(discreet.read(category_baskets), seed=4, top=40, epsilon=1, hierarchy=categories)
    return release.plot("graph").svg


def points() -> str:
    """Rules as points, by support, confidence and lift."""
    return _shop().rules(0.4).sort("confidence_low")[:12].plot("scatter").svg


def bought() -> str:
    """What a budget buys."""
    names = ["auto", "exponential", "bases", "adept", "svsm", "svim"]
    return plan(people=20_000, items=200, epsilon=1, top=10, names=names).plot().svg


def compared() -> str:
    """What each mechanism finds in a made-up shop."""
    import discreet

    names = ["bases", "clipped", "peeling", "privbasis"]
    return discreet.compare(groceries(2_000, seed=7), top=20, epsilon=1, mechanisms=names, seed=7).plot().svg


def report() -> str:
    """A report in short, for the first page: its bars and its graph."""
    from discreet.report import GraphPicture, chart, draw_graph, mount_drawings

    patterns = _shop().patterns
    return mount_drawings(
        [chart(patterns, 6), draw_graph(GraphPicture.of(patterns))],
        heading="What people of a made-up shop buy together",
        notes=["The first 6 of 40 patterns, and what goes together. Seeded noise, epsilon = 1.", SIMULATED],
    ).svg


def bar() -> str:
    """One bar of a report, and what each part of it means."""
    picture = Picture(720, 210, "How to read one bar of a report")
    picture.text(60, 60, "whole milk", font_weight="bold")
    picture.add("rect", x=60, y=74, width=400, height=20, fill=BLUE)
    picture.line((360, 84), (560, 84), stroke_width=2.5)
    for x in (360, 560):
        picture.line((x, 74), (x, 94), stroke_width=2.5)
    picture.text(572, 90, "25.6 %", font_weight="bold")
    picture.line((90, 100), (90, 132), stroke=QUIET)
    picture.text(60, 150, "the bar: the share of people\nwho hold all items of the name", fill=QUIET, font_size=13)
    picture.line((460, 100), (460, 132), stroke=QUIET)
    picture.text(460, 150, "the end of the bar:\nthe number shown", fill=QUIET, font_size=13, text_anchor="middle")
    picture.line((360, 70), (360, 44), (372, 44), stroke=QUIET)
    picture.line((560, 70), (560, 44), (548, 44), stroke=QUIET)
    picture.text(
        460,
        36,
        "the line: the true number\nis in here, 95 times of 100",
        fill=QUIET,
        font_size=13,
        text_anchor="middle",
    )
    picture.text(572, 150, "read the line,\nnot the end\nof the bar", fill=BROWN, font_size=13)
    return picture.svg()


PICTURES: dict[str, Callable[[], str]] = {
    draw_picture.__name__: draw_picture
    for draw_picture in (
        neighbours, laws, bet, sides, account, choosing, rooms, bar, found, together, levels, points, bought,
        compared, report
    )
}  # fmt: skip


def worth(epsilon: str, seeds: int) -> dict[str, tuple[float, float]]:
    """Return by name which share of the top 20 of made-up baskets is found, and how far counts are off."""
    import discreet

    baskets = groceries(20_000, seed=7)
    true_itemsets = {pattern.items for pattern in discreet.mine(baskets, top=20)}

    def median_quality(pattern_lists: list[discreet.Patterns]) -> tuple[float, float]:
        every = [pattern for patterns in pattern_lists for pattern in patterns]
        right = sum(pattern.items in true_itemsets for pattern in every) / (20 * seeds)
        return right, median(((pattern.high or 0) - (pattern.low or 0)) / 2 for pattern in every)

    question = {"top": 20, "epsilon": epsilon}

    def released(mechanism: str, seed: int) -> discreet.Patterns:
        return trial(baskets, seed=seed, items="public", mechanism=mechanism, **question).patterns

    return {
        "auto": median_quality([released("auto", seed) for seed in range(seeds)]),
        "bases": median_quality([released("bases", seed) for seed in range(seeds)]),
        "adept": median_quality(
            [discreet.simulate(baskets, seed=seed, speed="aggregated", **question).patterns for seed in range(seeds)]
        ),
    }


def table() -> str:
    """Return the table of what an epsilon gives, as it stands in choosing.md."""
    rows = [
        "| epsilon | `auto`: right | off by | `bases`: right | off by | `adept`: right | off by |",
        "|--:" * 7 + "|",
    ]
    for epsilon in EPSILONS:
        qualities = worth(epsilon, seeds=10)
        cells = " | ".join(f"{right:.0%} | {error:,.0f}" for right, error in qualities.values())
        rows.append(f"| {epsilon} | {cells} |".replace("%", " %"))
    return "\n".join(rows) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw())
    page = FOLDER.parent / "choosing.md"
    before, begin, after_table = page.read_text().partition("<!-- epsilons: begin -->\n")
    end = after_table[after_table.index("<!-- epsilons: end -->") :]
    page.write_text(f"{before}{begin}\n{table()}\n{end}")


if __name__ == "__main__":
    main()
