"""The durations of Server-Timing, summed up for Prometheus."""

from prometheus_client import CollectorRegistry, Histogram, generate_latest

from .timing import Timing

_STEPS = (1, 1.5, 2, 3, 5, 7.5)
BUCKETS = [0.0005, 0.00075, *(step * 10**power for power in range(-3, 1) for step in _STEPS), 10, 15, 20, 30]


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "panel_component_seconds",
            "What the parts of a request took.",
            ["component", "route"],
            buckets=BUCKETS,
            registry=self._registry,
        )

    def observe(self, timing: Timing) -> None:
        for component, seconds in timing.calls:
            self._seconds.labels(component, timing.route).observe(seconds)

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self._registry)
