from ._card import open_card as open_card
from ._rounds import CardRound as CardRound, add_words as add_words
