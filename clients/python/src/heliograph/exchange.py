"""Sends one request and reads its whole answer, within a time limit."""

from __future__ import annotations

import http.client
import io
import json
import select
import socket
import ssl
import threading
import time
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple

from .errors import Answer, ConnectionError, read_count, to_error
from .forks import renew_after_fork

#: Far above any response of the service. It limits the memory that a faulty proxy can use.
MOST_BYTES = 16 * 1024 * 1024
#: How long an idle connection is kept if the server does not say it.
_KEPT_SECONDS = 4
_MOST_KEPT = 100
_NOT_THE_SERVICE = "The server at this address is not Heliograph: check base_url."


class _BrokenAnswer(Exception):
    """The response cannot be used."""


class Origin(NamedTuple):
    is_secure: bool
    host: str
    port: Optional[int]


class Wire:
    """The connections to one service."""

    def __init__(
        self, origin: Origin, timeout: float, user_agent: Optional[str], context: Optional[ssl.SSLContext]
    ) -> None:
        self._origin = origin
        #: For one attempt, including its whole response.
        self._timeout = timeout
        self._user_agent = user_agent
        self._context = context
        self._idle: List[Tuple[http.client.HTTPConnection, float]] = []
        self.renew()
        renew_after_fork(self)

    def renew(self) -> None:
        """The sockets of a parent process are left alone."""
        self._lock = threading.Lock()
        self._left_to_parent = self._idle
        self._idle = []

    def exchange(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Optional[bytes] = None,
        *,
        extra: float = 0.0,
        deadline: float = float("inf"),
    ) -> Answer:
        """Sends a request once. Raises a ConnectionError without a complete response."""
        began = time.monotonic()
        end = min(began + self._timeout + extra, deadline)
        limit = round(end - began, 3)
        connection = self._take()
        is_reusable = False
        try:
            sent = {"accept": "application/json", **headers}
            if self._user_agent is not None:
                sent["user-agent"] = self._user_agent
            answer, kept = _exchange_once(connection, end, method, path, sent, body)
            is_reusable = kept > 0
            return answer
        except (OSError, http.client.HTTPException, UnicodeError, _BrokenAnswer) as error:
            # Until Python 3.10 the socket's error was not a TimeoutError.
            is_late = isinstance(error, (TimeoutError, socket.timeout))
            reason = f"no response within {limit:g} seconds" if is_late else _reason_of(error)
            raise ConnectionError(f"The service could not be reached: {reason}") from error
        finally:
            if is_reusable:
                self._keep(connection, kept)
            else:
                connection.close()

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection, until = self._idle.pop()
            if time.monotonic() < until and _is_quiet(connection.sock):
                return connection
            connection.close()
        is_secure, host, port = self._origin
        if is_secure:
            return http.client.HTTPSConnection(host, port, context=self._context)
        return http.client.HTTPConnection(host, port)

    def _keep(self, connection: http.client.HTTPConnection, seconds: float) -> None:
        with self._lock:
            if len(self._idle) < _MOST_KEPT:
                self._idle.append((connection, time.monotonic() + seconds))
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()


def _exchange_once(
    connection: http.client.HTTPConnection,
    end: float,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: Optional[bytes],
) -> Tuple[Answer, float]:
    """The answer, and for how many seconds its connection may be kept."""
    connection.timeout = _left(end)
    if connection.sock is None:
        connection.connect()
    sock: Any = connection.sock
    sock.settimeout(_left(end))
    connection.response_class = _response_class(end)
    connection.request(method, path, body=body, headers=dict(headers))
    response = connection.getresponse()
    content = response.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise _BrokenAnswer(f"the response has more than {MOST_BYTES} bytes")
    if response.length:
        raise _BrokenAnswer("the response ended early")
    answer_headers = {name.lower(): value for name, value in response.getheaders()}
    kept = 0.0 if response.will_close or not response.isclosed() else _kept_for(answer_headers.get("keep-alive"))
    return Answer(response.status, answer_headers, _read_json(response.status, answer_headers, content)), kept


def _read_json(status: int, headers: Mapping[str, str], content: bytes) -> Any:
    if content == b"":
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        # Truncated JSON is a lost connection. Anything else is a page of a proxy.
        if 200 <= status <= 299 and headers.get("content-type", "").lower().startswith("application/json"):
            raise _BrokenAnswer("the response is not JSON") from error
        return None


def require_success(answer: Answer) -> Any:
    """The JSON of a success; raises the service's error otherwise."""
    status, _, body = answer
    if not 200 <= status <= 299:
        if body is not None or 400 <= status <= 599:
            raise to_error(answer)
        raise to_error(answer, f"{_NOT_THE_SERVICE} It answered {status}.")
    if body is None and status != 204:
        raise to_error(answer, _NOT_THE_SERVICE)
    return body


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


def _reason_of(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _kept_for(header: Optional[str]) -> float:
    """A second less than the server says, because it counts from an earlier moment."""
    name, _, seconds = (header or "").partition("=")
    told = read_count(seconds.split(",")[0].strip()) if name.strip().lower() == "timeout" else None
    return float(_KEPT_SECONDS if told is None else max(0, told - 1))


def _is_quiet(sock: Optional[socket.socket]) -> bool:
    """An idle connection that can be read has ended, or has bytes that belong to no request."""
    if sock is None:
        return False
    try:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(sock, select.POLLIN)
            return not poll.poll(0)
        return not select.select([sock], [], [], 0)[0]
    except (OSError, ValueError):
        return False


class _TimedReader(io.RawIOBase):
    """Reads from a socket until a point in time: a socket's own timeout begins anew with each byte."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock = sock
        self._end = end
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._sock.settimeout(_left(self._end))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedSocket:
    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock = sock
        self._end = end

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._end))


def _response_class(end: float) -> Any:
    def create(sock: socket.socket, *args: Any, **named: Any) -> http.client.HTTPResponse:
        timed: Any = _TimedSocket(sock, end)
        return http.client.HTTPResponse(timed, *args, **named)

    return create
