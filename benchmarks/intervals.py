"""The median of a few values, with an interval that says how well they tell it."""

import math
import statistics

CONFIDENCE = 0.95
LEAST = 6  # with fewer, no interval holds with that confidence


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, by order statistics: the narrowest that holds with CONFIDENCE."""
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
