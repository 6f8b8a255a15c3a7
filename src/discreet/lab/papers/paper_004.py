"""Bhaskar, Laxman, Smith, Thakurta 2010: the most frequent itemsets by the exponential and the Laplace mechanism."""

from __future__ import annotations

from ..experiment import Axis, Data, Experiment, Line, Metric

FIMI = (
    Data(name="retail"),
    Data(name="kosarak_100k", label="kosarak (first 100,000)"),
    Data(name="mushroom"),
    Data(name="chess"),
    Data(name="connect"),
    Data(name="T10I4D100K"),
    Data(name="accidents_reduced", label="accidents (reduced)"),
)
MISSED = Metric(name="false_negative_rate", label="missed", share=True)
LINES = (
    Line(label="exponential, as published", name="exponential", asked={"neighbours": "replace"}),
    Line(label="exponential, add/remove (E8)", name="exponential"),
)

EXPERIMENTS = (
    Experiment(
        name="004-figure-4",
        paper="004",
        shows="Figure 4",
        title="false negatives over epsilon (K = 10, three items)",
        says="At ε/2 = 0.7 and above fewer than one in five of the top ten is missed, but on chess and T10I4D100K.",
        data=FIMI,
        lines=LINES,
        axis=Axis(of="epsilon", label="ε", values=("0.08", "0.2", "0.6", "1.4", "4"), logarithmic=True),
        asked={"top": 10, "lengths": 3},
        measure="release",
        metrics=(MISSED,),
    ),
)
