"""Trying to break a study's claim: the whole conversation as it is served, and its protocol like any other.

The study is opened in a service that is gone afterwards. A made-up crowd takes part in it with the device's own code,
over the very texts that devices would be given. What is looked for: a question that a device refuses, or that loses
more than the study says; somebody who is asked twice; a text that depends on one basket before that person has
answered; a result that promises something else.
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
from ._uploads import Upload, hashed, key_hash

_PEOPLE = 150
_TEXTS = 12  # different ones that people hold, where no list has them
_ROUNDS = 2000  # a conversation of more questions than this is not led to its end


def audit_study(plan: StudyPlan, *, runs: int = 1000, seed: int = 1) -> Verdict:
    """Try to break the claim of a study: its protocol with its settings and epsilon, and what is served.

    Parameters
    ----------
    plan
        The study.
    runs, seed
        As for :func:`discreet.audit`.
    """
    verdict = audit(plan.led, epsilon=plan.epsilon, delta=plan.delta, runs=runs, seed=seed)
    return replace(verdict, attempts=(*verdict.attempts, served(plan, seed)))


def served(plan: StudyPlan, seed: int) -> Attempt:
    """Lead the study with a crowd and with a neighbour of it, and compare what is served."""
    begun = perf_counter()
    plan = replace(plan, close="hand", who="tokens")
    many = len(plan.items) or _TEXTS
    people = crowd(many, _PEOPLE, seed=seed)
    other = [crowd(many, 1, seed=seed + 1)[0], *people[1:]]
    first, second = (_Led(plan, some, seed) for some in (people, other))
    why = first.why or second.why or _differs(first, second)
    return Attempt(
        means="coupled",
        stands=not why,
        loss=max(first.loss, second.loss),
        tried=f"{len(first.texts):,} questions as served to {_PEOPLE} devices, twice, with one basket replaced",
        engine="discreet.local.client",
        pairs=min(1, len(first.texts)),
        pair="one basket replaced by another",
        why=why,
        seconds=perf_counter() - begun,
    )


def _differs(first: _Led, second: _Led) -> str:
    """Say what was served otherwise to the two crowds before the one person that differs has answered."""
    for at, (one, other) in enumerate(zip(first.texts, second.texts, strict=False)):
        if one != other:
            return f"Question {at} depends on a basket whose report was not in yet." if at <= first.answered else ""
    return ""


class _Led:
    """One study led to its end, and what was seen on the way."""

    def __init__(self, plan: StudyPlan, people: list[Holding], seed: int) -> None:
        self.plan, self.people, self.seed = plan, people, seed
        self.texts: list[str] = []
        self.loss, self.why, self.answered = 0.0, "", _ROUNDS
        self.numbers = [SeededWords(seed_of(seed, "number"), at).take(4) for at in range(len(people))]
        self.done: set[int] = set()
        with make_temporary_directory() as folder:
            collector = collector_in(Path(folder) / "study")
            try:
                self._lead(collector)
            except ValueError as error:
                self.why = f"A device refuses what is served: {error}"
            finally:
                collector.store.close()

    def _lead(self, collector: StudyCollector) -> None:
        plan = self.plan
        record = collector.open_study(plan)
        collector.store.enrol(plan.name, [hashed(_token(at)) for at in range(len(self.people))])
        answer = {"study": record.text, "signature": record.signature, "key": record.key}
        study = parse_study(answer, plan.name, key=None, max_epsilon=plan.epsilon, max_delta=plan.delta)
        seen: list[SeenRound] = []
        while (told := collector.questions(plan.name)).state != "released" and len(self.texts) < _ROUNDS:
            listed = [{"question": text, "signature": signature} for text, signature in told.questions]
            _, questions = parse_questions({"state": told.state, "questions": listed}, study, seen)
            seen += [(one.round, one.start, one.stop, one.hash) for one in questions]
            for one, (text, _) in zip(questions, told.questions, strict=True):
                # Keys differ from run to run, and with them the id of the study; what is asked must not.
                self.texts.append(json.dumps([one.start, one.stop, json.loads(text)["question"]], sort_keys=True))
                self.loss = max(self.loss, log(float(compute_ratio(one.question["oracle"]))))
                self._answer(collector, study, one)
            collector.close(plan.name, few=True)  # a study that is tried has a handful of people
        promise = json.loads(collector.result(plan.name))["guarantee"] if told.state == "released" else {}
        if promise and Fraction(promise["epsilon"]) > Fraction(plan.epsilon):
            self.why = self.why or f"The result promises epsilon {promise['epsilon']}, and the study {plan.epsilon}."

    def _answer(self, collector: StudyCollector, study: StudyText, asked: QuestionText) -> None:
        """Let everybody answer who is asked; who was asked before may not be."""
        who = [
            at for at, number in enumerate(self.numbers) if asked.start <= int.from_bytes(number, "little") < asked.stop
        ]
        twice = self.done & set(who)
        if twice:
            self.why = self.why or f"{len(twice)} devices are asked twice."
        self.done |= set(who)
        if 0 in who:
            self.answered = len(self.texts) - 1
        limits: dict[str, Any] = {"max_epsilon": self.plan.epsilon, "max_delta": self.plan.delta}
        words = []
        for at in who:
            holds, stream = self.people[at], SeededWords(seed_of(self.seed, f"round {asked.round}"), at)
            own: dict[str, Any] = {"given": holds.given, "after": holds.after}
            if self.plan.led.unlisted:
                own["texts"] = holds.texts
            told = client(asked.question, study.recode(holds.items), take=stream.take, **own, **limits)
            words.append(flatten_report(json.loads(told)))
        if not words:
            return
        upload = Upload(
            round=asked.round,
            tokens=[hashed(_token(at)) for at in who],
            keys=[key_hash(_token(at), _token(at), asked.round) for at in who],
            words=np.array(words, np.uint32),
            codes=np.zeros(len(who), np.uint8),
        )
        if set(collector.take(self.plan.name, upload).tolist()) != {COUNTED}:
            self.why = self.why or "A report that a device made was not counted."


def _token(number: int) -> bytes:
    return number.to_bytes(16, "little")
