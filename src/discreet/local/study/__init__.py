"""A study: the questions, the conversation of a protocol with its people, the estimates and the outcome.

A question (`questions`, `pair_questions`) is a small frozen value with a JSON form. A protocol is a generator: it
yields `Ask`s and is sent an `Estimate` for each (`conversation`). `rounds` has the rounds that several protocols share.
`collect` goes from the bytes that devices sent to an estimate. `simulate` plays all devices over known baskets, with
randomness from a seed (`seeded_words`), and says so in the `outcome`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
