"""A conversation without noise: what is not proven is not run by this route either."""

from __future__ import annotations

import pytest

import discreet
from discreet import MisuseError
from discreet_lab.measure.noise_free import learn_without_noise
from strangers import ASKING_CODE, install, installed


def test_a_protocol_of_another_package_needs_its_proof_page(tmp_path):
    with installed(install(tmp_path, ASKING_CODE, group="discreet.protocols", proof=False)):
        shop = discreet.read([{"tea"}] * 50)
        with pytest.raises(MisuseError, match="plain of the package stranger-mechanisms has no proof page"):
            learn_without_noise(shop, "plain", top=1, epsilon=1, seed=1)
