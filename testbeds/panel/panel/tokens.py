"""The one admin's log-in, and tokens (JWT) that only this process can make."""

import hmac
import math
import secrets
import time

import jwt
from fastapi import HTTPException
from fastapi.security import OAuth2PasswordBearer

from .settings import Settings

_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_ALGORITHM = "HS256"

bearer = OAuth2PasswordBearer("/api/admin/token")
"""Takes the token from a request. Raises HTTPException: 401 where there is none."""


class Tokens:
    def __init__(self, settings: Settings) -> None:
        self._admin = (settings.username.encode(), settings.password.encode())
        self._lifetime_s = settings.token_seconds
        self._key = secrets.token_bytes(32)

    def issue(self, username: str, password: str) -> str:
        """Raises HTTPException: 401 for a wrong name or password."""
        right_name = hmac.compare_digest(username.encode(), self._admin[0])
        right_password = hmac.compare_digest(password.encode(), self._admin[1])
        if not (right_name and right_password):
            raise HTTPException(401, "Incorrect username or password", _CHALLENGE)
        # Whole seconds are all that is compared: rounded up, a token lives as long as it should.
        claims = {"sub": username, "exp": math.ceil(time.time() + self._lifetime_s)}
        return jwt.encode(claims, self._key, _ALGORITHM)

    def check(self, token: str) -> None:
        """Raises HTTPException: 401 for a token that is not ours, or no longer valid."""
        try:
            jwt.decode(token, self._key, [_ALGORITHM])
        except jwt.InvalidTokenError as error:
            raise HTTPException(401, "Could not validate credentials", _CHALLENGE) from error
