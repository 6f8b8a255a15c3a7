from ._app import app as app
from ._groups import ReadingOptions as ReadingOptions, expand_groups as expand_groups
from ._progress import ProgressBar as ProgressBar
from ._replacing import replacing_allowed as replacing_allowed
from ._run import Interrupted as Interrupted
from ._terminal import console as console, say as say

def main() -> None: ...
