"""Request bodies, and the query of a list."""

import secrets
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from .tables import Protocol, ResetStrategy, Status

Seconds = Annotated[int, Field(ge=0, le=2**31 - 1)]
Bytes = Annotated[int, Field(ge=0, le=2**63 - 1)]
Note = Annotated[str, Field(max_length=500)]
Inbounds = dict[Protocol, list[str]]
"""Tags by protocol; an empty list means all tags."""


class ProxySettings(BaseModel):
    """Settings of Shadowsocks, the only protocol with an inbound."""

    password: str = Field(default_factory=lambda: secrets.token_urlsafe(16), min_length=1, max_length=256)
    method: Literal["aes-128-gcm", "aes-256-gcm", "chacha20-ietf-poly1305", "xchacha20-poly1305"] = (
        "chacha20-ietf-poly1305"
    )


class NewUser(BaseModel):
    username: str = Field(pattern=r"^[A-Za-z0-9_]{3,32}$")
    proxies: dict[Protocol, ProxySettings] = Field(min_length=1)
    # None: the user is in no inbound; {}: in all.
    inbounds: Inbounds | None = None
    status: Literal[Status.active, Status.on_hold] = Status.active
    expire: Seconds | None = None
    data_limit: Bytes | None = None
    data_limit_reset_strategy: ResetStrategy = ResetStrategy.no_reset
    note: Note | None = None
    on_hold_expire_duration: Seconds | None = None
    on_hold_timeout: datetime | None = None


class Changes(BaseModel):
    """Fields that are missing, null or {} stay unchanged."""

    proxies: dict[Protocol, ProxySettings] = {}
    inbounds: Inbounds = {}
    status: Literal[Status.active, Status.disabled, Status.on_hold] | None = None
    expire: Seconds | None = None
    data_limit: Bytes | None = None
    data_limit_reset_strategy: ResetStrategy | None = None
    note: Note | None = None
    on_hold_expire_duration: Seconds | None = None
    on_hold_timeout: datetime | None = None


class Page(BaseModel):
    offset: Annotated[int, Field(ge=0)] | None = None
    limit: Annotated[int, Field(ge=0)] | None = None
    username: list[str] = []
    search: str | None = None
    status: Status | None = None
    sort: str | None = None
