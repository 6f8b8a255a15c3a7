"""Taking part on a page, in a real browser: what is sent is what is shown, once, under a strict security policy."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from clients import browser, node
from discreet.baskets import Hierarchy
from discreet.collector import question_document, study_document, study_id
from discreet.local.oracle_steps import make
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from vectors.make_studies import PLAN, SIGNER

STATIC = node.FOLDER.parents[1] / "src" / "discreet" / "collector" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
TOKEN = "ab" * 16
ITEMS = ("bread", "butter", "käse", "<b>tea</b>", "milk", *(f"thing {number}" for number in range(40)))


class Service:
    """Answers of a service, from a table, and the reports that it received."""

    def __init__(self, oracle: str, audience: str, hierarchy: Hierarchy | None = None) -> None:
        plan = replace(PLAN, items=ITEMS, who=audience, hierarchy=hierarchy)
        study, item_count = study_document(plan, SIGNER), len(plan.asked_items)
        ask = Ask.of(
            "which", PeopleGroup(0, 1 << 32), CandidateQuestion(CandidateList(item_count)), oracle, Fraction(1)
        )
        question = question_document(ask, study_id(study.text), 0, None, SIGNER)
        self.oracle, self.reports = make(oracle, Fraction(1), item_count), []
        self.refusals: list[tuple[int, str]] = []  # answers to the first reports
        self.answers: dict[str, Any] = {
            "/v1/studies/breakfast": {"study": study.text, "signature": study.signature, "key": SIGNER.key},
            "/v1/studies/breakfast/questions": {
                "state": "open",
                "questions": [{"question": question.text, "signature": question.signature}],
            },
            "/v1/studies/breakfast/enrol": {"token": TOKEN},
        }
        self.page = (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Take part</title>'
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
            '<link rel="stylesheet" href="/static/take-part.css">'
            "<main><h1>Breakfast</h1>"
            f'<section id="take-part" data-study="breakfast" data-who="{audience}"></section></main>'
            '<script type="module" src="/static/take-part.js"></script></html>'
        )


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    node.require_client()
    with browser.opened() as opened_browser:
        yield opened_browser


@pytest.fixture
def serving(request) -> Iterator[tuple[Service, str]]:
    service = Service(*request.param)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in ("/", "/favicon.ico"):
                self.answer("text/html", service.page.encode())
            elif self.path.startswith("/static/"):
                kind = "text/css" if self.path.endswith(".css") else "text/javascript"
                self.answer(kind, (STATIC / self.path.removeprefix("/static/")).read_bytes())
            else:
                self.answer("application/json", json.dumps(service.answers[self.path]).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if not self.path.endswith("/reports"):
                self.do_GET()
                return
            assert "Cookie" not in self.headers
            assert "Referer" not in self.headers
            service.reports.append(body)
            if service.refusals:
                status, reason = service.refusals.pop(0)
                problem = {"type": f"urn:discreet:{reason}", "title": "No", "reason": reason}
                self.answer("application/problem+json", json.dumps(problem).encode(), status)
                return
            self.answer("application/json", b'{"outcome":"counted"}')

        def answer(self, kind: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield service, f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture
def visitor(chromium) -> Iterator[Any]:
    """A person with a phone, and nothing that goes wrong unseen."""
    context = chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page, wrong = context.new_page(), []
    expected_message = "Failed to load resource: the server responded with a status of "  # as the test has it answer
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text)
            if message.type in ("error", "warning") and not message.text.startswith(expected_message)
            else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


@pytest.mark.parametrize("serving", [("olh", "anyone"), ("wheel", "anyone"), ("subset", "anyone")], indirect=True)
def test_what_is_sent_is_what_is_shown(serving, visitor):
    service, address = serving
    visitor.goto(address)
    visitor.get_by_label("butter").check()
    assert visitor.get_by_label("<b>tea</b>").count() == 1  # names are text
    visitor.get_by_label("Look for").fill("thing 3")
    assert visitor.locator("label.take-part-item:visible").count() == 12  # thing 3, 30 to 39, and what is ticked
    visitor.get_by_role("button", name="Make my report and send it").click()
    visitor.get_by_text("Thank you: your report was counted.").wait_for()
    (body,) = service.reports
    assert visitor.locator("pre.take-part-bytes").inner_text() == body
    sent_report = json.loads(body)
    assert list(sent_report) == ["round", "token", "key", "report"]
    assert sent_report["token"] == TOKEN
    report = json.dumps(sent_report["report"], separators=(",", ":")).encode()
    assert service.oracle.codec.read_reports([report]).refused == ()
    assert visitor.evaluate("document.activeElement.textContent") == "What your browser sent"
    rows = visitor.locator("table.take-part-table tbody tr").all_inner_texts()
    assert sum(row.startswith("what you ticked\t") and row.endswith("\t× 1.00") for row in rows) == 1
    assert sum(row.startswith("nothing at all\t") for row in rows) == 1
    assert visitor.get_by_text("more than 2.72 times as often as anybody else").count() == 1
    assert visitor.evaluate("document.documentElement.scrollWidth") <= 390  # a phone shows all of it
    browser.save_screenshot(visitor, f"take-part-{service.oracle.name}")
    # Whoever comes back is shown the same, and sends nothing more; what was ticked is not there.
    visitor.reload()
    visitor.get_by_text("Nobody is asked twice").wait_for()
    assert visitor.locator("pre.take-part-bytes").inner_text() == body
    assert visitor.get_by_text("what you ticked").count() == 0
    assert len(service.reports) == 1


LEVELS = Hierarchy.read({"bread": "bakery", "butter": "dairy", "milk": "dairy", "dairy": "food", "bakery": "food"})


@pytest.mark.parametrize("serving", [("grr", "anyone", LEVELS)], indirect=True)
def test_in_a_study_with_a_hierarchy_things_are_ticked_and_answers_are_for_more(serving, visitor):
    service, address = serving
    visitor.goto(address)
    visitor.get_by_label("butter").check()
    assert visitor.get_by_label("dairy").count() == 0
    assert visitor.locator("label.take-part-item").count() == len(ITEMS)
    visitor.get_by_role("button", name="Make my report and send it").click()
    visitor.get_by_text("Thank you: your report was counted.").wait_for()
    report = json.dumps(json.loads(service.reports[0])["report"], separators=(",", ":")).encode()
    assert service.oracle.codec.read_reports([report]).refused == ()
    # Who holds butter answers as who holds butter, dairy and food: one of these without the others is somebody else.
    table_text = visitor.locator("table.take-part-table tbody").inner_text()
    assert "what you ticked" in table_text
    assert not {"what you ticked, and also dairy", "what you ticked, and also food"} & set(table_text.split("\t"))
    browser.save_screenshot(visitor, "take-part-hierarchy")


@pytest.mark.parametrize("serving", [("grr", "tokens")], indirect=True)
def test_by_keyboard_with_a_token(serving, visitor):
    service, address = serving
    visitor.goto(address)
    visitor.get_by_label("bread").focus()
    visitor.keyboard.press("Space")
    visitor.get_by_label("The most epsilon I give away").fill("1/2")
    visitor.get_by_label("My token").fill(TOKEN[::-1])
    visitor.keyboard.press("Enter")
    visitor.get_by_text("The study asks for epsilon 1, and this device gives at most 0.5.").wait_for()
    assert service.reports == []
    visitor.get_by_label("The most epsilon I give away").fill("1")
    visitor.keyboard.press("Enter")
    visitor.get_by_text("Thank you: your report was counted.").wait_for()
    assert json.loads(service.reports[0])["token"] == TOKEN[::-1]
    browser.save_screenshot(visitor, "take-part-token")


@pytest.mark.parametrize("serving", [("grr", "tokens")], indirect=True)
def test_a_token_that_comes_in_the_address(serving, visitor):
    service, address = serving
    visitor.goto(f"{address}#token={TOKEN}&key={SIGNER.key}")
    visitor.get_by_label("bread").wait_for()
    assert visitor.get_by_label("My token").count() == 0
    visitor.get_by_role("button").click()  # whoever holds nothing sends a report too
    visitor.get_by_text("Thank you: your report was counted.").wait_for()
    assert json.loads(service.reports[0])["token"] == TOKEN
    assert visitor.get_by_text("compared with nothing at all").count() == 1


@pytest.mark.parametrize("serving", [("grr", "anyone")], indirect=True)
def test_a_browser_is_asked_to_keep_the_record(serving, visitor):
    _, address = serving
    visitor.add_init_script(
        "StorageManager.prototype.persist = async () => { globalThis.kept = (globalThis.kept ?? 0) + 1; }"
    )
    visitor.goto(address)
    visitor.get_by_role("button").click()
    visitor.get_by_text("Thank you: your report was counted.").wait_for()
    assert visitor.evaluate("globalThis.kept") == 1


@pytest.mark.parametrize("serving", [("grr", "anyone")], indirect=True)
def test_what_was_not_answered_is_not_called_counted_and_is_sent_again(serving, visitor):
    service, address = serving
    service.refusals = [(503, "busy"), (503, "busy")]
    visitor.goto(address)
    visitor.get_by_label("bread").check()
    visitor.get_by_role("button").click()
    visitor.get_by_text("The service was not reached. Try again later: the same bytes will be sent.").wait_for()
    visitor.reload()
    visitor.get_by_text("the service has not said yet that it was counted").wait_for()
    assert visitor.get_by_text("Nobody is asked twice").count() == 0
    assert visitor.locator("pre.take-part-bytes").inner_text() == service.reports[0]
    visitor.get_by_role("button", name="Send my report again").click()
    visitor.get_by_text("The service was not reached. Try again later: the same bytes will be sent.").wait_for()
    visitor.get_by_role("button", name="Send my report again").click()
    visitor.get_by_text("Nobody is asked twice").wait_for()
    assert len(service.reports) == 3
    assert len(set(service.reports)) == 1


@pytest.mark.parametrize("serving", [("grr", "tokens")], indirect=True)
def test_a_token_that_is_not_known_is_put_right(serving, visitor):
    service, address = serving
    service.refusals = [(403, "token-unknown")] * 2
    visitor.goto(address)
    for token in (TOKEN, "cd" * 16):  # in the form that made the report
        visitor.get_by_label("My token").fill(token)
        visitor.get_by_role("button").click()
        visitor.get_by_text("The service does not know the token: give the right one").wait_for()
        visitor.locator("button:enabled").wait_for()
    visitor.reload()
    visitor.get_by_label("The service does not know the token. My token").fill("ef" * 16)
    visitor.get_by_role("button", name="Send my report again").click()
    visitor.get_by_text("Nobody is asked twice").wait_for()
    first_report, second, third = map(json.loads, service.reports)
    assert [first_report["token"], second["token"], third["token"]] == [TOKEN, "cd" * 16, "ef" * 16]
    assert first_report | {"token": ""} == second | {"token": ""} == third | {"token": ""}


@pytest.mark.parametrize("serving", [("grr", "anyone")], indirect=True)
def test_another_key_than_came_in_the_address(serving, visitor):
    _, address = serving
    visitor.goto(f"{address}#key={'00' * 32}")
    visitor.get_by_text("The study comes with another key than this device knows for it.").wait_for()
    assert visitor.locator("form").count() == 0


@pytest.mark.parametrize("serving", [("grr", "anyone")], indirect=True)
def test_a_study_that_was_changed_is_refused(serving, visitor):
    service, address = serving
    study = service.answers["/v1/studies/breakfast"]
    study["study"] = study["study"].replace("adept", "Adept")
    visitor.goto(address)
    visitor.get_by_text("Your browser does not answer. The study is not signed by the key of this study.").wait_for()
    assert visitor.locator("form").count() == 0
