"""Devices one by one: `local.device.client` with each person's stream of words."""

from __future__ import annotations

from discreet.local import EVERY_ANSWER
from discreet.local.device import Draws, sample_symbol
from discreet.local.study import SeededWords


def words(seed, person, word_count):
    stream = SeededWords(seed, person)
    return [int.from_bytes(stream.take(4), "little") for _ in range(word_count)]


def reports(form, rows, people, seed):
    return [
        EVERY_ANSWER[form["oracle"]](form, row, Draws(SeededWords(seed, person).take))
        for row, person in zip(rows, people, strict=True)
    ]


def symbols(form, rows, people, seed):
    return [
        sample_symbol(form, row, Draws(SeededWords(seed, person).take))
        for row, person in zip(rows, people, strict=True)
    ]


def sample_items(rows, people, seed, pad):
    return [Draws(SeededWords(seed, person).take).some(pad, row) for row, person in zip(rows, people, strict=True)]
