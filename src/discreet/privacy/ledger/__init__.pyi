from ._account import Price as Price, rounded as rounded
from ._fingerprint import HashedRows as HashedRows
from ._ledger import Ledger as Ledger, Spend as Spend, State as State
from ._upgrade import upgrade as upgrade
