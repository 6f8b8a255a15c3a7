"""Speed and memory, as ratios against other packages run beside."""

import os

# Compiled code is timed: plain forms would be part of the first runs. `start` times both.
os.environ.setdefault("DISCREET_JIT", "1")
