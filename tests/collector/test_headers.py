"""Headers as the page of the wire format states them: the time to wait, and the need for a token."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")

from discreet.collector import Reason
from discreet.collector._service import problem


@pytest.mark.parametrize("reason", Reason)
def test_a_refusal_says_when_to_come_back_and_what_it_wants(reason):
    headers, status = problem(reason).headers, reason.status
    assert headers.get("retry-after") == ("1" if status in (429, 503) else None)
    assert headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
