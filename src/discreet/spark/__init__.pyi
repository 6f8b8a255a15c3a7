from ._blocks import Block as Block, CodeVocabulary as CodeVocabulary, join_blocks as join_blocks
from ._reports import add_up_reports as add_up_reports
