"""Data comes in here: readers make `Baskets`, generators make them up, resampling makes more of them."""
