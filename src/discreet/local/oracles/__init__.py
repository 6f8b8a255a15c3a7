"""Frequency oracles, one a file: how a value or a set is randomised on a device, and how counts are estimated."""
