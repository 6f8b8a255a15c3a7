from ._mean_oracle import SPAN as SPAN, MeanOracle as MeanOracle
from ._oracle import (
    EVERY_ANSWER as EVERY_ANSWER,
    EVERY_LOSS as EVERY_LOSS,
    LARGEST as LARGEST,
    Answered as Answered,
    Counts as Counts,
    OneValue as OneValue,
    Oracle as Oracle,
    Report as Report,
    ReportColumns as ReportColumns,
    SetValued as SetValued,
    chance as chance,
    check_ranges as check_ranges,
    compute_weight as compute_weight,
    grown as grown,
)
from ._protocol import Protocol as Protocol
from .device import chosen as chosen, client as client
