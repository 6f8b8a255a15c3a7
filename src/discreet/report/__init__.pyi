from ._charts import PHONE_WIDTH as PHONE_WIDTH, mount_drawings as mount_drawings, ticks as ticks
from ._compared import (
    difference_page as difference_page,
    difference_picture as difference_picture,
    difference_rows as difference_rows,
    notebook_table as notebook_table,
)
from ._compared_mechanisms import comparison_page as comparison_page, comparison_picture as comparison_picture
from ._contents import TITLE as TITLE, contents_of as contents_of
from ._forecast import ForecastTable as ForecastTable, forecast_page as forecast_page
from ._frame import drawing_style as drawing_style, picture_page as picture_page
from ._graph import GraphPicture as GraphPicture, draw_graph as draw_graph
from ._matrix import draw_confidences as draw_confidences
from ._overview import SegmentPage as SegmentPage, overview as overview
from ._page import page as page
from ._plots import (
    chart as chart,
    draw_budget_lines as draw_budget_lines,
    draw_budgets as draw_budgets,
    draw_forecast as draw_forecast,
    draw_precisions as draw_precisions,
    plot as plot,
)
from ._svg import Drawing as Drawing
from ._tables import TableColumn as TableColumn, pattern_table as pattern_table, rule_table as rule_table
from ._templates import render as render
from ._text import clean as clean, number_of as number_of
from .colours import QUIET as QUIET, RULE as RULE
