"""Settings from the testbed, read once at the start."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Settings:
    """Times are whole seconds; addresses are on loopback."""

    driver: str
    database_url: str
    pool_size: int
    max_overflow: int
    pool_timeout_s: int
    lock_timeout_s: int
    threads: int
    xray: str
    xray_api: str
    inbound_tag: str
    inbound_port: int
    username: str
    password: str
    token_seconds: int
    server_timing: bool
    prometheus: bool
    traffic_interval_s: int

    @classmethod
    def from_environment(cls) -> Self:
        """PANEL_POOL_SIZE is pool_size. Raises KeyError for a missing variable, ValueError for no number."""
        return cls(**{of.name: _READ[of.type](os.environ[f"PANEL_{of.name.upper()}"]) for of in fields(cls)})


_READ: dict[Any, Callable[[str], Any]] = {str: str, int: int, bool: lambda text: text == "true"}
