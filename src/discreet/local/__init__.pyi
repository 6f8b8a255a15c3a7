from ._mean_oracle import SPAN as SPAN, MeanOracle as MeanOracle
from ._oracle import (
    EVERY_ANSWER as EVERY_ANSWER,
    EVERY_LOSS as EVERY_LOSS,
    LARGEST as LARGEST,
    Counts as Counts,
    OneValue as OneValue,
    Oracle as Oracle,
    Report as Report,
    ReportColumns as ReportColumns,
    SetValued as SetValued,
    SimulatedAnswers as SimulatedAnswers,
    check_ranges as check_ranges,
    compute_threshold as compute_threshold,
    compute_weight as compute_weight,
    exp_rounded_down as exp_rounded_down,
)
from ._protocol import Protocol as Protocol
from .device import client as client, draw_basket as draw_basket
