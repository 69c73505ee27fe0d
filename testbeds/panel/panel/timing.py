"""Durations of the parts of a request."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

ROUTE = "route"
"""Name of the component for the whole operation."""


class Timing:
    """The measured calls of one request, in order of their ends."""

    def __init__(self, route: str) -> None:
        self.route = route
        self.calls: list[tuple[str, float]] = []
        """Pairs of component and seconds."""

    @contextmanager
    def measure(self, component: str) -> Iterator[None]:
        """Also counts calls that end in an exception."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.calls.append((component, time.perf_counter() - start))

    def header(self) -> str:
        """The value of a Server-Timing header (https://www.w3.org/TR/server-timing/), in milliseconds.

        The route, which includes the other components, comes first.
        """
        calls = sorted(self.calls, key=lambda call: call[0] != ROUTE)
        return ", ".join(f"{component};dur={seconds * 1000:.3f}" for component, seconds in calls)
