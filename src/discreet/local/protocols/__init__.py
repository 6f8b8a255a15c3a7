"""Protocols, one a file: the plan of questions a collector asks in turn, as a plain generator."""
