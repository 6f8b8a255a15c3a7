"""The pages of the real service, in a real browser: from the list of studies to a report, and to the results."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha384
from html.parser import HTMLParser
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import discreet
from clients import browser, node
from collector.serving import Served, attack, plan_of, served
from discreet import Patterns, Rules, Vocabulary
from discreet.collector.pages import _markup as markup
from discreet.collector.pages._routes import HEADERS, STATIC
from discreet.local.device import Participant
from discreet.results import Provenance, StatedGuarantee

PATHS = ("/", "/studies/study", "/studies/study/take-part", "/studies/study/operate")
TITLE = "Tea & <b>toast</b>"


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("service")) as server:
        yield server


@pytest.fixture(scope="module")
def operator(service) -> str:
    """A token, and a study open to all people: two rounds, closed by hand."""
    token = service.operator()
    items = ("tea", "milk", "toast", "jam", "<i>eggs</i>", "ham")
    for changes in ({"title": TITLE, "who": "anyone"}, {"name": "shut", "title": "For some", "who": "tokens"}):
        plan = plan_of(**{"items": items, "people": 40, "close": "quota", **changes})
        status, answer = service.ask("/v1/studies", json.loads(plan.to_json()), token=token)
        assert status == 200, answer
    return token


class _PageParser(HTMLParser):
    """All elements of a page, and the elements with a script or a style of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.inline: list[str] = []
        self.places: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        if (
            "style" in attributes
            or any(name.startswith("on") for name in attributes)
            or (tag == "script" and "src" not in attributes)
        ):
            self.inline.append(tag)
        self.places += [str(attributes[name]) for name in ("src", "href") if name in attributes]


@pytest.mark.parametrize("path", PATHS)
def test_pages_let_nothing_in(service, operator, path):
    with urlopen(service.address + path) as answer:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        text = answer.read().decode()
    page = _PageParser()
    page.feed(text)
    assert page.inline == []
    assert all(place.startswith(("/", "#")) for place in page.places)
    assert {"b", "i"} & set(page.tags) == set()  # names are text
    assert (page.tags.count("h1"), page.tags.count("main")) == (1, 1)


