"""The audit of a study's promise: its protocol like any other, and the whole conversation as the service sends it.

The study is opened in a temporary service. A simulated crowd takes part in it with the device's own code, over the very
texts that devices receive. The audit searches for a question that a device refuses or that loses more privacy than the
study promises, a device that is asked twice, a question that depends on a basket before its owner has answered, and a
result that promises less privacy than the study.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import log
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..auditing import Attempt, Holding, Verdict, audit, crowd
from ..local.device import QuestionText, SeenRound, StudyText, client, compute_ratio, parse_questions, parse_study
from ..local.oracle_steps import flatten_report
from ..local.study import SeededWords, seed_of
from ..temporary import make_temporary_directory
from ._collector import StudyCollector
from ._reasons import COUNTED
from ._serving import collector_in
from ._study_file import StudyPlan
from ._uploads import Upload, hash_key, hash_token

# The size of the crowd. Larger: more devices per question; smaller: the audit of a long protocol ends sooner.
_PEOPLE = 150
_TEXT_COUNT = 12  # different texts of the crowd, for protocols without a list of items
_MAX_QUESTIONS = 2000  # a longer conversation is not led to its end: each question takes milliseconds per device


def audit_study(plan: StudyPlan, *, runs: int = 1000, seed: int = 1) -> Verdict:
    """Audit the promise of a study: its protocol with its settings and epsilon, and the questions of its service.

    Parameters
    ----------
    plan
        The plan of the study.
    runs, seed
        As for :func:`discreet.audit`.
    """
    verdict = audit(plan.protocol_instance, epsilon=plan.epsilon, delta=plan.delta, runs=runs, seed=seed)
    return replace(verdict, attempts=(*verdict.attempts, audit_conversation(plan, seed)))


def audit_conversation(plan: StudyPlan, seed: int) -> Attempt:
    """Run the study with a crowd and with a neighbouring crowd, and compare the texts of both."""
    start = perf_counter()
    plan = replace(plan, close="hand", who="tokens")
    item_count = len(plan.items) or _TEXT_COUNT
    people = crowd(item_count, _PEOPLE, seed=seed)
    neighbours = [crowd(item_count, 1, seed=seed + 1)[0], *people[1:]]
    study, neighbour_study = _AuditedStudy(plan, people, seed), _AuditedStudy(plan, neighbours, seed)
    flaw = study.flaw or neighbour_study.flaw or _find_difference(study, neighbour_study)
    return Attempt(
        means="coupled",
        stands=not flaw,
        loss=max(study.loss, neighbour_study.loss),
        tried=f"{len(study.texts):,} questions as served to {_PEOPLE} devices, twice, with one basket replaced",
        engine="discreet.local.client",
        pairs=min(1, len(study.texts)),
        pair="one basket replaced by another",
        why=flaw,
        seconds=perf_counter() - start,
    )


def _find_difference(study: _AuditedStudy, neighbour_study: _AuditedStudy) -> str:
    """Return the flaw of a text that differs between the crowds before the person that differs has answered, or ""."""
    for number, (text, neighbour_text) in enumerate(zip(study.texts, neighbour_study.texts, strict=False)):
        if text != neighbour_text:
            is_early = number <= study.answered
            return f"Question {number} depends on a basket whose report was not in yet." if is_early else ""
    return ""


class _AuditedStudy:
    """A study that was run to its end, with its texts, its largest privacy loss and its first flaw.

    `answered` is the number of the question that person 0 answered: this person differs between the crowds.
    """

    def __init__(self, plan: StudyPlan, people: list[Holding], seed: int) -> None:
        self.plan, self.people, self.seed = plan, people, seed
        self.texts: list[str] = []
        self.loss, self.flaw, self.answered = 0.0, "", _MAX_QUESTIONS
        # The secret number of each device, by which a question selects its devices.
        self.numbers = [SeededWords(seed_of(seed, "number"), person).take(4) for person in range(len(people))]
        self.asked_people: set[int] = set()
        with make_temporary_directory() as directory, collector_in(Path(directory) / "study") as collector:
            try:
                self._run(collector)
            except ValueError as error:
                self.flaw = f"A device refuses what is served: {error}"

    def _run(self, collector: StudyCollector) -> None:
        plan = self.plan
        collector.open_study(plan)
        collector.store.enrol(plan.name, [hash_token(_token(person)) for person in range(len(self.people))])
        signed = collector.signed(plan.name)
        study = parse_study(signed, plan.name, key=None, max_epsilon=plan.epsilon, max_delta=plan.delta)
        seen_rounds: list[SeenRound] = []
        while (state := collector.questions(plan.name)).state != "released" and len(self.texts) < _MAX_QUESTIONS:
            signed_questions = [{"question": text, "signature": signature} for text, signature in state.questions]
            _, questions = parse_questions({"state": state.state, "questions": signed_questions}, study, seen_rounds)
            seen_rounds += [(question.round, question.start, question.stop, question.hash) for question in questions]
            for question, (text, _) in zip(questions, state.questions, strict=True):
                # Keys differ between runs, and with them the id of the study; the question itself must not differ.
                form = json.loads(text)["question"]
                self.texts.append(json.dumps([question.start, question.stop, form], sort_keys=True))
                self.loss = max(self.loss, log(float(compute_ratio(question.question["oracle"]))))
                self._answer(collector, study, question)
            collector.close(plan.name, below_minimum=True)  # the crowd is smaller than most minima
        promise = json.loads(collector.result(plan.name))["guarantee"] if state.state == "released" else {}
        if promise and Fraction(promise["epsilon"]) > Fraction(plan.epsilon):
            self._note(f"The result promises epsilon {promise['epsilon']}, and the study {plan.epsilon}.")

    def _note(self, flaw: str) -> None:
        self.flaw = self.flaw or flaw

    def _answer(self, collector: StudyCollector, study: StudyText, question: QuestionText) -> None:
        """Send the report of each person that a question selects; a person that was asked before is a flaw."""
        people = [
            person
            for person, number in enumerate(self.numbers)
            if question.start <= int.from_bytes(number, "little") < question.stop
        ]
        if repeated := self.asked_people & set(people):
            self._note(f"{len(repeated)} devices are asked twice.")
        self.asked_people |= set(people)
        # From here on, texts may depend on the basket of person 0: its report is in.
        if 0 in people:
            self.answered = len(self.texts) - 1
        if not people:
            return
        words = np.array([self._report(study, question, person) for person in people], np.uint32)
        upload = Upload(
            round=question.round,
            tokens=[hash_token(_token(person)) for person in people],
            keys=[hash_key(_token(person), _token(person), question.round) for person in people],
            words=words,
            codes=np.zeros(len(people), np.uint8),
        )
        if set(collector.take(self.plan.name, upload).tolist()) != {COUNTED}:
            self._note("A report that a device made was not counted.")

    def _report(self, study: StudyText, question: QuestionText, person: int) -> list[int]:
        """Return the report of a person as words, made by the device's own code with seeded randomness."""
        person_holding, stream = self.people[person], SeededWords(seed_of(self.seed, f"round {question.round}"), person)
        options: dict[str, Any] = {"given": person_holding.given, "after": person_holding.after}
        if self.plan.protocol_instance.unlisted:
            options["texts"] = person_holding.texts
        limits: dict[str, Any] = {"max_epsilon": self.plan.epsilon, "max_delta": self.plan.delta}
        items = study.recode(person_holding.items)
        return flatten_report(json.loads(client(question.question, items, take=stream.take, **options, **limits)))


def _token(person: int) -> bytes:
    return person.to_bytes(16, "little")
