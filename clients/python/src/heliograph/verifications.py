"""Verifies numbers by code."""

from __future__ import annotations

from typing import Dict, Optional, cast

from .events import Events
from .lists import Pages, pages_at
from .transport import Transport, path_part
from .types import (
    CanceledVerification,
    CheckedVerification,
    GuardDecision,
    NewVerification,
    NumberToCheck,
    Payment,
    ReportedVerification,
    StartedVerification,
    Verification,
    VerificationFilters,
)

_BASE = "/verify/v1/verifications"


class Verifications:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        #: The events of verifications.
        self.events = Events(transport)

    def start(
        self, verification: NewVerification, *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> StartedVerification:
        """Sends a code to a number.

        A second start while one is pending continues it, with the same code. With a ``code`` of your own, another code
        replaces it.
        """
        body: Dict[str, object] = {"channel": "sms"}
        body.update(verification)
        return cast(StartedVerification, self._transport.post(_BASE, body, idempotency_key, within))

    def check(
        self,
        id: str,
        code: str,
        *,
        payment: Optional[Payment] = None,
        idempotency_key: Optional[str] = None,
        within: Optional[float] = None,
    ) -> CheckedVerification:
        """Checks the code that a person entered. ``valid`` says whether it was correct.

        With a ``payment`` that is another one than the verification was started with, it fails.
        """
        body: Dict[str, object] = {"code": code}
        if payment is not None:
            body["payment"] = payment
        return cast(CheckedVerification, self._transport.post(_path_of(id), body, idempotency_key, within))

    def check_number(
        self, check: NumberToCheck, *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> CheckedVerification:
        """The same by number: the pending verification, else the newest that started within 24 hours."""
        return cast(CheckedVerification, self._transport.post("/verify/v1/checks", check, idempotency_key, within))

    def outcome(self, id: str, outcome: str, *, within: Optional[float] = None) -> ReportedVerification:
        """Reports the outcome of a code of your own that you checked yourself: ``approved`` or ``failed``."""
        path, body = f"{_path_of(id)}/outcome", {"outcome": outcome}
        return cast(ReportedVerification, self._transport.call("PUT", path, body=body, within=within))

    def get(self, id: str, *, within: Optional[float] = None) -> Verification:
        return cast(Verification, self._transport.call("GET", _path_of(id), within=within))

    def list(
        self, filters: Optional[VerificationFilters] = None, *, within: Optional[float] = None
    ) -> Pages[Verification]:
        """Newest first."""
        return pages_at(self._transport, _BASE, filters, within)

    def cancel(self, id: str, *, within: Optional[float] = None) -> CanceledVerification:
        return cast(CanceledVerification, self._transport.call("DELETE", _path_of(id), within=within))

    def explain(
        self, to: str, *, idempotency_key: Optional[str] = None, within: Optional[float] = None
    ) -> GuardDecision:
        """Explains whether a start for this number would be allowed. It sends nothing."""
        path, body = "/verify/v1/guard/explain", {"to": to}
        return cast(GuardDecision, self._transport.post(path, body, idempotency_key, within))


def _path_of(id: str) -> str:
    return f"{_BASE}/{path_part('id', id)}"
