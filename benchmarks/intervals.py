"""The median of a few values, with a confidence interval."""

import math
import statistics

CONFIDENCE = 0.95
LEAST = 6  # fewer values have no interval with that confidence


def interval(values: list[float]) -> tuple[float, float]:
    """The narrowest interval of the median with CONFIDENCE, by order statistics."""
    ordered, n = sorted(values), len(values)
    outside = 0.0
    rank = 0
    while rank < (n - 1) // 2:
        outside += 2 * math.comb(n, rank) / 2**n
        if outside > 1 - CONFIDENCE:
            break
        rank += 1
    rank = max(0, rank - 1)
    return ordered[rank], ordered[n - 1 - rank]


def shown(values: list[float], digits: int) -> str:
    low, high = interval(values)
    return f"{statistics.median(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
