"""The operations on users. Each runs in one worker, for every driver."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from fastapi import HTTPException
from sqlalchemy import Table, bindparam, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, selectinload

from .schemas import Changes, Inbounds, NewUser, Page
from .subscriptions import Document, Links, Server, document
from .tables import Inbound, Protocol, Proxy, Status, User, excluded_inbounds, now
from .work import Work
from .xray import Client

Body = dict[str, Any]

_LOADED = selectinload(User.proxies).selectinload(Proxy.excluded_inbounds)
_IN_XRAY = (Status.active, Status.on_hold)
_SORTABLE = {
    "username": User.username,
    "used_traffic": User.used_traffic,
    "data_limit": User.data_limit,
    "expire": User.expire,
    "created_at": User.created_at,
}


class Users:
    """All users of one inbound; they belong to one admin."""

    def __init__(self, tag: str, port: int, admin_id: int) -> None:
        self._tag = tag
        self._port = port
        self._admin_id = admin_id
        self._links = Links()
        self._unwritten: Counter[int] = Counter()
        """Bytes by id of the user that xray has told and the database does not have."""

    def create(self, work: Work, new: NewUser) -> Body:
        """Raises HTTPException 409 for an existing name, 400, 422."""
        _check_protocols(new.proxies)
        excluded = self._excluded(new.inbounds)
        with work.transaction() as session:
            user = User(
                **new.model_dump(exclude={"proxies", "inbounds", "expire", "data_limit"}),
                expire=new.expire or None,
                data_limit=new.data_limit or None,
                admin_id=self._admin_id,
                proxies=[
                    Proxy(
                        type=protocol,
                        settings=settings.model_dump(),
                        excluded_inbounds=_inbounds(session, excluded),
                    )
                    for protocol, settings in new.proxies.items()
                ],
            )
            session.add(user)
            try:
                session.flush()
            except IntegrityError as error:
                raise HTTPException(409, "User already exists") from error
            body = self._body(user)
        for client in self._clients(user):
            work.add_to_xray(client)
        return body

    def get(self, work: Work, username: str) -> Body:
        """Raises HTTPException 404."""
        with work.transaction() as session:
            return self._body(_find(session, username))

    def modify(self, work: Work, username: str, changes: Changes) -> Body:
        """Raises HTTPException 404, 400, 422."""
        _check_protocols(changes.proxies)
        with work.transaction() as session:
            user = _find(session, username)
            self._apply(session, user, changes)
            session.flush()
            body = self._body(user)
        work.remove_from_xray(_email(user.id, user.username))
        if user.status in _IN_XRAY:
            for client in self._clients(user):
                work.add_to_xray(client)
        return body

    def delete(self, work: Work, username: str) -> Body:
        """Raises HTTPException 404."""
        with work.transaction() as session:
            user = _find(session, username)
            session.delete(user)
        work.remove_from_xray(_email(user.id, user.username))
        return {"detail": "User successfully deleted"}

    def page(self, work: Work, page: Page) -> Body:
        """One page, and the total number of users. Raises HTTPException 400 for an unknown order."""
        wanted = select(User)
        if page.username:
            wanted = wanted.where(User.username.in_(page.username))
        if page.search:
            wanted = wanted.where(or_(User.username.icontains(page.search), User.note.icontains(page.search)))
        if page.status:
            wanted = wanted.where(User.status == page.status)
        ordered = wanted.options(_LOADED).order_by(*_order(page.sort), User.id)
        listed = ordered.offset(page.offset).limit(page.limit)
        with work.transaction() as session:
            total = session.scalar(wanted.with_only_columns(func.count(User.id)))
            return {"users": [self._body(user) for user in session.scalars(listed)], "total": total}

    def subscription(self, work: Work, token: str, agent: str) -> Document:
        """Returns the subscription for a client of the user. As Marzban does, it notes time and client.

        Raises HTTPException 404.
        """
        username = self._links.username(token)
        if username is None:
            raise HTTPException(404, "Not Found")
        with work.transaction() as session:
            user = _find(session, username)
            user.sub_updated_at = now()
            user.sub_last_user_agent = agent[:512]
            session.flush()
            servers = [
                Server(f"Marz ({username}) [Shadowsocks - tcp]", self._port, one.method, one.password)
                for one in self._clients(user)
            ]
            return document(agent, username, user.used_traffic, servers)

    def count(self, work: Work) -> dict[str, int]:
        """Numbers of users, in total and by status."""
        with work.transaction() as session:
            rows = session.execute(select(User.status, func.count()).group_by(User.status)).tuples()
            by_status = dict(rows.all())
        counts = {f"users_{status}": by_status.get(status, 0) for status in Status}
        return {"total_user": sum(by_status.values()), **counts}

    def record_traffic(self, work: Work) -> None:
        """Adds what xray has counted to the users. The next call writes what fails now."""
        with work.changing_xray("xray_traffic"):
            for email, count in work.xray.take_traffic().items():
                self._unwritten[int(email.split(".")[0])] += count
        if not self._unwritten:
            return
        table = cast(Table, User.__table__)
        adding = (
            update(table)
            .where(table.c.id == bindparam("user"))
            .values(used_traffic=table.c.used_traffic + bindparam("more"))
        )
        # All writers change users in the same order, so that none waits for another in a circle.
        rows = [{"user": user, "more": count} for user, count in sorted(self._unwritten.items())]
        with work.transaction() as session:
            session.connection().execute(adding, rows)
        self._unwritten.clear()

    def load_into_xray(self, work: Work) -> Body:
        """Create the inbound again, with the users that the database has for it."""
        excluded = select(excluded_inbounds.c.proxy_id).where(excluded_inbounds.c.inbound_tag == self._tag)
        rows = (
            select(User.id, User.username, Proxy.settings)
            .join(User.proxies)
            .where(Proxy.type == Protocol.Shadowsocks, User.status.in_(_IN_XRAY), Proxy.id.not_in(excluded))
        )
        with work.transaction() as session:
            clients = [_client(*row) for row in session.execute(rows).tuples()]
        with work.changing_xray("xray_remove"):
            inbound = work.xray.inbound()
            work.xray.remove_inbound()
        with work.changing_xray("xray_add"):
            work.xray.add_inbound(inbound, clients)
        return {}

    def _apply(self, session: Session, user: User, changes: Changes) -> None:
        if changes.status is not None and changes.status != user.status:
            user.status = changes.status
            user.last_status_change = now()
        for name in ("expire", "data_limit", "note"):
            if getattr(changes, name) is not None:
                setattr(user, name, getattr(changes, name) or None)
        for name in ("data_limit_reset_strategy", "on_hold_expire_duration", "on_hold_timeout"):
            if getattr(changes, name) is not None:
                setattr(user, name, getattr(changes, name))
        for proxy in user.proxies:
            if proxy.type in changes.proxies:
                proxy.settings = changes.proxies[proxy.type].model_dump()
            if proxy.type in changes.inbounds:
                proxy.excluded_inbounds = _inbounds(session, self._excluded(changes.inbounds))
        user.edit_at = now()

    def _excluded(self, inbounds: Inbounds | None) -> list[str]:
        """Raises HTTPException 422 for an unknown tag."""
        wanted = [tag for tags in (inbounds or {}).values() for tag in tags]
        for tag in wanted:
            if tag != self._tag:
                raise HTTPException(422, {"inbounds": f"Inbound {tag} doesn't exist"})
        return [self._tag] if inbounds is None else []

    def _clients(self, user: User) -> list[Client]:
        return [
            _client(user.id, user.username, proxy.settings)
            for proxy in user.proxies
            if proxy.type == Protocol.Shadowsocks and not proxy.excluded_inbounds
        ]

    def _body(self, user: User) -> Body:
        excluded = {
            proxy.type: [inbound.tag for inbound in proxy.excluded_inbounds] for proxy in user.proxies
        }
        return {
            "username": user.username,
            "status": user.status,
            "used_traffic": user.used_traffic,
            "lifetime_used_traffic": user.used_traffic,
            "created_at": user.created_at.isoformat(),
            "expire": user.expire,
            "data_limit": user.data_limit,
            "data_limit_reset_strategy": user.data_limit_reset_strategy,
            "note": user.note,
            "on_hold_expire_duration": user.on_hold_expire_duration,
            "on_hold_timeout": user.on_hold_timeout and user.on_hold_timeout.isoformat(),
            "proxies": {proxy.type: proxy.settings for proxy in user.proxies},
            "inbounds": {protocol: [] if tags else [self._tag] for protocol, tags in excluded.items()},
            "excluded_inbounds": excluded,
            "subscription_url": self._links.url(user.username),
        }


def _find(session: Session, username: str) -> User:
    user = session.scalar(select(User).where(User.username == username).options(_LOADED))
    if user is None:
        raise HTTPException(404, "User not found")
    return user


def _inbounds(session: Session, tags: list[str]) -> list[Inbound]:
    return list(session.scalars(select(Inbound).where(Inbound.tag.in_(tags)))) if tags else []


def _check_protocols(protocols: Iterable[Protocol]) -> None:
    for protocol in protocols:
        if protocol != Protocol.Shadowsocks:
            raise HTTPException(400, f"Protocol {protocol} is disabled on your server")


def _order(sort: str | None) -> list[Any]:
    order = []
    for option in sort.strip(",").split(",") if sort else []:
        column = _SORTABLE.get(option.removeprefix("-"))
        if column is None:
            raise HTTPException(400, f'"{option}" is not a valid sort option')
        order.append(column.desc() if option.startswith("-") else column.asc())
    return order


def _client(user_id: int, username: str, settings: dict[str, Any]) -> Client:
    return Client(_email(user_id, username), settings["password"], settings["method"])


def _email(user_id: int, username: str) -> str:
    return f"{user_id}.{username}"
