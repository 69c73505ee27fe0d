"""The log-in of the only admin, and tokens (JWT) that only this process can issue."""

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
"""Takes the token from a request. Raises HTTPException 401 without a token."""


class Tokens:
    def __init__(self, settings: Settings) -> None:
        self._admin = (settings.username.encode(), settings.password.encode())
        self._lifetime_s = settings.token_seconds
        self._key = secrets.token_bytes(32)

    def issue(self, username: str, password: str) -> str:
        """Raises HTTPException 401 for a wrong name or password."""
        right_name = hmac.compare_digest(username.encode(), self._admin[0])
        right_password = hmac.compare_digest(password.encode(), self._admin[1])
        if not (right_name and right_password):
            raise HTTPException(401, "Incorrect username or password", _CHALLENGE)
        # Expiry has a resolution of 1 s. It is rounded up, so that no token expires too early.
        claims = {"sub": username, "exp": math.ceil(time.time() + self._lifetime_s)}
        return jwt.encode(claims, self._key, _ALGORITHM)

    def check(self, token: str) -> None:
        """Raises HTTPException 401 for a token that is not ours, or has expired."""
        try:
            jwt.decode(token, self._key, [_ALGORITHM])
        except jwt.InvalidTokenError as error:
            raise HTTPException(401, "Could not validate credentials", _CHALLENGE) from error
