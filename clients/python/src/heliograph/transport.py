"""Sends the calls of one API with its credential, and retries where that is safe."""

from __future__ import annotations

import json
import random
import secrets
import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Union
from urllib.parse import quote, urlencode

from .errors import HeliographError, read_count
from .exchange import Wire, require_success
from .retry import MOST_RETRIES, closed_for, retry_after
from .tokens import Token, Tokens
from .turnstile import Turnstile

#: An API key, or the tokens of a scope.
Credential = Union[str, Tokens]


class _Prepared(NamedTuple):
    """A request, identical in each attempt."""

    method: str
    path: str
    headers: Dict[str, str]
    body: Optional[bytes]
    wait: float
    repeatable: bool
    deadline: float


class Transport:
    def __init__(self, wire: Wire, base_path: str, credential: Callable[[], Credential]) -> None:
        self._wire = wire
        self._base_path = base_path
        self._credential = credential
        self._turnstile = Turnstile()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        within: Optional[float] = None,
        wait: float = 0,
    ) -> Any:
        """``wait`` is the time of a long poll: the service answers late on purpose."""
        credential = self._credential()
        prepared = _prepare(self._base_path, method, path, query, body, idempotency_key, within, wait)
        is_renewed = False
        retries = 0
        while True:
            retries += self._turnstile.enter(MOST_RETRIES - retries, prepared.deadline)
            token = self._token_in_turn(credential, prepared.deadline)
            try:
                return self._send_in_turn(prepared, _headers_of(credential, token))
            except Exception as error:
                # The token was revoked or its key withdrawn: retry once with a new token.
                if isinstance(credential, Tokens) and token is not None and not is_renewed and _is_status(error, 401):
                    is_renewed = True
                    credential.forget(token)
                    continue
                pause = retry_after(error, retries, prepared.repeatable, random.random())
                if pause is None or time.monotonic() + pause >= prepared.deadline:
                    raise
                is_limited = _is_status(error, 429)
            # After a 429 the turnstile is closed: the call waits there with all others.
            if not is_limited:
                time.sleep(pause)
            retries += 1

    def post(
        self, path: str, body: Any, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> Any:
        """Each logical call has a key: the service executes it once, even if it is sent several times."""
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self.call("POST", path, body=body, idempotency_key=key, within=within)

    def _token_in_turn(self, credential: Credential, deadline: float) -> Optional[Token]:
        """A failed token request had its own retries, so the call leaves."""
        try:
            return credential.get(deadline) if isinstance(credential, Tokens) else None
        except BaseException:
            self._turnstile.leave(None)
            raise

    def _send_in_turn(self, prepared: _Prepared, credential: Mapping[str, str]) -> Any:
        # A long poll would block the others.
        is_long = prepared.wait > 0
        if is_long:
            self._turnstile.leave(None)
        remaining = None
        try:
            headers = {**prepared.headers, **credential}
            answer = self._wire.exchange(
                prepared.method,
                prepared.path,
                headers,
                prepared.body,
                extra=prepared.wait,
                deadline=prepared.deadline,
            )
            remaining = read_count(answer.headers.get("ratelimit-remaining"))
            return require_success(answer)
        except HeliographError as error:
            # Close before this call leaves the turnstile, because the next one would be refused too.
            if error.status == 429:
                self._turnstile.close(closed_for(error, random.random()), error)
            raise
        finally:
            if not is_long:
                self._turnstile.leave(remaining)


def _prepare(
    base_path: str,
    method: str,
    path: str,
    query: Optional[Mapping[str, Any]],
    body: Any,
    key: Optional[str],
    within: Optional[float],
    wait: float,
) -> _Prepared:
    wanted = {name: _query_text(value) for name, value in (query or {}).items() if value is not None}
    headers: Dict[str, str] = {}
    if body is not None:
        headers["content-type"] = "application/json"
    if key is not None:
        headers["idempotency-key"] = _check_key(key)
    if within is not None and not (_is_number(within) and within > 0):
        raise ValueError("within must be a number of seconds above 0.")
    return _Prepared(
        method,
        base_path + path + (f"?{urlencode(wanted)}" if wanted else ""),
        headers,
        # Serialized once: later changes by the caller would be a different call with the same key.
        None if body is None else json.dumps(body, allow_nan=False).encode(),
        wait,
        method == "GET" or key is not None,
        float("inf") if within is None else time.monotonic() + within,
    )


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_key(key: object) -> str:
    """The service refuses other characters."""
    if isinstance(key, str) and 1 <= len(key) <= 255 and all("!" <= each <= "~" for each in key):
        return key
    raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters without spaces.")


def _headers_of(credential: Credential, token: Optional[Token]) -> Dict[str, str]:
    if isinstance(credential, str):
        return {"apikey": credential}
    return {"authorization": f"Bearer {token.value if token is not None else ''}"}


def _is_status(error: BaseException, status: int) -> bool:
    return isinstance(error, HeliographError) and error.status == status


def path_part(name: str, value: object) -> str:
    """An id as a part of a path. A proxy would remove ``.`` and ``..``, and change the call."""
    if isinstance(value, str) and value not in ("", ".", ".."):
        return quote(value, safe="")
    raise ValueError(f"{name} must not be empty.")
