"""The tables of both stores, with the meaning of each column beside it.

{bytes} and {long} are the names of the column types in each database; {clustered} makes rows lie in the order of their
key.

No table has the time of a report, or a column that a token and a report share. A spent token takes as many bytes as an
unspent token, so that SQLite overwrites it in place: a row that moved would show the order of arrival.
"""

from __future__ import annotations

# The version of the tables. A store with tables of a different version is refused: no code converts them.
VERSION = 2

TABLES = """
CREATE TABLE IF NOT EXISTS about (
    version {long} NOT NULL            -- of these tables
);
CREATE TABLE IF NOT EXISTS studies (
    place {long} PRIMARY KEY,          -- in the order in which they were opened
    name TEXT NOT NULL UNIQUE,         -- as in the address
    id TEXT NOT NULL,                  -- the hash of the text
    plan TEXT NOT NULL,                -- the plan of the operator, as JSON
    text TEXT NOT NULL,                -- the study as it is published
    signature TEXT NOT NULL,           -- of the text
    key TEXT NOT NULL                  -- the public key
);
CREATE TABLE IF NOT EXISTS rounds (
    study TEXT NOT NULL REFERENCES studies (name),
    number {long} NOT NULL,            -- from 0, in the order in which the protocol asks
    state TEXT NOT NULL CHECK (state IN ('drafted', 'open', 'closed', 'released', 'scrubbed')),
    ask TEXT NOT NULL,                 -- everything about the round, by which a replay recognises it
    question TEXT,                     -- as it is published, from open on
    signature TEXT,                    -- of the question
    closes {long},                     -- the deadline, where the round has one
    people {long} NOT NULL,            -- the number of reports that were taken
    heard TEXT,                        -- the sums of the reports, from released on
    PRIMARY KEY (study, number)
);
CREATE TABLE IF NOT EXISTS tokens (
    study TEXT NOT NULL REFERENCES studies (name),
    hash {bytes} NOT NULL,             -- of the token
    used {bytes} NOT NULL,             -- zeros, or once it is spent the hash of token, key and round, kept for good
    PRIMARY KEY (study, hash)
){clustered};
CREATE TABLE IF NOT EXISTS blocks (
    id {long} PRIMARY KEY,             -- drawn: it shows no order
    study TEXT NOT NULL,
    round {long} NOT NULL,
    words {bytes} NOT NULL             -- reports, packed one after another in random order
);
CREATE INDEX IF NOT EXISTS blocks_by_round ON blocks (study, round);
CREATE TABLE IF NOT EXISTS results (
    study TEXT PRIMARY KEY REFERENCES studies (name),
    text TEXT NOT NULL                 -- the result with its guarantee, as the service sends it
);
CREATE TABLE IF NOT EXISTS refusals (
    study TEXT NOT NULL,
    reason TEXT NOT NULL,              -- of the list in reasons.py
    many {long} NOT NULL,
    PRIMARY KEY (study, reason)
);
CREATE TABLE IF NOT EXISTS operators (
    hash {bytes} PRIMARY KEY,          -- of the operator's token
    scopes TEXT NOT NULL,              -- the scopes of the token, with spaces between
    label TEXT NOT NULL                -- the name of its owner, as typed when it was made
);
"""
