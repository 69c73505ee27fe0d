"""Settings from the testbed, read once at the start."""

import os
from dataclasses import dataclass
from typing import Self


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
        """Raises KeyError for a missing variable, ValueError for a malformed number."""
        return cls(
            driver=_text("DRIVER"),
            database_url=_text("DATABASE_URL"),
            pool_size=_number("POOL_SIZE"),
            max_overflow=_number("MAX_OVERFLOW"),
            pool_timeout_s=_number("POOL_TIMEOUT_S"),
            lock_timeout_s=_number("LOCK_TIMEOUT_S"),
            threads=_number("THREADS"),
            xray=_text("XRAY"),
            xray_api=_text("XRAY_API"),
            inbound_tag=_text("INBOUND_TAG"),
            inbound_port=_number("INBOUND_PORT"),
            username=_text("USERNAME"),
            password=_text("PASSWORD"),
            token_seconds=_number("TOKEN_SECONDS"),
            server_timing=_switch("SERVER_TIMING"),
            prometheus=_switch("PROMETHEUS"),
            traffic_interval_s=_number("TRAFFIC_INTERVAL_S"),
        )


def _text(name: str) -> str:
    return os.environ[f"PANEL_{name}"]


def _number(name: str) -> int:
    return int(_text(name))


def _switch(name: str) -> bool:
    return _text(name) == "true"
