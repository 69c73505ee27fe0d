"""The context of an operation (database session, xray), and its workers: threads or the event loop."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import HTTPException
from sqlalchemy import exc
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from . import database
from .settings import Settings
from .timing import ROUTE, Timing
from .xray import AwaitingTransport, BlockingTransport, Client, Xray, XrayError

log = logging.getLogger("panel")
T = TypeVar("T")


class Work:
    """Database session and xray of one request. Its calls are measured."""

    def __init__(self, session: Session, xray: Xray, timing: Timing) -> None:
        self._session = session
        self._timing = timing
        self.xray = xray

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Wait for a connection, commit at the end, and give the connection back.

        Raises HTTPException 500 if the wait for a lock or for a free connection takes too long.
        """
        try:
            with self._timing.measure("database_pool"):
                self._session.connection()
            with self._timing.measure("database"):
                try:
                    yield self._session
                    self._session.commit()
                finally:
                    self._session.close()
        except exc.TimeoutError as error:
            raise _refuse("no database connection is free", error) from error
        except exc.OperationalError as error:
            if database.is_lock(error):
                raise _refuse("database is locked", error) from error
            raise

    def add_to_xray(self, client: Client) -> None:
        """Raises HTTPException 500 if xray refuses."""
        with self.changing_xray("xray_add"):
            self.xray.add(client)

    def remove_from_xray(self, email: str) -> None:
        """Also succeeds if xray does not have the user. Raises HTTPException 500 if xray refuses."""
        with self.changing_xray("xray_remove"):
            self.xray.remove(email)

    @contextmanager
    def changing_xray(self, component: str) -> Iterator[None]:
        try:
            with self._timing.measure(component):
                yield
        except XrayError as error:
            raise _refuse("xray did not take the change", error) from error


Operation = Callable[[Work], T]


class ThreadWorker:
    """For blocking drivers."""

    def __init__(self, settings: Settings) -> None:
        self._engine = database.engine(settings)
        self._transport = BlockingTransport(settings.xray_api)
        self._xray = Xray(self._transport, settings.inbound_tag)
        self._threads = CapacityLimiter(settings.threads)

    async def run(self, timing: Timing, operation: Operation[T]) -> T:
        def work() -> T:
            return _perform(Session(self._engine, expire_on_commit=False), self._xray, timing, operation)

        return await to_thread.run_sync(work, limiter=self._threads)

    async def close(self) -> None:
        self._engine.dispose()
        await self._transport.close()


class LoopWorker:
    """For asynchronous drivers. Create it on the event loop."""

    def __init__(self, settings: Settings) -> None:
        self._engine = database.async_engine(settings)
        self._transport = AwaitingTransport(settings.xray_api)
        self._xray = Xray(self._transport, settings.inbound_tag)

    async def run(self, timing: Timing, operation: Operation[T]) -> T:
        # _perform() closes the session. `async with` would start another task to close it again.
        session = AsyncSession(self._engine, expire_on_commit=False)
        return await session.run_sync(_perform, self._xray, timing, operation)

    async def close(self) -> None:
        await self._engine.dispose()
        await self._transport.close()


Worker = ThreadWorker | LoopWorker


def worker(settings: Settings) -> Worker:
    return LoopWorker(settings) if settings.driver == "asyncmy" else ThreadWorker(settings)


def _perform(session: Session, xray: Xray, timing: Timing, operation: Operation[T]) -> T:
    with timing.measure(ROUTE):
        return operation(Work(session, xray, timing))


def _refuse(detail: str, error: Exception) -> HTTPException:
    log.error("%s: %s", detail, " ".join(str(error).split()))
    return HTTPException(500, detail)
