from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import InputError
from discreet.privacy.budget import Charge, Neighbours, epsilon_for
from discreet.privacy.guarantee import Guarantee

CHARGES = (Charge.pure("noise on 3 counts", Fraction(1, 3)), Charge.bounded_range("100 picks", Fraction(2, 3)))


def test_pure_losses_add_up():
    promise = Guarantee.from_charges(CHARGES)
    assert (promise.epsilon, promise.delta) == (1, 0)
    assert str(promise) == "central differential privacy, add or remove one person, epsilon = 1"


def test_with_a_delta_rho_adds_up():
    delta = Fraction(1, 10**6)
    promise = Guarantee.from_charges((*CHARGES, Charge.gaussian("cells", Fraction(1, 50))), delta=delta)
    assert promise.epsilon == epsilon_for(Fraction(1, 18) + Fraction(4, 72) + Fraction(1, 50), delta)
    assert promise.delta == delta
    assert "delta = 1e-06" in str(promise)


def test_in_words():
    promise = Guarantee.from_charges(CHARGES, public=("the list of items",))
    assert promise.in_words() == (
        "Whatever anyone concludes from this result about one person, they would have concluded with a probability at "
        "most 2.72 times larger or smaller had that person's data not been there. Taken for public knowledge, and not "
        "protected: the list of items."
    )
    other = Guarantee.from_charges(CHARGES, neighbours=Neighbours.REPLACE, delta=Fraction(1, 1000))
    assert "been anything else, except with a probability of 0.001." in other.in_words()


def test_round_trip():
    for promise in (
        Guarantee.from_charges(CHARGES, public=("n",)),
        Guarantee.from_charges([Charge.gaussian("cells", Fraction(1, 7))], delta=Fraction(1, 10**5), model="local"),
        Guarantee.from_charges([]),
    ):
        assert Guarantee.from_dict(promise.to_dict()) == promise


@pytest.mark.parametrize("told", [{}, {"charges": 3}, {"charges": [], "model": "central", "neighbours": "others"}])
def test_what_is_not_a_guarantee(told):
    with pytest.raises(InputError, match="This is not a guarantee that was written by discreet"):
        Guarantee.from_dict(told)
