"""Lists that load their pages while a loop reads them."""

from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, List, Mapping, NamedTuple, Optional, TypeVar

from .transport import Transport

Item = TypeVar("Item")


class Page(NamedTuple):
    """One page of a list. NamedTuple cannot be generic in Python 3.9: ``Pages.page`` says what ``data`` holds."""

    data: List[Any]
    next_cursor: Optional[str]


class Pages(Generic[Item]):
    """``for item in pages`` reads on as far as it is needed. Or take it page by page."""

    def __init__(self, read_page: Callable[[Optional[str]], Any]) -> None:
        self._read_page = read_page

    def page(self, cursor: Optional[str] = None) -> Page:
        """One page: the first, or the one after a ``next_cursor``."""
        page = self._read_page(cursor)
        return Page(page["data"], page["next_cursor"])

    def __iter__(self) -> Iterator[Item]:
        cursor: Optional[str] = None
        while True:
            data, cursor = self.page(cursor)
            yield from data
            if cursor is None:
                return


def pages_at(
    transport: Transport, path: str, filters: Optional[Mapping[str, Any]], within: Optional[float]
) -> Pages[Any]:
    """The list at a path, with 100 items per page unless the filters set a limit. ``within`` is for each page."""

    def read_page(cursor: Optional[str]) -> Any:
        return transport.call("GET", path, query={"limit": 100, **(filters or {}), "cursor": cursor}, within=within)

    return Pages(read_page)
