"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples each time, whatever else the machine does; a test that wants more of them, or fewer, says so.
settings.register_profile("discreet", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("discreet")
