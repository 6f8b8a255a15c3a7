"""The colours of pictures and pages, by day and by night: the table of colours of this room.

A picture has its colours by day as attributes, so that it is complete without a style sheet. By night a style sheet
replaces each colour by its partner: the page around a picture adds the rules of `night`, and nothing is drawn twice.
"""

from __future__ import annotations

INK, QUIET, RULE, PALE, FULL, PAPER = "#1a1a1a", "#555555", "#dddddd", "#e9eff4", "#7db0cf", "#ffffff"
LINK, WARM, WARM_EDGE, ALARM, ALARM_PAPER = "#174a68", "#e8a33d", "#b87a1d", "#a03030", "#fff3d6"
# The colours of lifts: below 1, about 1, and two steps of larger lifts.
LIFTS = ("#9a9a9a", "#9cbdd2", "#3d7ea6", "#123f5a")

NIGHT = {
    INK: "#ececec",
    QUIET: "#b3b9bf",
    RULE: "#3b4249",
    PALE: "#26323c",
    FULL: "#4a8db5",
    PAPER: "#14171a",
    LINK: "#8fc7ea",
    WARM: "#d99a3a",
    WARM_EDGE: "#e3b268",
    ALARM: "#ff9d8f",
    ALARM_PAPER: "#3a2f16",
    LIFTS[0]: "#7d848b",
    LIFTS[1]: "#3f627a",
    LIFTS[2]: "#5fa4cf",
    LIFTS[3]: "#b9e2fb",
}
# The colours that style sheets use as variables, by the name of the variable.
_VARIABLES = {
    "ink": INK,
    "quiet": QUIET,
    "rule": RULE,
    "pale": PALE,
    "full": FULL,
    "paper": PAPER,
    "link": LINK,
    "alarm": ALARM,
    "alarm-paper": ALARM_PAPER,
}
# Paper is always white, so the colours by night are for screens alone.
DARK = "@media screen and (prefers-color-scheme: dark)"


def variables() -> str:
    """Return the colours of a page as variables of its style sheet, by day and by night."""
    day, dark = (
        " ".join(f"--{name}: {value if by_day else NIGHT[value]};" for name, value in _VARIABLES.items())
        for by_day in (True, False)
    )
    return f":root {{ color-scheme: light dark; {day} }}\n{DARK} {{ :root {{ {dark} }} }}\n"


def night() -> str:
    """Return the style rules that give pictures their colours by night.

    Examples
    --------
    >>> '[fill="#1a1a1a"] { fill: #ececec }' in night()
    True
    """
    rules = "\n".join(
        f'  [{attribute}="{day}"] {{ {attribute}: {dark} }}'
        for day, dark in NIGHT.items()
        for attribute in ("fill", "stroke")
    )
    return f"{DARK} {{\n{rules}\n}}\n"
