"""How long the parts of a request took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

ROUTE = "route"
"""The component that is the whole operation."""


class Timing:
    """The measured calls of one request, in the order in which they ended."""

    def __init__(self, route: str) -> None:
        self.route = route
        self.calls: list[tuple[str, float]] = []
        """Component and seconds."""

    @contextmanager
    def measure(self, component: str) -> Iterator[None]:
        """Counts also what ends in an exception."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.calls.append((component, time.perf_counter() - start))

    def header(self) -> str:
        """The value of a Server-Timing header (https://www.w3.org/TR/server-timing/), in milliseconds.

        The route, which holds the others, comes first.
        """
        calls = sorted(self.calls, key=lambda call: call[0] != ROUTE)
        return ", ".join(f"{component};dur={seconds * 1000:.3f}" for component, seconds in calls)
