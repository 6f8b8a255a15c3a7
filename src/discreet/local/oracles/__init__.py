"""Oracles, one per file with its proof page beside it: how one answer is randomised, and what many answers tell.

The registry scans this folder. The contracts are `local.oracle` (frequencies) and `local.mean_oracle` (means); what
oracles share is in `local.oracle_steps`.
"""
