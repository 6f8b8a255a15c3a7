from ._app import app as app
from ._groups import ReadingOptions as ReadingOptions, expand_groups as expand_groups
from ._replacing import replacing_allowed as replacing_allowed
from ._run import Interrupted as Interrupted
from ._terminal import ProgressBar as ProgressBar, console as console, say as say

def main() -> None: ...
