"""A forked process, such as a worker of gunicorn, must not use its parent's locks and connections."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Renewable(Protocol):
    def renew(self) -> None: ...


_parts: "weakref.WeakSet[Renewable]" = weakref.WeakSet()


def renew_after_fork(part: Renewable) -> None:
    _parts.add(part)


def _renew_all() -> None:
    for part in list(_parts):
        part.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
