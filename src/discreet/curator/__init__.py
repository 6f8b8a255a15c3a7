"""The curator's side: mechanisms that publish patterns from data somebody holds (central differential privacy).

``mechanisms/`` has one file and one proof page per mechanism, and the registry scans that folder. ``steps/`` has what
several of them share. `mechanism` is the contract: a frozen dataclass whose fields are its settings, with `check`,
`plan` and `run`.

A mechanism never draws noise, never spends, and never sees an exact number: what the data answer is sealed. It says in
`plan` which share of the budget each step gets, and in `run` it asks the meter. Between two answers of the meter it may
compute what it likes, of released numbers and public values. Asking, paying and publishing are the business of
`publish`.
"""
