from ._charts import svg as svg, ticks as ticks
from ._compared import difference_page as difference_page, notebook_table as notebook_table, slopes_of as slopes_of
from ._compared_mechanisms import comparison_page as comparison_page, comparison_picture as comparison_picture
from ._contents import TITLE as TITLE, contents_of as contents_of
from ._frame import figure as figure
from ._graph import NARROW as NARROW, GraphPicture as GraphPicture, graph as graph
from ._matrix import confidences as confidences
from ._mount import mounted as mounted
from ._overview import SegmentPage as SegmentPage, overview as overview
from ._page import page as page
from ._planned import ForecastTable as ForecastTable, planned_page as planned_page
from ._plots import (
    bought as bought,
    bought_lines as bought_lines,
    forecast as forecast,
    forecast_bars as forecast_bars,
    plot as plot,
)
from ._sections import chart as chart
from ._style import drawn_style as drawn_style
from ._tables import TableColumn as TableColumn, pattern_table as pattern_table, rule_table as rule_table
from ._text import clean as clean, number_of as number_of
from .colours import QUIET as QUIET, RULE as RULE
