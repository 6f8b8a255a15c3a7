from ._mechanism import (
    Answers as Answers,
    Found as Found,
    Mechanism as Mechanism,
    Plan as Plan,
    settings_of as settings_of,
)
from ._problem import Problem as Problem
