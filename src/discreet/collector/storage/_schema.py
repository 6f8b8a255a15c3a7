"""The tables, for both stores: what a column is for stands beside it.

{bytes} and {long} are types as each store calls them, and {clustered} says that rows lie in the order of their key.

Nothing here has a time of a report, or a column that a token and a report have in common. A token that is spent takes
as many bytes as one that is not, so that SQLite writes over it in its place: rows that moved would show their order.
"""

from __future__ import annotations

VERSION = 2

TABLES = """
CREATE TABLE IF NOT EXISTS about (
    version {long} NOT NULL            -- of these tables
);
CREATE TABLE IF NOT EXISTS studies (
    place {long} PRIMARY KEY,          -- in the order in which they were opened
    name TEXT NOT NULL UNIQUE,         -- as in the address
    id TEXT NOT NULL,                  -- the hash of the text
    plan TEXT NOT NULL,                -- what the operator asked for
    text TEXT NOT NULL,                -- the study as it is published
    signature TEXT NOT NULL,           -- of the text
    key TEXT NOT NULL                  -- the public key
);
CREATE TABLE IF NOT EXISTS rounds (
    study TEXT NOT NULL REFERENCES studies (name),
    number {long} NOT NULL,            -- from 0, in the order in which the protocol asks
    state TEXT NOT NULL CHECK (state IN ('drafted', 'open', 'closed', 'released', 'scrubbed')),
    ask TEXT NOT NULL,                 -- everything about the round, by which a replay knows it
    question TEXT,                     -- as it is published, from open on
    signature TEXT,                    -- of the question
    closes {long},                     -- when it closes, where it closes by itself
    people {long} NOT NULL,            -- how many reports were taken
    heard TEXT,                        -- what they add up to, from released on
    PRIMARY KEY (study, number)
);
CREATE TABLE IF NOT EXISTS tokens (
    study TEXT NOT NULL REFERENCES studies (name),
    hash {bytes} NOT NULL,             -- of the token
    used {bytes} NOT NULL,             -- zeros, or once it is spent the hash of token, key and round, kept for good
    PRIMARY KEY (study, hash)
){clustered};
CREATE TABLE IF NOT EXISTS blocks (
    id {long} PRIMARY KEY,             -- drawn: it tells no order
    study TEXT NOT NULL,
    round {long} NOT NULL,
    words {bytes} NOT NULL             -- reports, packed one after another in random order
);
CREATE INDEX IF NOT EXISTS blocks_by_round ON blocks (study, round);
CREATE TABLE IF NOT EXISTS results (
    study TEXT PRIMARY KEY REFERENCES studies (name),
    text TEXT NOT NULL                 -- the release with its guarantee, as it is handed out
);
CREATE TABLE IF NOT EXISTS refusals (
    study TEXT NOT NULL,
    reason TEXT NOT NULL,              -- of the list in reasons.py
    many {long} NOT NULL,
    PRIMARY KEY (study, reason)
);
CREATE TABLE IF NOT EXISTS operators (
    hash {bytes} PRIMARY KEY,          -- of the operator's token
    scopes TEXT NOT NULL,              -- what it is for, with spaces between
    label TEXT NOT NULL                -- whose it is, as the one who made it says
);
"""
