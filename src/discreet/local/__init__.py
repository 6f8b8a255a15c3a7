"""The side that never sees a basket: every device sends one randomised report, and a collector learns the patterns.

`client` is what runs on a device. It and its module need the standard library alone.
"""

from .client import client as client
