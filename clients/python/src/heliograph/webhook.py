"""Checks that a webhook comes from the service."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, cast

from .errors import SignatureError
from .types import Event

Headers = Union[Mapping[str, Any], Iterable[Tuple[Any, Any]]]


def verify_webhook(
    headers: Headers,
    body: Union[str, bytes, bytearray, memoryview],
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> Event:
    """Checks that a webhook comes from the service and is fresh, and returns its event.

    ``headers`` are those of Flask, Django, Starlette or ``http.server``, or pairs. ``body`` must be the received body, byte
    for byte. ``secret`` may be several during a rotation. A webhook older than ``tolerance_seconds`` could be a replay.
    """
    keys = _read_secrets(secret)
    content = _read_body(body)
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    id, timestamp, signatures = (_read_header(headers, name) for name in names)
    if id is None or timestamp is None or signatures is None:
        raise SignatureError("The headers webhook-id, webhook-timestamp and webhook-signature are required, once each.")
    moment = time.time() if now is None else now
    is_time = re.fullmatch("[0-9]{1,12}", timestamp, re.ASCII) is not None
    # Written so that a tolerance that is no number refuses.
    if not is_time or not abs(moment - int(timestamp)) <= tolerance_seconds:
        raise SignatureError(f"The webhook was not sent within the last {tolerance_seconds:g} seconds.")
    signed = f"{id}.{timestamp}.".encode() + content
    given = [each for text in signatures.split(" ") for each in _read_signature(text)]
    for key in keys:
        wanted = hmac.new(key, signed, hashlib.sha256).digest()
        if any(hmac.compare_digest(each, wanted) for each in given):
            return cast(Event, json.loads(content))
    raise SignatureError("No signature of the webhook matches the secret.")


def _read_secrets(secret: Union[str, Sequence[str]]) -> List[bytes]:
    secrets = [secret] if isinstance(secret, str) or not isinstance(secret, Sequence) else secret
    if len(secrets) == 0:
        raise ValueError("secret must contain at least one secret.")
    keys = []
    for each in secrets:
        found = re.fullmatch("whsec_([A-Za-z0-9+/_-]+={0,2})", each, re.ASCII) if isinstance(each, str) else None
        key = None if found is None else from_base64(found.group(1))
        if key is None:
            raise ValueError("secret must be the secret of the webhook: whsec_ and base64.")
        keys.append(key)
    return keys


def _read_body(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError("body must be the received text or bytes, not parsed JSON.")


def _read_header(headers: Headers, name: str) -> Optional[str]:
    """The only value of a header."""
    items: Any = getattr(headers, "items", None)
    pairs = items() if callable(items) else headers
    values: List[Any] = []
    for key, value in pairs:
        if _text_of(key).lower() == name:
            values.extend(value if isinstance(value, (list, tuple)) else [value])
    return _text_of(values[0]) if len(values) == 1 else None


def _text_of(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _read_signature(text: str) -> List[bytes]:
    """``v1,…``; other versions may follow it."""
    version, _, signature = text.partition(",")
    decoded = from_base64(signature) if version == "v1" else None
    return [] if decoded is None else [decoded]


def from_base64(text: str) -> Optional[bytes]:
    """Bytes of base64 or base64url, with or without padding; None for other text."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
