"""Keeps the token of one scope, and requests a new one."""

from __future__ import annotations

import random
import threading
import time
from typing import Callable, NamedTuple, Optional
from urllib.parse import urlencode

from .errors import ConnectionError, to_error
from .exchange import Wire, require_success
from .forks import renew_after_fork
from .retry import retry_after

_EARLIEST_RENEWAL = 30.0


class Token(NamedTuple):
    value: str
    #: When to request a new one: shortly before it expires.
    renew_at: float


class TokenAnswer(NamedTuple):
    access_token: str
    expires_in: float


class _Request:
    """A request for a token that is under way. All threads that wait share it."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.error: Optional[Exception] = None


class Tokens:
    def __init__(self, ask: Callable[[float], TokenAnswer], now: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._now = now
        self.renew()
        renew_after_fork(self)

    def renew(self) -> None:
        self._lock = threading.Lock()
        self._current: Optional[Token] = None
        self._asked: Optional[_Request] = None

    def get(self, deadline: float = float("inf")) -> Token:
        while True:
            with self._lock:
                if self._current is not None and self._now() < self._current.renew_at:
                    return self._current
                asked = self._asked
                own = _Request() if asked is None else None
                if own is not None:
                    self._asked = own
            if own is not None:
                return self._fetch(own, deadline)
            if asked is not None:
                self._await(asked, deadline)

    def forget(self, token: Token) -> None:
        """The service refused this token: the next call gets a new one."""
        with self._lock:
            if self._current is token:
                self._current = None

    def _fetch(self, own: _Request, deadline: float) -> Token:
        began = self._now()
        try:
            value, seconds = self._ask(deadline)
            token = Token(value, began + seconds - min(_EARLIEST_RENEWAL, seconds / 10))
            with self._lock:
                self._current = token
            return token
        except Exception as error:
            # Without it the others would each ask again. An interrupted thread leaves it to the next one.
            own.error = error if self._now() < deadline else None
            raise
        finally:
            with self._lock:
                self._asked = None
            own.is_over.set()

    def _await(self, asked: _Request, deadline: float) -> None:
        left = deadline - time.monotonic()
        if not asked.is_over.wait(None if left == float("inf") else max(left, 0)):
            raise ConnectionError("The call was not sent: its time ended while it waited for a token.")
        if asked.error is not None:
            raise asked.error


def request_token(
    wire: Wire, path: str, client_id: str, client_secret: str, scope: str, deadline: float
) -> TokenAnswer:
    """Requests a token by the client credentials grant. It is safe to repeat."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": client_secret,
        "scope": f"openid {scope}",
    }
    headers = {"content-type": "application/x-www-form-urlencoded"}
    retries = 0
    while True:
        try:
            answer = wire.exchange("POST", path, headers, urlencode(form).encode(), deadline=deadline)
            body = require_success(answer)
            if isinstance(body, dict) and _is_token(body.get("access_token")) and _is_number(body.get("expires_in")):
                return TokenAnswer(body["access_token"], body["expires_in"])
            raise to_error(answer, "The token endpoint returned no token.")
        except Exception as error:
            wait = retry_after(error, retries, True, random.random())
            if wait is None or time.monotonic() + wait >= deadline:
                raise
        time.sleep(wait)
        retries += 1


def _is_token(value: object) -> bool:
    """It goes into a header unchanged."""
    return isinstance(value, str) and value != "" and all("!" <= each <= "~" for each in value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
