"""A report in a real browser: by day, by night, on a telephone and without its script. Takes about eight seconds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

import discreet
from clients import browser
from discreet.baskets import Hierarchy
from discreet.report import contents_of, page
from naive.rules import make_patterns
from report.contents import bounded, tell

WIDE_NAMES = [
    "WWWWWWWWWWWWWWWW MMMMMM",
    "@@@@@@@@@@@@@@@@@@",
    "漢字漢字漢字漢字漢字漢字",
    "mmmmmmmmmmmmmmmmm",
    "Illili",
    "Ünïted &c.",
]
ITEMS = [*WIDE_NAMES, *(f"item number {place}" for place in range(18))]


def count_sets() -> dict[frozenset[str], int]:
    """Return patterns with long names and many pairs: the hardest a graph has to place."""
    counts = {frozenset({item}): 3_000 - 10 * place for place, item in enumerate(ITEMS)}
    pairs = list(combinations(ITEMS, 2))
    counts |= {frozenset(pair): 900 - place for place, pair in enumerate(pairs[:: len(pairs) // 40])}
    return counts | {frozenset(ITEMS[:3]): 200, frozenset(ITEMS[3:6]): 150}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.opened() as opened_browser:
        yield opened_browser


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page(tell(patterns=bounded(count_sets(), 5_000, 40))))
    return file.as_uri()


def looked_at(chromium, place, *, scheme="light", width=1100, script=True):
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script, has_touch=True
    )
    opened_page = context.new_page()
    wrong: list[str] = []
    opened_page.on("console", lambda message: wrong.append(message.text))
    opened_page.on("pageerror", lambda error: wrong.append(str(error)))
    opened_page.goto(place)
    return opened_page, wrong


OVERLAPPING = """() => {
  const shown = [...document.querySelectorAll("svg")].filter(svg => svg.clientWidth);
  const drawn = shown.find(svg => svg.querySelector("circle[data-n]"));
  const parts = [...drawn.querySelectorAll("text[data-n], circle[data-n]")];
  const boxes = parts.map(part => part.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const touching = [];
  parts.forEach((one, at) => parts.slice(0, at).forEach((other, before) => {
    if (one.dataset.n !== other.dataset.n && meet(boxes[at], boxes[before]))
      touching.push([one.textContent, other.textContent]);
  }));
  const all = drawn.getBoundingClientRect();
  const inside = box => box.left >= all.left - 1 && box.right <= all.right + 1 && box.bottom <= all.bottom + 1;
  return [parts.length, touching, parts.filter((part, at) => !inside(boxes[at])).map(part => part.textContent)];
}"""


@pytest.mark.parametrize("width", [390, 1100])
def test_labels_of_the_graph_never_collide_and_fit(chromium, place, width):
    page, wrong = looked_at(chromium, place, width=width)
    number, touching, outside = page.evaluate(OVERLAPPING)
    assert number > 40
    assert touching == []
    assert outside == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    browser.save_screenshot(page, f"report-{width}")
    assert wrong == []


def test_the_night_is_dark_and_pictures_with_it(chromium, place):
    page, wrong = looked_at(chromium, place, scheme="dark")
    colours = page.evaluate(
        """() => ["body", "figure svg text", "figure rect"].map(where => {
             const style = getComputedStyle(document.querySelector(where));
             return [style.color, style.fill, style.backgroundColor];
           })"""
    )
    assert colours[0][0] == "rgb(236, 236, 236)"
    assert colours[0][2] == "rgb(20, 23, 26)"
    assert colours[1][1] == "rgb(179, 185, 191)"
    assert colours[2][1] == "rgb(74, 141, 181)"
    browser.save_screenshot(page, "report-dark")
    page.emulate_media(media="print")  # paper stays white
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert wrong == []


def test_tables_are_sorted_and_filtered(chromium, place):
    page, wrong = looked_at(chromium, place)
    section = page.locator("section", has=page.locator("#all"))
    rows = section.locator("tbody tr")
    before = rows.locator("th").all_inner_texts()
    button = section.get_by_role("button", name="Count")
    button.click()
    assert section.locator("th[aria-sort=descending]").inner_text().startswith("Count")
    button.click()
    assert rows.locator("th").all_inner_texts() != before
    counts = [
        float(value) for value in rows.locator("td:nth-child(2)").evaluate_all("all => all.map(c => c.dataset.v)")
    ]
    assert counts == sorted(counts)
    button.click()
    assert rows.locator("th").all_inner_texts() == before
    section.get_by_role("button", name="Items").click()
    assert rows.first.inner_text().startswith("@")
    section.get_by_role("searchbox").fill("NUMBER 17")
    row_names = section.locator("tbody tr:not([hidden]) th").all_inner_texts()
    assert row_names
    assert all("number 17" in text for text in row_names)
    assert section.get_by_role("status").inner_text().strip() == f"{len(row_names)} of {len(before)} rows"
    section.get_by_role("searchbox").fill("")
    assert section.get_by_role("status").inner_text() == ""
    assert wrong == []


def test_the_pointer_is_told_what_it_is_on(chromium, place):
    page, wrong = looked_at(chromium, place)
    circle = page.locator("circle[data-n='0']").first
    circle.scroll_into_view_if_needed()
    page.wait_for_timeout(200)  # what scrolls away takes its words along
    circle.hover()
    tip = page.locator(".tip")
    assert tip.is_visible()
    assert "(" in tip.inner_text()
    assert page.locator("svg.dim .lit").count() > 2
    assert page.locator("svg title").count() == 0  # the browser's own would come on top
    page.locator("h1").hover()
    assert not tip.is_visible()
    assert wrong == []


def test_without_its_script_nothing_is_missing(chromium, place):
    page, _ = looked_at(chromium, place, script=False)
    assert page.locator("button, input").count() == 0
    section = page.locator("section", has=page.locator("#all"))
    assert section.locator("tbody tr").count() == len(count_sets())
    assert section.locator("thead").inner_text().split() == ["Items", "Count", "from", "to", "Support", "from", "to"]
    assert page.locator("svg title").count() > 30


@pytest.mark.parametrize("width", [390, 1100])
def test_an_exact_page_and_one_of_rules_fit_too(chromium, tmp_path, width):
    patterns = make_patterns(count_sets(), 5_000)
    for name, result in (("exact", patterns), ("rules", patterns.rules(0, consequents="one"))):
        (tmp_path / f"{name}.html").write_text(page(contents_of(result)))
        opened, wrong = looked_at(chromium, (tmp_path / f"{name}.html").as_uri(), width=width)
        assert opened.locator(".standing").inner_text() == "EXACT: not private"
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        if name == "rules":  # the matrix is moved sideways by itself: its letters can be read on a telephone too
            scale = opened.locator(".scrolls svg").evaluate("svg => svg.clientWidth / svg.viewBox.baseVal.width")
            assert scale > 0.8
        browser.save_screenshot(opened, f"report-{name}-{width}")
        assert wrong == []


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> str:
    import discreet
    from discreet.baskets import groceries

    file = tmp_path_factory.mktemp("compared") / "compared.html"
    discreet.compare(groceries(1_000, seed=7), top=10, epsilon=["0.1", "1"], runs=3, seed=7).save(file)
    return file.as_uri()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1100, "light"), (1100, "dark")])
def test_a_comparison_fits_and_says_first_that_it_is_not_private(chromium, compared, width, scheme):
    page, wrong = looked_at(chromium, compared, width=width, scheme=scheme)
    assert page.locator("body > *").first.inner_text() == "NOT PRIVATE: for the curator's eyes"
    assert page.locator("main h2").first.inner_text().startswith("Recommendation")
    assert page.locator(".findings li").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    section = page.locator("section", has=page.locator("#numbers"))
    assert section.locator("tbody tr").count() == 2 * 8
    # The heading of a table covers none of its rows.
    tops = section.locator("table").first.evaluate(
        "one => [one.tHead.getBoundingClientRect().bottom, one.tBodies[0].rows[0].getBoundingClientRect().top]"
    )
    assert tops[0] <= tops[1] + 1
    section.get_by_role("button", name="Off by").first.click()
    errors = section.locator("table").first.locator("tbody td:nth-child(3)")
    values = [float(value) for value in errors.evaluate_all("all => all.map(cell => cell.dataset.v)")]
    assert values == sorted(values, reverse=True)
    browser.save_screenshot(page, f"compared-{scheme}-{width}")
    assert wrong == []


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> str:
    """Return a report across levels: products below categories below departments, with long names."""
    kinds = {name: [f"{name} of kind {letter}" for letter in "ABC"] for name in ("dairy", "bakery", "W" * 24, "tea")}
    above = {"dairy": "food", "bakery": "food", "W" * 24: "food", "tea": "drinks"}
    rows = [(item, category, above[category]) for category, items in kinds.items() for item in items]
    items = [row[0] for row in rows]
    baskets = [{items[place % 12], items[(5 * place + 3) % 12], items[(7 * place) % 11]} for place in range(400)]
    hierarchy = Hierarchy.from_rows(["product", "category", "department"], rows)
    file = tmp_path_factory.mktemp("levels") / "report.html"
    file.write_text(discreet.mine(baskets, min_count=40, hierarchy=hierarchy).report())
    return file.as_uri()


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("script", [True, False])
def test_a_report_across_levels_folds_without_a_script(chromium, shop, width, script):
    page, wrong = looked_at(chromium, shop, width=width, script=script)
    pattern_section = page.locator("section", has=page.locator("#all"))
    heads = [text.split("\n")[0] for text in pattern_section.locator("summary").all_inner_texts()]
    assert [head.split(" ")[0] for head in heads] == ["Department", "Category", "Product", "Across"]
    table = pattern_section.locator("details table").first
    assert table.is_visible()
    pattern_section.locator("summary").first.click()
    assert not table.is_visible()
    graphs = page.locator("section", has=page.locator("#together"))
    graph_fold = graphs.locator("details").nth(1)
    assert not graph_fold.locator("figure").is_visible()
    graph_fold.locator("summary").click()
    assert graph_fold.locator("figure").is_visible()
    assert "dairy" in graph_fold.locator("svg:visible").inner_html()
    assert "of kind" not in graph_fold.locator("svg:visible").inner_html()
    if script:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        number, touching, outside = page.evaluate(OVERLAPPING)
        assert number > 20
        assert touching == []
        assert outside == []
    browser.save_screenshot(page, f"report-levels-{width}")
    assert wrong == []


def test_rules_are_filtered_by_level(chromium, shop):
    page, wrong = looked_at(chromium, shop, scheme="dark")
    rules = page.locator("section", has=page.locator("#rules"))
    rows = rules.locator("tbody tr")
    levels = rows.evaluate_all("all => all.map(row => row.dataset.level)")
    assert len(set(levels)) > 1
    level = levels[0]
    rules.get_by_label("Level").select_option(level)
    assert rules.locator("tbody tr:not([hidden])").count() == levels.count(level)
    assert rules.get_by_role("status").inner_text().strip() == f"{levels.count(level)} of {len(levels)} rows"
    rules.get_by_label("Level").select_option("All")
    assert rules.locator("tbody tr:not([hidden])").count() == len(levels)
    assert wrong == []


NAMES = ["whole milk", "other vegetables", "fruit/vegetable juice", "a,b", "a,c", "long life bakery product", "حليب"]


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> str:
    """Return the page of changes of sets that begin alike, whose supports lie close to each other."""
    sets = [frozenset(members) for size in (1, 2, 3) for members in combinations(NAMES, size)]
    before, after = (
        bounded({items: 900 - 3 * place + step * (place % 7) for place, items in enumerate(sets)}, 5_000, 2)
        for step in (0, 9)
    )
    file = tmp_path_factory.mktemp("changed") / "changed.html"
    names = ("the first quarter of the year", "أبريل 2027")
    file.write_text(discreet.diff(before, after, names=names).report())
    return file.as_uri()


LABELS = """() => {
  const drawn = [...document.querySelectorAll("figure svg")].find(svg => svg.clientWidth);
  const texts = [...drawn.querySelectorAll("text")], boxes = texts.map(text => text.getBoundingClientRect());
  const all = drawn.getBoundingClientRect(), touching = [];
  texts.forEach((one, at) => texts.slice(0, at).forEach((other, before) => {
    const a = boxes[at], b = boxes[before];
    // Letters of two rows below each other may share an edge.
    if (a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
      touching.push([one.textContent, other.textContent]);
  }));
  const inside = box => box.left >= all.left - 1 && box.right <= all.right + 1 && box.bottom <= all.bottom + 1;
  const labels = [...drawn.querySelectorAll("g")].map(
    line => [...line.querySelectorAll("text")].slice(2).map(text => text.textContent).join(" "));
  return [labels, touching, texts.filter((text, at) => !inside(boxes[at])).map(text => text.textContent)];
}"""

BROKEN = """() => {
  const broken = [];
  for (const name of document.querySelectorAll("tbody th bdi, thead th button")) {
    let at = 0;
    for (const word of name.textContent.split(" ")) {
      const part = document.createRange();
      part.setStart(name.firstChild, at);
      part.setEnd(name.firstChild, at + word.length);
      if (new Set([...part.getClientRects()].map(box => box.top)).size > 1) broken.push(word);
      at += word.length + 1;
    }
  }
  return broken;
}"""


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "light"), (1280, "dark")])
def test_slopes_are_told_apart_and_words_of_their_table_are_whole(chromium, changed, width, scheme):
    page, wrong = looked_at(chromium, changed, width=width, scheme=scheme)
    labels, touching, outside = page.evaluate(LABELS)
    assert len(labels) == len(set(labels)) == 12
    assert not any("+ " in label for label in labels)
    assert (touching, outside) == ([], [])
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    browser.save_screenshot(page, f"changed-{width}-{scheme}")
    assert wrong == []


ASTRAY = """() => {
  const table = document.querySelector("table.many");
  const wrong = [...table.tHead.rows[0].cells].slice(1).flatMap((head, at) => {
    const cell = table.tBodies[0].rows[0].cells[at + 1].getBoundingClientRect(), over = head.getBoundingClientRect();
    return Math.abs(over.right - cell.right) > 1 || head.scrollWidth > head.clientWidth ? [head.textContent] : [];
  });
  return [wrong, table.tBodies[0].rows[0].cells[0].getBoundingClientRect().width];
}"""


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("private", [False, True])
def test_heads_stand_over_their_numbers_and_rules_have_room(chromium, tmp_path, width, private):
    above = {"tea": "drinks", "gin": "drinks", "ham": "food"}
    hierarchy = Hierarchy.from_rows(["product", "department"], [*above.items()])
    baskets = [{"tea"} | ({"gin"} if number % 2 else {"ham"}) for number in range(4_000)]
    if private:
        rules = discreet.release(discreet.read(baskets), top=12, epsilon=20, items="public", hierarchy=hierarchy).rules(
            0
        )
    else:
        rules = discreet.mine(baskets, min_count=40, hierarchy=hierarchy).rules(0)
    (tmp_path / "rules.html").write_text(rules.report())
    page, wrong = looked_at(chromium, (tmp_path / "rules.html").as_uri(), width=width)
    astray, room = page.evaluate(ASTRAY)
    assert astray == []
    assert room > 150
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows = page.locator("table.many tbody tr")
    if rows.count() > 8:  # a row that the filter hides stays hidden
        page.locator("select").select_option("Product")
        assert any(not rows.nth(place).is_visible() for place in range(rows.count()))
    browser.save_screenshot(page, f"rules-of-levels-{private}-{width}")
    assert wrong == []


def test_a_picture_fits_a_telephone(chromium, tmp_path):
    make_patterns(count_sets(), 5_000).plot().save(tmp_path / "picture.html")
    page, wrong = looked_at(chromium, (tmp_path / "picture.html").as_uri(), width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert wrong == []


def test_p_values_are_sorted_by_the_smallest_first(chromium, tmp_path):
    baskets = [{"tea"} | ({"gin", "lime"} if number % 3 else {"ham"}) for number in range(400)] + [{"ham"}] * 9
    (tmp_path / "rules.html").write_text(discreet.mine(baskets, min_count=3).rules(0).report())
    page, _ = looked_at(chromium, (tmp_path / "rules.html").as_uri())
    table = page.locator("table.sorts").first
    heads = table.locator("thead th").all_inner_texts()
    table.get_by_role("button", name="Adjusted p").click()
    values = table.locator(f"tbody tr > *:nth-child({[head.startswith('Adj') for head in heads].index(True) + 1})")
    cell_values = [float(value) for value in values.evaluate_all("cells => cells.map(cell => cell.dataset.v)")]
    assert cell_values == sorted(cell_values)
    assert cell_values[0] < cell_values[-1]
