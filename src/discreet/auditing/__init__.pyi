from ._api import audit as audit
from ._holdings import Holding as Holding, crowd as crowd
from ._laws import law as law, noise as noise
from ._plugin_checks import check_oracle as check_oracle, check_protocol as check_protocol
from ._verdict import Attempt as Attempt, Verdict as Verdict
