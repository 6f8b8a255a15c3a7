"""Speed and memory, as ratios against other packages run beside."""
