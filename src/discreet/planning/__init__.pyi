from ._bounds import (
    Bounds as Bounds,
    least_epsilon as least_epsilon,
    least_epsilon_of_short as least_epsilon_of_short,
    sufficient_epsilon as sufficient_epsilon,
)
from ._comparing import compare as compare
from ._crowd import ImaginedCrowd as ImaginedCrowd
from ._forecast import Forecast as Forecast
from ._outlook import Outlook as Outlook
from ._planner import plan as plan
from ._regret import Regret as Regret, Runs as Runs, ratio_of as ratio_of, regret_of as regret_of
from ._shuffle import shuffled as shuffled
from ._trial import trial as trial
from ._trying import (
    CrowdRun as CrowdRun,
    ForecastTask as ForecastTask,
    compute_margin as compute_margin,
    estimate_visible_support as estimate_visible_support,
    judge_patterns as judge_patterns,
    mine_truth as mine_truth,
)
