from .clipped import ClippedCounting as ClippedCounting
from .threshold import find as find
