"""Mechanisms, protocols and oracles by name, ours and other packages', and the one parser of their settings."""

from __future__ import annotations

from .entries import (
    Entry,
    What,
    described,
    entry,
    everything,
    mechanism,
    mechanisms,
    oracles,
    protocol,
    protocols,
    proven,
)
from .listing import Listing, told_of
from .settings import settle

__all__ = [
    "Entry",
    "Listing",
    "What",
    "described",
    "entry",
    "everything",
    "mechanism",
    "mechanisms",
    "oracles",
    "protocol",
    "protocols",
    "proven",
    "settle",
    "told_of",
]
