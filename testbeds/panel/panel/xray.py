"""Adds and removes users of a running xray, and reads their traffic, through its gRPC services."""

import asyncio
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NoReturn

import grpc
from sqlalchemy.util import await_

# Compiled from the .proto files at import, so there are no stubs for the type checker.
_handler: Any
_services: Any
_handler, _services = grpc.protos_and_services("panel/protos/handler.proto")
_inbound: Any = grpc.protos("panel/protos/inbound.proto")
_stats: Any
_statistics: Any
_stats, _statistics = grpc.protos_and_services("panel/protos/stats.proto")
_shadowsocks: Any = grpc.protos("panel/protos/shadowsocks.proto")
_typed_message: Any = grpc.protos("panel/protos/typed_message.proto")
_user: Any = grpc.protos("panel/protos/user.proto")

CIPHERS = {
    "aes-128-gcm": _shadowsocks.AES_128_GCM,
    "aes-256-gcm": _shadowsocks.AES_256_GCM,
    "chacha20-ietf-poly1305": _shadowsocks.CHACHA20_POLY1305,
    "xchacha20-poly1305": _shadowsocks.XCHACHA20_POLY1305,
}
"""Methods of Shadowsocks: their names in the API, and their numbers in xray."""

_CALL_TIMEOUT_S = 30
_CALLS_AT_A_TIME = 256
# xray accepts messages of up to 4 MiB, the default of gRPC in Go.
_MESSAGE_BYTES = 3_900_000


class XrayError(Exception):
    """xray was unreachable, or refused a call."""


@dataclass(frozen=True)
class Client:
    """A user in xray."""

    email: str
    password: str
    method: str


def _methods(channel: Any) -> SimpleNamespace:
    """The methods of all services that the panel calls, by name."""
    users = _services.HandlerServiceStub(channel)
    traffic = _statistics.StatsServiceStub(channel)
    return SimpleNamespace(**vars(users), **vars(traffic))


class BlockingTransport:
    """For worker threads: a call blocks the thread."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._stub = _methods(self._channel)

    def call(self, method: str, request: Any) -> Any:
        return getattr(self._stub, method)(request, timeout=_CALL_TIMEOUT_S)

    def call_all(self, method: str, requests: Iterable[Any]) -> None:
        under_way: deque[Any] = deque()
        for request in requests:
            if len(under_way) == _CALLS_AT_A_TIME:
                under_way.popleft().result()
            under_way.append(getattr(self._stub, method).future(request, timeout=_CALL_TIMEOUT_S))
        for call in under_way:
            call.result()

    async def close(self) -> None:
        self._channel.close()


class AwaitingTransport:
    """For SQLAlchemy's greenlets on the event loop: a call does not block the loop."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._stub = _methods(self._channel)

    def call(self, method: str, request: Any) -> Any:
        return await_(getattr(self._stub, method)(request, timeout=_CALL_TIMEOUT_S))

    def call_all(self, method: str, requests: Iterable[Any]) -> None:
        await_(self._gather(method, list(requests)))

    async def _gather(self, method: str, requests: Sequence[Any]) -> None:
        call = getattr(self._stub, method)
        for start in range(0, len(requests), _CALLS_AT_A_TIME):
            batch = requests[start : start + _CALLS_AT_A_TIME]
            await asyncio.gather(*(call(request, timeout=_CALL_TIMEOUT_S) for request in batch))

    async def close(self) -> None:
        await self._channel.close()


Transport = BlockingTransport | AwaitingTransport
"""Makes gRPC calls, with call_all() many, some of them in parallel. Raises grpc.RpcError."""


class Xray:
    """One Shadowsocks inbound. Every method raises XrayError."""

    def __init__(self, transport: Transport, tag: str) -> None:
        self._transport = transport
        self._tag = tag

    def add(self, client: Client) -> None:
        """Add a user. xray does not check for a duplicate e-mail."""
        self._call("AlterInbound", self._addition(_account(client)))

    def remove(self, email: str) -> None:
        """Remove a user, if xray has it. xray searches all users."""
        operation = _handler.RemoveUserOperation(email=email)
        try:
            self._transport.call("AlterInbound", self._alteration(operation))
        except grpc.RpcError as error:
            if not re.search(r"\bUser \S+ not found\.", _reason(error)):
                _fail(error)

    def started(self) -> bool:
        """Whether xray answers and has the inbound."""
        try:
            self.inbound()
        except XrayError:
            return False
        return True

    def inbound(self) -> Any:
        """The configuration of the inbound."""
        listed = self._call("ListInbounds", _handler.ListInboundsRequest())
        for inbound in listed.inbounds:
            if inbound.tag == self._tag:
                return inbound
        raise XrayError(f"there is no inbound {self._tag}")

    def take_traffic(self) -> dict[str, int]:
        """Bytes of both ways since the last call, by e-mail. xray sets its counters to 0."""
        answer = self._call("QueryStats", _stats.QueryStatsRequest(pattern="user>>>", reset=True))
        found: dict[str, int] = {}
        for stat in answer.stat:
            _, email, *_ = stat.name.split(">>>")
            if stat.value:
                found[email] = found.get(email, 0) + stat.value
        return found

    def remove_inbound(self) -> None:
        """Remove the inbound with all its users."""
        self._call("RemoveInbound", _handler.RemoveInboundRequest(tag=self._tag))

    def add_inbound(self, inbound: Any, clients: Iterable[Client]) -> None:
        """Create the inbound with as many users as a message holds: about 30 times faster than one by one."""
        users = [_account(client) for client in clients]
        count, size = 0, 0
        while count < len(users) and size < _MESSAGE_BYTES:
            size += users[count].ByteSize() + 4
            count += 1
        config = _shadowsocks.ServerConfig.FromString(inbound.proxy_settings.value)
        del config.users[:]
        config.users.extend(users[:count])
        anew = _inbound.InboundHandlerConfig(
            tag=self._tag, receiver_settings=inbound.receiver_settings, proxy_settings=_typed(config)
        )
        self._call("AddInbound", _handler.AddInboundRequest(inbound=anew))
        try:
            self._transport.call_all("AlterInbound", (self._addition(user) for user in users[count:]))
        except grpc.RpcError as error:
            _fail(error)

    def _call(self, method: str, request: Any) -> Any:
        try:
            return self._transport.call(method, request)
        except grpc.RpcError as error:
            _fail(error)

    def _addition(self, user: Any) -> Any:
        return self._alteration(_handler.AddUserOperation(user=user))

    def _alteration(self, operation: Any) -> Any:
        return _handler.AlterInboundRequest(tag=self._tag, operation=_typed(operation))


def _account(client: Client) -> Any:
    account = _shadowsocks.Account(password=client.password, cipher_type=CIPHERS[client.method])
    return _user.User(email=client.email, account=_typed(account))


def _typed(message: Any) -> Any:
    return _typed_message.TypedMessage(type=message.DESCRIPTOR.full_name, value=message.SerializeToString())


def _reason(error: grpc.RpcError) -> str:
    # Errors of calls have details(), but the class of the exception does not say so.
    return error.details() or "" if isinstance(error, grpc.Call | grpc.aio.AioRpcError) else str(error)


def _fail(error: grpc.RpcError) -> NoReturn:
    raise XrayError(" ".join(_reason(error).split())) from error
