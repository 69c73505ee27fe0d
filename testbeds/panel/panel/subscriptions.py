"""Subscriptions, as Marzban 0.8.4 answers them: a user's token, and the formats by the client's name."""

import base64
import hashlib
import json
import math
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_SIGNATURE = 10
_FORMATS = (
    (r"[Cc]lash-verge|[Cc]lash[-.]?[Mm]eta|[Ff][Ll][Cc]lash|[Mm]ihomo", "clash"),
    (r"[Cc]lash|[Ss]tash", "clash"),
    (r"SFA|SFI|SFM|SFT|[Kk]aring|[Hh]iddify[Nn]ext", "sing-box"),
    (r"SS|SSR|SSD|SSS|Outline|Shadowsocks|SSconf", "outline"),
)


@dataclass(frozen=True)
class Server:
    """A user's entry of the inbound."""

    remark: str
    port: int
    method: str
    password: str


@dataclass(frozen=True)
class Document:
    text: str
    media_type: str
    headers: dict[str, str]


class Links:
    """Issues tokens that only this process can check."""

    def __init__(self) -> None:
        self._key = secrets.token_hex(32)

    def url(self, username: str) -> str:
        data = base64.urlsafe_b64encode(f"{username},{math.ceil(time.time())}".encode()).decode().rstrip("=")
        return f"/sub/{data}{self._sign(data)}"

    def username(self, token: str) -> str | None:
        """The user of a token; None for a token that is not ours."""
        data, signature = token[:-_SIGNATURE], token[-_SIGNATURE:]
        if not data or not secrets.compare_digest(signature.encode(), self._sign(data).encode()):
            return None
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)).decode().split(",")[0]

    def _sign(self, data: str) -> str:
        digest = hashlib.sha256((data + self._key).encode()).digest()
        return base64.urlsafe_b64encode(digest).decode()[:_SIGNATURE]


def document(agent: str, username: str, used: int, servers: list[Server]) -> Document:
    """The answer to a client that calls itself `agent`."""
    form = next((form for pattern, form in _FORMATS if re.match(pattern, agent)), "v2ray")
    text, media_type = {"clash": _clash, "sing-box": _sing_box, "outline": _outline, "v2ray": _v2ray}[form](
        servers
    )
    headers = {
        "content-disposition": f'attachment; filename="{username}"',
        "profile-update-interval": "12",
        "subscription-userinfo": f"upload=0; download={used}; total=0; expire=0",
    }
    return Document(text, media_type, headers)


def _v2ray(servers: list[Server]) -> tuple[str, str]:
    links = [
        f"ss://{_base64(f'{one.method}:{one.password}')}@127.0.0.1:{one.port}#{quote(one.remark)}"
        for one in servers
    ]
    return _base64("\n".join(links)), "text/plain"


def _clash(servers: list[Server]) -> tuple[str, str]:
    # A text in JSON is one in YAML, too.
    names = ", ".join(json.dumps(one.remark) for one in servers)
    proxies = [
        f"- name: {json.dumps(one.remark)}\n  type: ss\n  server: 127.0.0.1\n  port: {one.port}\n"
        f"  cipher: {one.method}\n  password: {json.dumps(one.password)}\n  udp: true\n"
        for one in servers
    ]
    groups = f"proxy-groups:\n- name: Proxy\n  type: select\n  proxies: [{names}]\n"
    rules = "rules:\n- MATCH,Proxy\n"
    return f"mode: global\nproxies:\n{''.join(proxies)}{groups}{rules}", "text/yaml"


def _sing_box(servers: list[Server]) -> tuple[str, str]:
    outbounds: list[dict[str, Any]] = [
        {
            "type": "shadowsocks",
            "tag": one.remark,
            "server": "127.0.0.1",
            "server_port": one.port,
            "method": one.method,
            "password": one.password,
        }
        for one in servers
    ]
    select = {"type": "selector", "tag": "Proxy", "outbounds": [one.remark for one in servers]}
    return json.dumps({"outbounds": [select, *outbounds, {"type": "direct", "tag": "direct"}]}, indent=4), (
        "application/json"
    )


def _outline(servers: list[Server]) -> tuple[str, str]:
    last: dict[str, Any] = {}
    for one in servers:
        last = {
            "method": one.method,
            "password": one.password,
            "server": "127.0.0.1",
            "server_port": one.port,
            "tag": one.remark,
        }
    return json.dumps(last, indent=0), "application/json"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
