"""Which calls are sent again, and when."""

from __future__ import annotations

from typing import Optional

from .errors import ConnectionError, HeliographError

MOST_RETRIES = 3
#: A longer ``Retry-After`` is left to the caller.
LONGEST_WAIT = 60.0

_BUSY = (502, 503, 504)
#: The first retry comes soon, for a stale connection. All retries together outlast a restart.
_PAUSES = (0.3, 1.2, 4.8)


def retry_after(error: BaseException, retries: int, repeatable: bool, random: float) -> Optional[float]:
    """The seconds before a retry; None for no retry. ``random`` is between 0 and 1.

    ``repeatable``: a retry is safe even if the service has executed the call, because it is a read or has a key.
    """
    if retries >= len(_PAUSES):
        return None
    pause = _PAUSES[retries] * (0.5 + random / 2)
    if isinstance(error, ConnectionError):
        return pause if repeatable else None
    if not isinstance(error, HeliographError):
        return None
    told = error.retry_after_seconds or 0
    if told > LONGEST_WAIT:
        return None
    # The service checks limits first, so a refused call had no effect.
    if error.status == 429:
        return closed_for(error, random)
    if error.status == 409 and error.code == "IDEMPOTENCY_IN_PROGRESS":
        return pause
    if error.status in _BUSY and repeatable:
        return max(float(told), pause)
    return None


def closed_for(error: HeliographError, random: float) -> float:
    """How long the API's calls pause after a 429. Several programs may get the same second, so add jitter."""
    told = 1 if error.retry_after_seconds is None else error.retry_after_seconds
    return min(told + random / 4, LONGEST_WAIT)
