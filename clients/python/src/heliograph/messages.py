"""Texts: the SMS Messaging API, or the Messaging API, which also takes batches."""

from __future__ import annotations

from typing import Optional, Sequence, cast

from .events import Events
from .inbound import Inbound, OptOuts
from .lists import Pages, pages_at
from .transport import Transport, path_part
from .types import Message, MessageBatch, MessageFilters, MessagePreview, NewMessage


class Messages:
    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = base
        #: Texts that people sent to your numbers.
        self.inbound = Inbound(transport, f"{base}/inbound")
        #: People who opted out of your application's texts.
        self.opt_outs = OptOuts(transport, f"{base}/opt-outs")
        #: The events of your texts.
        self.events = Events(transport)

    def send(
        self, message: NewMessage, *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> Message:
        """Sends a text. When this returns, the text is stored and will be sent once, even if the call was retried."""
        return cast(Message, self._transport.post(f"{self._base}/messages", message, idempotency_key, within))

    def get(self, id: str, *, within: Optional[float] = None) -> Message:
        return cast(Message, self._transport.call("GET", self._path_of(id), within=within))

    def list(self, filters: Optional[MessageFilters] = None, *, within: Optional[float] = None) -> Pages[Message]:
        """Newest first."""
        return pages_at(self._transport, f"{self._base}/messages", filters, within)

    def cancel(self, id: str, *, within: Optional[float] = None) -> Message:
        """Cancels a text that was not sent yet."""
        return cast(Message, self._transport.call("DELETE", self._path_of(id), within=within))

    def preview(
        self, message: str, *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> MessagePreview:
        """Counts the segments of a text. It sends nothing."""
        path, body = f"{self._base}/messages/preview", {"message": message}
        return cast(MessagePreview, self._transport.post(path, body, idempotency_key, within))

    def _path_of(self, id: str) -> str:
        return f"{self._base}/messages/{path_part('id', id)}"


class BatchMessages(Messages):
    def send_batch(
        self, messages: Sequence[NewMessage], *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> MessageBatch:
        """Sends up to 100 texts in one call. Each is accepted or refused on its own."""
        path, body = f"{self._base}/messages/batch", {"messages": [*messages]}
        return cast(MessageBatch, self._transport.post(path, body, idempotency_key, within))
