"""What people send to your numbers."""

from __future__ import annotations

from typing import Optional, cast

from .lists import Pages, pages_at
from .transport import Transport, path_part
from .types import InboundFilters, InboundText, OptOut, OptOutFilters


class Inbound:
    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path

    def get(self, id: str, *, within: Optional[float] = None) -> InboundText:
        path = f"{self._path}/{path_part('id', id)}"
        return cast(InboundText, self._transport.call("GET", path, within=within))

    def list(self, filters: Optional[InboundFilters] = None, *, within: Optional[float] = None) -> Pages[InboundText]:
        """Newest first."""
        return pages_at(self._transport, self._path, filters, within)


class OptOuts:
    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path

    def list(self, filters: Optional[OptOutFilters] = None, *, within: Optional[float] = None) -> Pages[OptOut]:
        return pages_at(self._transport, self._path, filters, within)

    def put(self, number: str, *, within: Optional[float] = None) -> OptOut:
        """Opts a person out of your application's texts."""
        return cast(OptOut, self._transport.call("PUT", self._path_of(number), within=within))

    def remove(self, number: str, *, within: Optional[float] = None) -> None:
        """Undoes ``put``. An opt-out by text can only be undone by that person."""
        self._transport.call("DELETE", self._path_of(number), within=within)

    def _path_of(self, number: str) -> str:
        return f"{self._path}/{path_part('number', number)}"
