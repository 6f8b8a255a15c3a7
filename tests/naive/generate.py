"""The slow twin of discreet.kernels._generate: the same draws in the same order, with lists and sets."""

from bisect import bisect_right


def fill_baskets(source, targets, patterns, cumulative, corruption, max_picks):
    baskets = []
    waiting = None
    for target in targets:
        basket = set()
        for _ in range(max_picks):
            if len(basket) >= target:
                break
            if waiting is None:
                pattern = bisect_right(cumulative, source.random())
                put = list(patterns[pattern])
                while put and source.random() < corruption[pattern]:
                    gone = int(source.random() * len(put))
                    put[gone] = put[-1]
                    put.pop()
            else:
                put, waiting = waiting, None
            if len(basket) + len(put) > target and source.random() < 0.5:
                waiting = put
                if basket:
                    break
                continue
            basket.update(put)
        baskets.append(sorted(basket))
    return baskets
