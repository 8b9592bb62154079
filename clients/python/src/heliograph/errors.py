"""What a call can raise."""

from __future__ import annotations

import builtins
from typing import Any, List, Mapping, NamedTuple, Optional

from .types import FieldProblem


class HeliographError(Exception):
    """The service refused the call. Quote ``correlation_id`` when you report a problem."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: Optional[str] = None,
        details: Optional[List[FieldProblem]] = None,
        correlation_id: Optional[str] = None,
        retry_after_seconds: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        #: For example ``INVALID_ARGUMENT``; None where the service names none, as with a 429.
        self.code = code
        #: Every bad field of a 400.
        self.details = details or []
        self.correlation_id = correlation_id
        #: How long the service asks you to wait.
        self.retry_after_seconds = retry_after_seconds


class ConnectionError(builtins.ConnectionError):
    """No complete response arrived: the connection was lost or refused, or it timed out. ``__cause__`` has the reason."""


class SignatureError(Exception):
    """A webhook, or a proof of a number, that is not from the service, or is expired."""


class Answer(NamedTuple):
    """The response to one request, with its JSON; None without a body."""

    status: int
    headers: Mapping[str, str]
    body: Any


def to_error(answer: Answer, message: Optional[str] = None) -> HeliographError:
    """Reads the service's error format, or RFC 6749's of the token endpoint."""
    given = answer.body if isinstance(answer.body, dict) and message is None else {}
    details = given.get("details")
    said = message or text_of(given.get("message")) or text_of(given.get("error_description"))
    return HeliographError(
        said or f"The service answered {answer.status}.",
        status=answer.status,
        code=text_of(given.get("code")) or text_of(given.get("error")),
        details=[each for each in details if _is_problem(each)] if isinstance(details, list) else [],
        correlation_id=text_of(given.get("correlation_id")) or answer.headers.get("x-correlation-id"),
        retry_after_seconds=read_count(answer.headers.get("retry-after")),
    )


def read_count(text: Optional[str]) -> Optional[int]:
    """A number of at most nine digits, else None."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else None


def text_of(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def _is_problem(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("field", "message"))
