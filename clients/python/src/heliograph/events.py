"""The changes of an API's records, in order, none missing."""

from __future__ import annotations

import threading
import time
from typing import Callable, Iterator, Optional, Union, cast

from .errors import ConnectionError, HeliographError
from .transport import Transport
from .types import Event, EventPage

_WAIT_SECONDS = 20
_PAUSE = 5.0

Interruption = Union[ConnectionError, HeliographError]


class Events:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def read(
        self,
        *,
        cursor: Optional[str] = None,
        type: Optional[str] = None,
        subject: Optional[str] = None,
        limit: Optional[int] = None,
        wait_seconds: int = 0,
        within: Optional[float] = None,
    ) -> EventPage:
        """Reads the events after a cursor, by default from now on; with ``wait_seconds`` it waits for the first, up to 25."""
        query = {"cursor": cursor, "type": type, "subject": subject, "limit": limit, "wait_seconds": wait_seconds}
        page = self._transport.call("GET", "/events/v1/events", query=query, within=within, wait=wait_seconds)
        return cast(EventPage, page)

    def follow(
        self,
        *,
        cursor: Optional[str] = None,
        type: Optional[str] = None,
        subject: Optional[str] = None,
        on_interrupted: Optional[Callable[[Interruption], None]] = None,
        stop: Optional[threading.Event] = None,
    ) -> Iterator[Event]:
        """Follows the feed until you leave the loop, or set ``stop``: it then ends within 20 seconds.

        Keep the ``id`` of the last event that you have handled: it is the cursor to go on from. A cursor that is too old
        raises a ``HeliographError`` with the code ``CURSOR_EXPIRED``. ``on_interrupted`` is called when the retries of a
        read have failed; the feed then goes on as soon as the service is back. Without it, the loop ends with the error.
        """
        stop = stop or threading.Event()
        while not stop.is_set():
            began = time.monotonic()
            # The first read does not wait, because events before the first cursor could be missed.
            wait = 0 if cursor is None else _WAIT_SECONDS
            try:
                page = self.read(cursor=cursor, type=type, subject=subject, limit=100, wait_seconds=wait)
            except (ConnectionError, HeliographError) as error:
                if on_interrupted is None or not _is_passing(error):
                    raise
                on_interrupted(error)
                stop.wait(max(_PAUSE, _told_by(error)))
                continue
            for event in page["data"]:
                if stop.is_set():
                    return
                yield event
            # A proxy answers instead of letting the service wait.
            if page["next_cursor"] == cursor and time.monotonic() - began < 1:
                stop.wait(1)
            cursor = page["next_cursor"]


def _is_passing(error: Interruption) -> bool:
    return isinstance(error, ConnectionError) or error.status == 429 or error.status >= 500


def _told_by(error: Interruption) -> float:
    return float(error.retry_after_seconds or 0) if isinstance(error, HeliographError) else 0.0
