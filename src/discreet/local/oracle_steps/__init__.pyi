from ._adding import (
    Adder as Adder,
    AggregateReading as AggregateReading,
    Counts as Counts,
    SimulatedAnswers as SimulatedAnswers,
)
from ._choice import (
    LIARS as LIARS,
    adaptive as adaptive,
    error as error,
    grr_or_olh as grr_or_olh,
    honest_share as honest_share,
    largest_padding as largest_padding,
    make as make,
    means as means,
    oracles as oracles,
)
from ._codec import (
    SHORT as SHORT,
    Batch as Batch,
    BitsField as BitsField,
    Codec as Codec,
    Field as Field,
    Mask as Mask,
    Refused as Refused,
    Report as Report,
    ReportColumns as ReportColumns,
    RowField as RowField,
    SeedField as SeedField,
    SubsetField as SubsetField,
    WholeField as WholeField,
    Words as Words,
    find_names_flaw as find_names_flaw,
    flatten_report as flatten_report,
)
from ._hashing import count_hashed as count_hashed, hashes as hashes
from ._honest import (
    HonestLaw as HonestLaw,
    Influence as Influence,
    PairLaw as PairLaw,
    independent_pair_laws as independent_pair_laws,
    independent_tail as independent_tail,
    tail_without_replacement as tail_without_replacement,
)
from ._hyperplanes import coordinates_of as coordinates_of, met as met, met_together as met_together
from ._published import SeedTable as SeedTable, published_pairs as published_pairs
from ._randomiser import Randomiser as Randomiser
from ._seeding import HashedOracle as HashedOracle, Pair as Pair
from ._subsets import Subsets as Subsets
from ._unary import LOSS as LOSS, Unary as Unary, answer as answer
from .on_card import Device as Device, drawn_on_card as drawn_on_card, using as using, words_on_card as words_on_card
