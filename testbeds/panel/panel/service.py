"""The running panel: its worker, its admin, its measurements."""

import asyncio
import contextlib
import subprocess
from typing import Any, Self, TypeVar

from fastapi import HTTPException
from sqlalchemy import select
from starlette.responses import JSONResponse, Response

from .metrics import Metrics
from .settings import Settings
from .tables import Admin, Base, Inbound
from .timing import Timing
from .tokens import Tokens
from .users import Users
from .work import Operation, Work, Worker, worker

T = TypeVar("T")


class Service:
    def __init__(self, settings: Settings, worker: Worker, users: Users) -> None:
        self.settings = settings
        self.users = users
        self.tokens = Tokens(settings)
        self.metrics = Metrics()
        self.xray_version = _xray_version(settings.xray)
        self._worker = worker
        self._restarting = asyncio.Lock()
        self._recording = asyncio.create_task(self._record())

    @classmethod
    async def start(cls, settings: Settings) -> Self:
        """On the event loop. Creates missing tables, and loads the users into xray."""
        made = worker(settings)
        admin_id = await made.run(Timing("prepare"), lambda work: _prepare(work, settings))
        users = Users(settings.inbound_tag, settings.inbound_port, admin_id)
        await made.run(Timing("start"), users.load_into_xray)
        return cls(settings, made, users)

    async def _record(self) -> None:
        """Records the users' traffic again and again, as Marzban's job does."""
        while True:
            await asyncio.sleep(self.settings.traffic_interval_s)
            # The refusal is in the log.
            with contextlib.suppress(HTTPException):
                await self._worker.run(Timing("record_traffic"), self.users.record_traffic)

    async def stop(self) -> None:
        self._recording.cancel()
        await self._worker.close()

    async def answer(self, route: str, operation: Operation[Any]) -> JSONResponse:
        """Run the operation, and report how long its parts took, also if it was refused."""
        body, headers = await self._run(route, operation)
        return JSONResponse(body, headers=headers)

    async def subscription(self, token: str, agent: str) -> Response:
        """As answer(), in the format of the client."""
        found, headers = await self._run(
            "get_subscription", lambda work: self.users.subscription(work, token, agent)
        )
        return Response(found.text, headers={**found.headers, **headers}, media_type=found.media_type)

    async def _run(self, route: str, operation: Operation[T]) -> tuple[T, dict[str, str]]:
        timing = Timing(route)
        try:
            result = await self._worker.run(timing, operation)
        except HTTPException as refusal:
            refusal.headers = {**(refusal.headers or {}), **self._headers(timing)}
            raise
        finally:
            if self.settings.prometheus:
                self.metrics.observe(timing)
        return result, self._headers(timing)

    async def restart(self) -> JSONResponse:
        # During a restart the inbound is missing for a moment, so a second restart must wait.
        async with self._restarting:
            return await self.answer("restart_core", self.users.load_into_xray)

    def core(self, work: Work) -> dict[str, Any]:
        return {"version": self.xray_version, "started": work.xray.started()}

    def inbounds(self, _work: Work) -> dict[str, Any]:
        inbound = {
            "tag": self.settings.inbound_tag,
            "protocol": "shadowsocks",
            "network": "tcp",
            "tls": "none",
            "port": self.settings.inbound_port,
        }
        return {"shadowsocks": [inbound]}

    def _headers(self, timing: Timing) -> dict[str, str]:
        return {"Server-Timing": timing.header()} if self.settings.server_timing else {}


def _prepare(work: Work, settings: Settings) -> int:
    """Returns the admin's id."""
    with work.transaction() as session:
        Base.metadata.create_all(session.connection())
        if session.scalar(select(Inbound).where(Inbound.tag == settings.inbound_tag)) is None:
            session.add(Inbound(tag=settings.inbound_tag))
        admin = session.scalar(select(Admin).where(Admin.username == settings.username))
        if admin is None:
            admin = Admin(username=settings.username, is_sudo=True)
            session.add(admin)
        session.flush()
        return admin.id


def _xray_version(program: str) -> str:
    result = subprocess.run([program, "version"], capture_output=True, text=True, check=True, timeout=10)
    return result.stdout.split()[1]
