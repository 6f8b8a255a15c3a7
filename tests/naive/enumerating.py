"""The exact law of a report: the very functions of `local.device.client`, run over every random choice they can make.

A choice is known by where in the code it is made and by what the functions know at that moment. Each is taken up once,
whatever led to it, so loops that draw again become cycles of a graph; the chances of the reports are then the solution
of linear equations in exact fractions.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import product

from discreet.local import EVERY_ANSWER
from discreet.local.device import WEIGHT_SCALE, WORD, Draws


class _AskedError(Exception):
    """A choice that has not been taken up yet: its place in the code, and its options with their weights."""


class Enumerating(Draws):
    """Choices made by a script; the first choice after its end raises. The hash seed is given."""

    def __init__(self, script, seed=(1, 0)):
        self.script, self.given = iter(script), seed

    def word(self):
        raise AssertionError("a choice that is none of the named ones")

    def seed(self):
        return self.given

    def _choose(self, options):
        for value in self.script:
            return value
        location, frame = [], sys._getframe(2)
        # Equal variables at equal places of the code make equal choices, in all frames up to the law's own.
        while frame.f_code.co_name != "after":
            common_names = ("self", "draws", "oracle", "attempt")  # known to all alike
            variables = {name: value for name, value in frame.f_locals.items() if name not in common_names}
            location.append(
                (frame.f_code.co_name, frame.f_lasti, repr(sorted(variables.items(), key=lambda variable: variable[0])))
            )
            frame = frame.f_back
        raise _AskedError(tuple(location), options)

    def chance(self, threshold):
        return self._choose([(True, Fraction(threshold, WORD)), (False, 1 - Fraction(threshold, WORD))])

    def below(self, bound):
        if bound <= 1:
            return 0
        return self._choose([(value, Fraction(1, bound)) for value in range(bound)])

    def place(self, weight, inside, outside):
        remaining_weight = WEIGHT_SCALE - weight * inside
        options = [(place, Fraction(weight, WEIGHT_SCALE)) for place in range(inside)]
        for place in range(outside):
            options.append(
                (
                    inside + place,
                    Fraction(remaining_weight // outside + (place < remaining_weight % outside), WEIGHT_SCALE),
                )
            )
        return self._choose(options)

    def bits(self, count, threshold):
        probability = Fraction(threshold, WORD)
        options = []
        for bits in product((0, 1), repeat=count):
            weight = Fraction(1)
            for bit in bits:
                weight *= probability if bit else 1 - probability
            options.append((sum(bit << position for position, bit in enumerate(bits)), weight))
        return self._choose(options)


def law(form, values, seed=(1, 0)):
    """Return the probability of each report, as JSON, of a device with given values."""

    def after(script):
        try:
            return "told", json.dumps(EVERY_ANSWER[form["oracle"]](form, list(values), Enumerating(script, seed)))
        except _AskedError as error:
            location, options = error.args
            choices.setdefault(location, (script, options))
            return "asked", location

    choices = {}
    begin = after(())
    steps, completed_count = {}, 0
    while completed_count < len(choices):
        # Choices that these runs meet for the first time are added at the end.
        for location, (script, options) in list(choices.items())[completed_count:]:
            completed_count += 1
            steps[location] = defaultdict(Fraction)
            for value, weight in options:
                if weight:
                    steps[location][after((*script, value))] += weight
    # Choices are eliminated in turn, the latest first: a step that led to a choice leads to the results of the choice.
    for location in reversed(list(steps)):
        mine = steps.pop(location)
        return_probability = mine.pop(("asked", location), Fraction(0))
        for other_step in [*steps.values()]:
            weight = other_step.pop(("asked", location), None)
            if weight is not None:
                for after_it, share in mine.items():
                    other_step[after_it] += weight * share / (1 - return_probability)
        if ("asked", location) == begin:
            return {report: share / (1 - return_probability) for (_, report), share in mine.items()}
    return {begin[1]: Fraction(1)}
