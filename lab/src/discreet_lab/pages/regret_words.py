"""The texts of the pages of regret: the compared mechanisms or protocols, and the definitions with reasons."""

from __future__ import annotations

from ..measure.regrets import FEW_COMMON, HOPELESS, SLACK

COVERED = 0.93
"""The goal for the share of right 95 % intervals in every row."""

CURATOR_BEGINNING = """\
For curators and for authors of mechanisms: this page compares the default `auto` with every mechanism, question by
question. Afterwards you can decide whether to name a mechanism yourself.

A release without a named mechanism uses `auto`. Here `auto` gets many questions about many data sets, beside every
mechanism that answers the question. *Regret* is the distance of `auto` from the best mechanism, for each number
separately. The definitions, with their reasons, are [at the end](#definitions-and-reasons).

`discreet lab run regret` runs the comparison, and `discreet lab page --paper regret` makes this page from the kept
results.
"""
CURATOR_DEFINITIONS = f"""\
## Definitions and reasons

- **Questions**: the top 5 to 400, and all patterns over a threshold, which is the count of the pattern of rank 20,
  100 or 400 (`over=100`). Patterns have 1, 2, 3 or any number of items. Epsilon is 0.1, 0.5, 1 or 2, pure or with a
  delta of 1e-6. `regret` asks each data set 40 of the 320 questions, in which every two levels of different
  parameters meet; eight data sets cover all.
- **Mechanisms**: all mechanisms of the registry that answer the question, with their default settings and a public
  list of items. The number of people is not public.
- **Misses**: the share of the true top that is missing from the release. Every pattern with at least the count of the
  last pattern of the top is correct, so ties are no errors. Over a threshold the number is one minus the F-score,
  since a release of all patterns misses nothing.
- **Error of counts**: the relative error over the requested patterns, found or not. Otherwise a mechanism that finds
  only the easy patterns would look precise. For an unlisted pattern, a release states an upper bound of the count:
  the count of the last listed pattern, or the threshold. That bound is taken for the count. An error of less than one
  person counts as one person.
- **Rivals in counts** are the mechanisms that miss at most {SLACK:g} more than `auto` does. If even the best misses
  more than {HOPELESS:g}, all mechanisms count noise, and errors of counts are not compared.
- **Confidences**: the mean error over rules with one item on the right, made of the requested patterns. A rule that
  cannot be computed from the release counts as 0. Rules exist only for questions about patterns of any length.
- **Intervals**: the share of the 95 % intervals of all listed patterns, including wrong patterns, that hold the true
  count. *By chance* is the probability that at most this number of intervals hold if each holds with {COVERED:g},
  independently.
- **Regret**: the best of several noisy numbers looks better than it is. Half of the runs therefore select the best
  mechanism, and the second half measures the distance; then the halves change roles. A small regret may then be
  negative, since a selection by a few runs may be wrong too. *By the same runs* is the upper end: the mean if all
  runs select and all runs measure, which is too large. All runs together determine the mechanism named as the best.
  *Beyond doubt* means by more than two standard errors of the runs.
"""

DEVICES_BEGINNING = """\
For designers of studies and authors of protocols: this page compares the default `adept` with every protocol for
patterns, question by question. Afterwards you can decide whether to name a protocol yourself.

A study without a named protocol uses `adept`. Here `adept` gets many questions about many data sets, beside the
further protocols that find patterns. *Regret* is the distance of `adept` from the best protocol. Beside all protocols
stands a *reference* with forbidden knowledge: every person answers one round about the true top, and the reference
ranks the estimates. The definitions, with their reasons, are [at the end](#definitions-and-reasons).

`discreet lab run regret-devices` runs the comparison, and `discreet lab page --paper regret-devices` makes this page
from the kept results. The curator's side has [a separate page](regret.md).
"""
DEVICES_DEFINITIONS = f"""\
## Definitions and reasons

- **Questions**: the top 8 to 128, of one item and more or of two and more, at an epsilon of 0.5, 1, 2 or 4. Each data
  set is asked 10 of the 40 questions. Two sets side by side have every top with every epsilon, and four have all.
- **Protocols**: `adept`, `svsm`, `svsm-better` and `fp-tree`, with their default settings. Sums of reports are drawn,
  each count from its exact distribution.
- **NCR**, the normalised cumulative rank: of a top of 64 the most frequent pattern is worth 64 points, the next 63,
  down to 1. Patterns with equal counts share the points of their places, so ties are no errors. Regret in NCR is the
  distance of `adept` from the best protocol, as a share of all points.
- **The reference** asks every person one question, about the truly most frequent patterns, twice the requested
  number. It has the padding and the oracle that `adept` would choose, and a share of the people reports sizes. The
  reference is no bound: a protocol with knowledge of typical frequencies, and with further queries about the
  uncertain patterns, can be better.
- **Error of counts**: the median relative error over the patterns of the true top that both `adept` and a second
  protocol find in a run. The common patterns differ from protocol to protocol, so the ratio of the two errors is
  compared. If both find fewer than {FEW_COMMON}, the ratio is not compared. An error of less than one person counts
  as one person.
- **Intervals**: the share of the 95 % intervals of all found patterns, including wrong patterns, that hold the true
  count. *By chance* is the probability that at most this number of intervals hold if each holds with {COVERED:g},
  independently. The intervals are not independent: all patterns of a run share the error of the estimated number of
  patterns per person.
- **Regret**: the best of several noisy numbers looks better than it is. Half of the runs therefore select the best
  protocol, and the second half measures the distance; then the halves change roles. *By the same runs* is the upper
  end: the mean if all runs select and all runs measure, which is too large. *Beyond doubt* means by more than two
  standard errors of the runs.
"""
