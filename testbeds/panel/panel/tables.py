"""The part of Marzban's schema that the panel needs, with Marzban's names, so one SQL seeds both."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Enum, ForeignKey, String, Table
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Status(StrEnum):
    active = "active"
    disabled = "disabled"
    limited = "limited"
    expired = "expired"
    on_hold = "on_hold"


class ResetStrategy(StrEnum):
    no_reset = "no_reset"
    day = "day"
    week = "week"
    month = "month"
    year = "year"


class Protocol(StrEnum):
    """The tables store the names, the API uses the values."""

    VMess = "vmess"
    VLESS = "vless"
    Trojan = "trojan"
    Shadowsocks = "shadowsocks"


def now() -> datetime:
    """The current time in UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def _this_second() -> datetime:
    """Whole seconds, as a DATETIME of MariaDB: an answer is the same before and after it is stored."""
    return now().replace(microsecond=0)


class Base(DeclarativeBase):
    pass


# MariaDB creates an index for every foreign key; SQLite does not.
excluded_inbounds = Table(
    "exclude_inbounds_association",
    Base.metadata,
    Column("proxy_id", ForeignKey("proxies.id"), index=True),
    Column("inbound_tag", String(256), ForeignKey("inbounds.tag"), index=True),
)


class Admin(Base):
    __tablename__ = "admins"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(34), unique=True)
    hashed_password: Mapped[str | None] = mapped_column(String(128))
    created_at: Mapped[datetime] = mapped_column(default=_this_second)
    is_sudo: Mapped[bool] = mapped_column(default=False)


class Inbound(Base):
    __tablename__ = "inbounds"

    id: Mapped[int] = mapped_column(primary_key=True)
    tag: Mapped[str] = mapped_column(String(256), unique=True)


class Proxy(Base):
    __tablename__ = "proxies"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    type: Mapped[Protocol] = mapped_column(Enum(Protocol))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    excluded_inbounds: Mapped[list[Inbound]] = relationship(secondary=excluded_inbounds)


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    # NOCASE compares as MariaDB's default collation does.
    username: Mapped[str] = mapped_column(
        String(34).with_variant(String(34, collation="NOCASE"), "sqlite"), unique=True
    )
    status: Mapped[Status] = mapped_column(Enum(Status), default=Status.active)
    used_traffic: Mapped[int] = mapped_column(BigInteger, default=0)
    data_limit: Mapped[int | None] = mapped_column(BigInteger)
    data_limit_reset_strategy: Mapped[ResetStrategy] = mapped_column(
        Enum(ResetStrategy), default=ResetStrategy.no_reset
    )
    expire: Mapped[int | None]
    admin_id: Mapped[int | None] = mapped_column(ForeignKey("admins.id"))
    created_at: Mapped[datetime] = mapped_column(default=_this_second)
    note: Mapped[str | None] = mapped_column(String(500))
    on_hold_expire_duration: Mapped[int | None] = mapped_column(BigInteger)
    on_hold_timeout: Mapped[datetime | None]
    edit_at: Mapped[datetime | None]
    sub_updated_at: Mapped[datetime | None]
    sub_last_user_agent: Mapped[str | None] = mapped_column(String(512))
    last_status_change: Mapped[datetime | None] = mapped_column(default=now)
    proxies: Mapped[list[Proxy]] = relationship(cascade="all, delete-orphan")
