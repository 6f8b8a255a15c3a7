from ._blocks import Block as Block, Numbered as Numbered, joined as joined, read_blocks as read_blocks
from ._reports import add_up_reports as add_up_reports
