from .adept import Adept as Adept
from .calm import CALM as CALM
from .fp_tree import FPTree as FPTree
from .ldpminer import LDPMiner as LDPMiner
from .pairs import (
    PairsProtocol as PairsProtocol,
    RelationProtocol as RelationProtocol,
    Singles as Singles,
    make_item_protocol as make_item_protocol,
)
from .pckv import PCKV as PCKV
from .relations import RelationMiner as RelationMiner
from .relations_full import RelationsFull as RelationsFull
from .svim import SVIM as SVIM, SVIMBetter as SVIMBetter
from .svsm import SVSM as SVSM, SVSMBetter as SVSMBetter
