"""The texts of the pages of regret: the compared mechanisms or protocols, and the definitions with reasons."""

from __future__ import annotations

from ..measure.regrets import FEW_COMMON, HOPELESS, SLACK

COVERED = 0.93
"""The goal for the share of right 95 % intervals in every row."""

CURATOR_BEGINNING = """\
Whoever names no mechanism gets `auto`. Here it is asked many questions about many data sets, beside every other
mechanism that answers them. *Regret* is how much worse it does than the best of them, each number by itself.
The definitions, with their reasons, are [at the end](#what-is-measured-and-why-so).

`discreet lab run regret` runs it, and `discreet lab page --paper regret` makes this page of what is kept.
"""
CURATOR_DEFINITIONS = f"""\
## What is measured, and why so

- **Questions**: the top 5 to 400, and all patterns over a threshold, which is the count of the pattern of rank 20, 100
  or 400 (`over=100`). Patterns have 1, 2, 3 or any number of items. Epsilon is 0.1, 0.5, 1 or 2, pure or with a delta
  of 1e-6. `regret` asks each data set 40 of these 320 questions, in which every two levels of different parameters
  meet; eight data sets cover all.
- **Mechanisms**: all of the registry that answer such a question, with their default settings and a public list of
  items. How many people there are is not public.
- **Misses**: the share of the true top that is not in the release. Whatever as many people hold as the last one of the
  top is right, so ties are held against nobody. Over a threshold it is one minus the F-score, since whoever lists
  everything misses nothing.
- **Error of counts**: the relative error over the patterns that are wanted, found or not. Whoever finds only the easy
  ones would look precise otherwise. Of a pattern that it does not list, a release says that no more people hold it
  than the last one listed, or than the threshold: that number is taken for its count. An error of less than one person
  counts as one person.
- **Rivals in counts** are the mechanisms that miss at most {SLACK:g} more than `auto` does. Where even the best misses
  more than {HOPELESS:g}, everybody counts noise, and errors of counts are not compared.
- **Confidences**: the mean error over rules with one item on the right, made of the wanted patterns. A rule that cannot
  be read off the release counts as 0. There are rules only where patterns of any length are asked for.
- **Intervals**: the share of the 95 % intervals of all listed patterns, also wrong ones, that hold the true count.
  *By chance* is the probability that so few hold if each held with {COVERED:g}, independently of the others.
- **Regret**: the best of several noisy numbers looks better than it is. So half of the runs say which mechanism is the
  best, and the other half by how much, and the other way round. A small regret may then come out below none: whoever
  chooses by a few runs may choose wrongly too. *By the same runs* is the other end: the mean if all runs choose and all
  runs tell, which is too much. Which mechanism is named as the best goes by all runs. *Beyond doubt* means by more than
  two standard errors of these runs.
"""

DEVICES_BEGINNING = """\
Whoever names no protocol gets `adept`. Here it is asked many questions about many data sets, beside the other protocols
that find patterns. *Regret* is how much worse it does than the best of them. Beside all of them stands a *reference*
that cheats: everyone answers one round about the true top, and what comes out is ranked as estimated.
The definitions, with their reasons, are [at the end](#what-is-measured-and-why-so).

`discreet lab run regret-devices` runs it, and `discreet lab page --paper regret-devices` makes this page of what is
kept. The curator's side has [a page of its own](regret.md).
"""
DEVICES_DEFINITIONS = f"""\
## What is measured, and why so

- **Questions**: the top 8 to 128, of one item and more or of two and more, at an epsilon of 0.5, 1, 2 or 4. Each data
  set is asked 10 of these 40 questions. Two sets side by side have every top with every epsilon, and four have all.
- **Protocols**: `adept`, `svsm`, `svsm-better` and `fp-tree`, with their default settings. What reports add up to is
  drawn, each count from its exact law.
- **NCR**, the normalised cumulative rank: of a top of 64 the most frequent pattern is worth 64 points, the next 63,
  down to 1. Patterns that as many people hold share the points of their places, so ties are held against nobody. Regret
  in NCR is how much less of all points `adept` has than the best.
- **The reference** asks everybody one question, about the twice as many truly most frequent patterns as are wanted. It
  has the padding and the oracle that `adept` would take, and a share of the people tells sizes. It is no bound: who
  knows what frequencies are like, and asks again where it matters, can be better.
- **Error of counts**: the median relative error over the patterns of the true top that both `adept` and another
  protocol find in a run. What both find differs from protocol to protocol, so it is their ratio that is compared. Where
  both find fewer than {FEW_COMMON}, it is not. An error of less than one person counts as one person.
- **Intervals**: the share of the 95 % intervals of all patterns found, also wrong ones, that hold the true count.
  *By chance* is the probability that so few hold if each held with {COVERED:g}, independently of the others. They are
  not independent: all patterns of a run share the error of how many of them people hold.
- **Regret**: the best of several noisy numbers looks better than it is. So half of the runs say which protocol is the
  best, and the other half by how much, and the other way round. *By the same runs* is the other end: the mean if all
  runs choose and all runs tell, which is too much. *Beyond doubt* means by more than two standard errors of these runs.
"""
