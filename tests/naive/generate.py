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
                block = list(patterns[pattern])
                while block and source.random() < corruption[pattern]:
                    gone = int(source.random() * len(block))
                    block[gone] = block[-1]
                    block.pop()
            else:
                block, waiting = waiting, None
            if len(basket) + len(block) > target and source.random() < 0.5:
                waiting = block
                if basket:
                    break
                continue
            basket.update(block)
        baskets.append(sorted(basket))
    return baskets