@pytest.mark.parametrize(
    ("path", "status", "expected_text"),
    [
        ("/studies/other", 404, "There is no study of this name."),
        ("/studies/NOPE", 404, "There is no study of this name."),
        ("/studies/NOPE/take-part", 404, "There is no study of this name."),
        ("/studies/%00/operate", 404, "There is no study of this name."),
        ("/studies/study/results.csv", 404, "The study has no result yet."),
        ("/no/such/place", 404, "There is nothing at this place."),
        ("/static/none.js", 404, "There is nothing at this place."),
    ],
)
def test_a_browser_is_refused_with_a_page_and_a_program_with_a_document(service, operator, path, status, expected_text):
    """A name with capital letters brought a browser a problem document, with status 400."""
    request = Request(service.address + path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    with pytest.raises(HTTPError) as refused, urlopen(request):
        pass
    with refused.value as answer:
        text = answer.read().decode()
        assert (answer.code, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert f"<p>{expected_text}</p>" in text
    code, problem = service.ask(path)
    assert (code, problem["title"] + ".") == (status, expected_text)


def test_what_is_not_there(service, operator):
    for path in ("/static/..%2Fservice.py", "/static/%2e%2e/service.py", "/studies/study/results.exe"):
        assert service.ask(path)[0] in (400, 404), path


@pytest.mark.parametrize("path", ["/studies/study", "/studies/study/take-part", "/studies/study/operate"])
def test_a_page_names_the_very_script_that_is_served(service, operator, path):
    with urlopen(service.address + path) as answer:
        text = answer.read().decode()
    for script, digest in re.findall(r'src="(/static/[a-z-]+\.js)"([^>]*)>', text):
        with urlopen(service.address + script) as answer:
            served_script = answer.read()
        assert digest == f' integrity="sha384-{b64encode(sha384(served_script).digest()).decode()}"'
    assert 'src="/static/' in text or "make clients" in text


def test_a_page_without_its_script_says_so(monkeypatch, tmp_path):
    plan = plan_of(who="anyone")
    assert "make clients" in markup.render_taking_part(plan, has_script=False)
    assert "make clients" not in markup.render_operating(plan)
    assert "make clients" not in markup.render_taking_part(plan, has_script=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    node.require_client()
    with browser.opened() as opened_browser:
        yield opened_browser


def visitor(chromium: Any, scheme: str, width: int) -> tuple[Any, list[str]]:
    page = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return page, wrong


# Captions beyond the screen, heads beyond their column, words of tables that are broken but at a hyphen: their texts.
FIND_CUT_TEXTS = """() => {
  const cut = [...document.querySelectorAll("caption, figcaption")]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.textContent);
  cut.push(...[...document.querySelectorAll("thead th")].filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.textContent));
  for (const cell of document.querySelectorAll(".words td, .words th, .rows td, .rows th, .take-part-table td")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const word of node.data.matchAll(/[^\\s-]+-?/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (range.getClientRects().length > 1) cut.push(word[0]);
      }
    }
  }
  return cut;
}"""


def test_from_the_list_to_what_was_found(service, operator, chromium, tmp_path):
    """Takes ten seconds: a browser and twenty devices go through all rounds of a study."""
    assert (STATIC / "watch.js").is_file()
    page, wrong = visitor(chromium, "dark", 390)
    watching, wrong_there = visitor(chromium, "light", 1100)
    page.goto(service.address)
    browser.save_screenshot(page, "studies")
    page.get_by_role("link", name=TITLE).click()
    assert "epsilon = 4" in page.get_by_role("region", name="Privacy guarantee").inner_text()
    browser.save_screenshot(page, "study-open")
    watching.goto(service.address + "/studies/study")
    page.get_by_role("link", name="Take part").click()
    page.get_by_label("tea").check()
    page.get_by_label("The most epsilon I give away").fill("4")
    browser.save_screenshot(page, "take-part-form")
    page.get_by_role("button", name="Make my report and send it").click()
    page.get_by_text("Thank you: your report was counted.").or_(
        page.get_by_text("Nothing was sent: the round")
    ).wait_for()
    counted_people = page.get_by_text("Thank you").count()
    people = [
        (Participant(service.address, "study", folder=tmp_path / str(number), max_epsilon=4, pause=0), [number % 3])
        for number in range(20)
    ]
    while people:
        outcomes = [device.take_part(basket) for device, basket in people]
        counted_people += outcomes.count("counted")
        people = [person for person, outcome in zip(people, outcomes, strict=True) if outcome == "waiting"]
        service.ask("/v1/studies/study/close", {}, token=operator)
    # The page that was open all the while shows the end by itself.
    watching.get_by_role("heading", name="Result").wait_for()
    assert f"{counted_people} people have answered." in watching.locator("#live").inner_text()
    assert watching.locator("figure svg[role=img]").count() >= 1
    browser.save_screenshot(watching, "study-released")
    for form in ("csv", "json", "parquet"):
        with watching.expect_download() as waiting:
            watching.locator(f'a[href$="results.{form}"]').click()
        assert waiting.value.suggested_filename == f"study.{form}"
    _, report = service.ask("/studies/study/report.html")
    assert b"Tea &amp; &lt;b&gt;toast&lt;/b&gt;</h1>" in report
    assert b"SIMULATED" not in report
    page.goto(service.address + "/studies/study")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # a phone shows all of it
    for width in (340, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(FIND_CUT_TEXTS) == []
    browser.save_screenshot(page, "study-released-phone")
    page.goto(service.address + "/studies/study/operate")
    page.get_by_label("Operator's token").fill(operator)
    page.keyboard.press("Enter")
    page.get_by_text("scrubbed").first.wait_for()
    assert page.evaluate(FIND_CUT_TEXTS) == []
    browser.save_screenshot(page, "operate-phone")
    assert wrong == wrong_there == []


def patterns_with_noise() -> Patterns:
    """Return three patterns, of which two may be noise."""
    names = ["Mediterranean-vegetables", "wholegrain-sourdough bread", "tea"]
    return Patterns(
        offsets=np.arange(4),
        codes=np.arange(3, dtype=np.int32),
        counts=np.array([29_000, 1_400, 300]),
        vocabulary=Vocabulary(names),
        people=300_000,
        low=np.array([25_000.0, 0.0, 0.0]),
        high=np.array([33_000.0, 5_400.0, 4_300.0]),
        provenance=Provenance(guarantee=StatedGuarantee(model="local", neighbours="replace", epsilon=Fraction(1))),
    )


def relations_with_intervals() -> Rules:
    """Return relations with more columns than a phone has room for."""
    baskets = [{"Mediterranean-vegetables", "milk"}] * 600 + [{"wholegrain-sourdough bread", "milk"}] * 200 + [{"tea"}]
    rules = discreet.mine(baskets, min_count=1).rules(0)
    confidences = rules.measure("confidence")
    return replace(rules, low=confidences / 2, high=np.minimum(1, confidences + 0.1))


def page_of_result(service: Served, result: Patterns | Rules) -> str:
    """Return the page of a study that is over, with its style sheets inside."""
    text = markup.render_study(plan_of(), "00" * 32, {"state": "released", "people": 300_000, "rounds": []}, result)
    sheets = [service.ask(place)[1].decode() for place in re.findall(r'<link rel="stylesheet" href="([^"]+)">', text)]
    return re.sub("<link[^>]*>|<script.*?</script>", "", text).replace(
        "</head>", f"<style>{''.join(sheets)}</style></head>"
    )


@pytest.mark.parametrize("width", [340, 390, 660, 1280])
def test_a_table_of_results_looks_as_in_a_report(service, operator, chromium, width):
    """The line of noise had no style on these pages, and words were broken to make room for numbers."""
    page, wrong = visitor(chromium, "light", width)
    page.set_content(page_of_result(service, patterns_with_noise()))
    browser.save_screenshot(page, f"study-noise-{width}")
    marked = page.locator("tr.noise")
    assert marked.count() == 1
    styles = marked.evaluate("row => [row, row.cells[0]].map(one => getComputedStyle(one).borderTopStyle)")
    assert "dashed" in styles
    for result in (patterns_with_noise(), relations_with_intervals()):
        page.set_content(page_of_result(service, result))
        assert page.evaluate(FIND_CUT_TEXTS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []


@pytest.mark.parametrize("path", ["/", "/studies/long", "/studies/long/take-part", "/studies/long/operate"])
def test_a_long_title_fits_on_a_phone(service, operator, chromium, path):
    plan = plan_of(name="long", title="W" * 69, asks="Q" * 69, who="anyone")
    service.ask("/v1/studies", json.loads(plan.to_json()), token=operator)
    page, wrong = visitor(chromium, "light", 390)
    page.goto(service.address + path)
    if path.endswith("take-part"):
        page.get_by_role("button").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert wrong == []


def test_a_token_of_nobody_has_not_joined_anything(service, operator, chromium):
    page, _ = visitor(chromium, "light", 390)
    page.goto(f"{service.address}/studies/shut/take-part#token={'0' * 32}")
    page.get_by_label("The most epsilon I give away").fill("abc")
    page.get_by_role("button").click()
    page.get_by_text("The most epsilon you give away is a number over 0").wait_for()
    assert "maxEpsilon" not in page.inner_text("body")
    page.get_by_label("The most epsilon I give away").fill("4")
    page.get_by_role("button").click()
    # The device's own number decides whether it is asked in the round that is open.
    unsent = page.get_by_text("one that is wrong is refused then.")
    unsent.or_(page.get_by_text("The service does not know the token: give the right one")).wait_for()
    assert "joined" not in page.inner_text("body")
    page.goto("about:blank")
    page.goto(f"{service.address}/studies/shut/take-part#token=hello")
    page.get_by_role("button").wait_for()
    if page.get_by_text("Your report was made").count() == 0:
        assert page.get_by_text("The link to this page has no valid token").count() == 1
        assert page.get_by_label("My token").count() == 1


def test_a_study_that_is_over_asks_nobody_to_take_part(service, operator, chromium):
    while service.ask("/v1/studies/study/close", {}, token=operator)[1].get("closed"):
        pass
    page, wrong = visitor(chromium, "light", 390)
    page.goto(service.address + "/studies/study/take-part")
    page.get_by_text("Nothing was sent from this browser.").wait_for()
    assert page.locator("form").count() == 0
    page.get_by_role("link", name="Its result is on its page.").click()
    page.get_by_role("heading", name="Result").wait_for()
    page.goto(service.address)
    assert "Over: there is a result." in page.inner_text("main")
    assert wrong == []


def test_operators_see_why_reports_were_refused(service, operator, chromium):
    body = {"round": 0, "token": "00" * 16, "key": "00" * 16, "report": {"value": 99}}
    service.ask("/v1/studies/shut/reports", body)
    page, _ = visitor(chromium, "light", 800)
    page.goto(service.address + "/studies/shut/operate")
    page.get_by_label("Operator's token").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_text("The service says:").wait_for()
    page.get_by_label("Operator's token").fill(operator)
    page.keyboard.press("Enter")
    page.get_by_text("Reports refused, by reason").wait_for()
    assert page.get_by_role("rowheader", name="report-impossible").count() == 1
    browser.save_screenshot(page, "operate")
    page.get_by_label("Operator's token").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_text("The service says:").wait_for()
    assert page.get_by_role("table").count() == 0  # what the right token showed is gone
    assert "Tokens:" not in page.inner_text("main")


def test_operators_see_alarms_and_how_many_reports_are_left_out(service, operator, chromium):
    """One in eleven lied in the first round of a study, in which reports were refused too. Takes five seconds."""
    liars = attack(service)
    body = {"round": 1, "token": "00" * 16, "key": "00" * 16, "report": {"value": 99}}
    assert service.ask("/v1/studies/attacked/reports", body)[1]["reason"] == "report-impossible"
    status = service.ask("/v1/studies/attacked/status", token=operator)[1]
    page, wrong = visitor(chromium, "dark", 390)
    page.goto(service.address + "/studies/attacked/operate")
    page.get_by_label("Operator's token").fill(operator)
    page.keyboard.press("Enter")
    alarms = page.get_by_role("alert").get_by_role("listitem")
    alarms.first.wait_for()
    alarm_texts = alarms.all_inner_texts()
    assert alarm_texts == [f"Round 1: {alarm}" for alarm in status["alarms"][0]["alarms"]]
    assert any("named together more often than honest reports do" in alarm_text for alarm_text in alarm_texts)
    left_out = status["alarms"][0]["left_out"]
    assert left_out > 0.8 * liars
    row = page.get_by_role("table", name="Rounds").get_by_role("row").nth(1)
    assert row.get_by_role("cell").all_inner_texts()[-2:] == ["4,400", f"{left_out:,}"]
    refused = page.get_by_role("table", name="Reports refused, by reason").get_by_role("row").nth(1)
    assert refused.inner_text().split() == ["report-impossible", "1"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    browser.save_screenshot(page, "operate-alarms")
    # Whoever has no token for it sees none of this, and the study's own page says nothing of it.
    page.goto(service.address + "/studies/attacked")
    assert "left out" not in page.content()
    assert wrong == []


def test_what_liars_could_have_done_is_a_link_away(service, operator, chromium):
    """After the study was gone through above: the same counts, and wider intervals."""
    if service.ask("/v1/studies/study/rounds")[1]["state"] != "released":
        while service.ask("/v1/studies/study/close", {}, token=operator)[1]["closed"]:
            pass
    page, wrong = visitor(chromium, "light", 390)
    page.goto(service.address + "/studies/study")
    page.get_by_role("link", name="1% of the reports", exact=True).click()
    page.get_by_role("paragraph").filter(has_text="whatever is in up to 1% of the reports of each round").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    assert waiting.value.suggested_filename == "study.csv"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    browser.save_screenshot(page, "study-liars")
    page.get_by_role("link", name="none", exact=True).click()
    page.get_by_role("link", name="5% of the reports", exact=True).wait_for()
    assert wrong == []


def test_relations_are_a_matrix():

    rules = discreet.mine([{"tea", "milk"}] * 6 + [{"tea"}] * 2, min_count=1).rules(0)
    progress = {"state": "released", "people": 8, "rounds": []}
    text = markup.render_study(plan_of(), "00" * 32, progress, rules)
    assert "Confidence of rules" in text
    assert "milk\u2069 → \u2068tea" in text
    for nothing in (rules[:0], discreet.mine([{"tea"}], min_count=1)[:0]):
        assert "stands out from the noise" in markup.render_study(plan_of(), "00" * 32, progress, nothing)
