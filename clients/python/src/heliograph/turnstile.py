"""Limits the concurrent calls of one API, and makes them wait together after a 429."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Callable, Optional

from .errors import ConnectionError, HeliographError
from .forks import renew_after_fork

#: Each active call has a connection, and a process can open only a limited number of files.
MOST_UNDER_WAY = 100


class Place:
    """A call that waits, or waited, for its turn."""

    def __init__(self, chances: int) -> None:
        #: How many more closings the call may wait for.
        self.chances = chances
        self.closings = 0
        self.is_through = False
        self.error: Optional[HeliographError] = None
        #: Set when the place, or when the gate opens, has changed.
        self.stirred = threading.Event()


class Gate:
    """The rule, without threads: callers hold a lock.

    After a 429 all calls wait, because a call sent too early prolongs the limit. Then the gate admits one call, then two,
    four and so on, but never more than the responses say is left.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._closed_until = float("-inf")
        # The most concurrent calls after a 429; None if there was none.
        self._room: Optional[int] = None
        self._under_way = 0
        # First in, first out.
        self._waiting: "OrderedDict[Place, None]" = OrderedDict()

    def ask(self, chances: int) -> Place:
        place = Place(chances)
        self._waiting[place] = None
        self.let_go()
        return place

    def let_go(self) -> None:
        while self._waiting and self._may_go():
            place, _ = self._waiting.popitem(last=False)
            self._under_way += 1
            place.is_through = True
            place.stirred.set()

    def leave(self, remaining: Optional[int]) -> None:
        """``remaining`` is the remaining limit of the response."""
        self._under_way -= 1
        if self._room is not None and remaining is not None and not self.is_closed():
            self._room = max(1, min(self._room * 2, remaining))
        self.let_go()
        if not self._waiting and self._under_way == 0 and not self.is_closed():
            self._room = None

    def close(self, seconds: float, error: HeliographError) -> None:
        """No call is sent before then. Calls that were active together report the same closing."""
        is_new = not self.is_closed()
        self._closed_until = max(self._closed_until, self._now() + seconds)
        self._room = 1
        if not is_new:
            return
        for place in list(self._waiting):
            place.closings += 1
            if place.closings > place.chances:
                place.error = error
                del self._waiting[place]
            # It has to wait for another moment now.
            place.stirred.set()

    def withdraw(self, place: Place) -> None:
        if place.is_through:
            self.leave(None)
        else:
            self._waiting.pop(place, None)
            self.let_go()

    def is_closed(self) -> bool:
        return self._now() < self._closed_until

    def opens_in(self) -> Optional[float]:
        """Seconds until the gate opens; None while it is open."""
        return self._closed_until - self._now() if self.is_closed() else None

    def _may_go(self) -> bool:
        room = MOST_UNDER_WAY if self._room is None else min(self._room, MOST_UNDER_WAY)
        return not self.is_closed() and self._under_way < room


class Turnstile:
    """The gate for threads."""

    def __init__(self) -> None:
        self.renew()
        renew_after_fork(self)

    def renew(self) -> None:
        self._lock = threading.Lock()
        self._gate = Gate(time.monotonic)

    def enter(self, chances: int, deadline: float) -> int:
        """Returns when the call may be sent; it must then ``leave``.

        Returns how often the gate closed meanwhile: a 429 of one call is one for all that wait, so a call that has no
        ``chances`` left raises the same error.
        """
        with self._lock:
            place = self._gate.ask(chances)
        try:
            while not place.is_through and place.error is None:
                place.stirred.wait(self._seconds_to_wait(deadline))
                place.stirred.clear()
                with self._lock:
                    self._gate.let_go()
            if place.error is not None:
                raise place.error
            return place.closings
        except BaseException:
            if place.error is None:
                with self._lock:
                    self._gate.withdraw(place)
            raise

    def _seconds_to_wait(self, deadline: float) -> Optional[float]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ConnectionError("The call was not sent: its time ended while it waited for its turn.")
        with self._lock:
            opens = self._gate.opens_in()
        wanted = left if opens is None else min(left, opens)
        return None if wanted == float("inf") else wanted

    def leave(self, remaining: Optional[int]) -> None:
        with self._lock:
            self._gate.leave(remaining)

    def close(self, seconds: float, error: HeliographError) -> None:
        with self._lock:
            self._gate.close(seconds, error)
