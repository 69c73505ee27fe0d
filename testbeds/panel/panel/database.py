"""The database engine of each driver, and the meaning of its errors."""

from typing import Any

from sqlalchemy import Engine, create_engine, event, exc, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from .settings import Settings

_DRIVERS = {"sqlite": "sqlite+pysqlite", "pymysql": "mysql+pymysql", "asyncmy": "mysql+asyncmy"}
_LOCK_WAIT_TIMEOUT, _DEADLOCK = 1205, 1213


def engine(settings: Settings) -> Engine:
    made = create_engine(**_arguments(settings))
    if settings.driver == "sqlite":

        @event.listens_for(made, "connect")
        def _connected(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA journal_mode = WAL")

    return made


def async_engine(settings: Settings) -> AsyncEngine:
    return create_async_engine(**_arguments(settings))


def _arguments(settings: Settings) -> dict[str, Any]:
    url = make_url(settings.database_url).set(drivername=_DRIVERS[settings.driver])
    lite = settings.driver == "sqlite"
    return {
        "url": url,
        # In MariaDB, the server's own setting limits the wait for a lock.
        "connect_args": {"timeout": settings.lock_timeout_s} if lite else {"charset": "utf8mb4"},
        "pool_size": settings.pool_size,
        "max_overflow": settings.max_overflow,
        "pool_timeout": settings.pool_timeout_s,
        # Keeps users' passwords out of logged errors.
        "hide_parameters": True,
    }


def is_lock(error: exc.OperationalError) -> bool:
    """Whether a statement gave up because another transaction held a lock."""
    cause = error.orig
    code = cause.args[0] if cause is not None and cause.args else None
    return code in (_LOCK_WAIT_TIMEOUT, _DEADLOCK) or "database is locked" in str(cause)
