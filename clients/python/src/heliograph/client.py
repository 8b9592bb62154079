"""The client."""

from __future__ import annotations

import ssl
from typing import Any, Optional

from .exchange import Wire
from .messages import BatchMessages, Messages
from .proof import Proof, Proofs
from .settings import Connection, check_credential, check_timeout
from .tokens import TokenAnswer, Tokens, request_token
from .transport import Credential, Transport
from .types import Payment
from .verifications import Verifications


class Heliograph:
    """A client of the service. It manages tokens itself, and retries calls where that is safe.

    Without ``base_url`` it reads HELIOGRAPH_URL, HELIOGRAPH_API_KEY, HELIOGRAPH_CLIENT_ID and HELIOGRAPH_CLIENT_SECRET; with
    it nothing of the environment. ``api_key`` is for ``sms``, ``client_id`` and ``client_secret`` for ``verify`` and
    ``messaging``. ``timeout`` is for one attempt; every call also takes ``within``, the seconds for all its attempts and waits.
    Threads may share one client.
    """

    def __init__(
        self,
        base_url: Optional[str] = None,
        *,
        api_key: Optional[str] = None,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        realm: str = "heliograph",
        timeout: float = 30.0,
        user_agent: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        given = {"base_url": base_url, "api_key": api_key, "client_id": client_id, "client_secret": client_secret}
        known = Connection(given)
        address = known.address
        checked = check_credential("user_agent", user_agent)
        wire = Wire(address.origin, check_timeout(timeout), checked, ssl_context)
        realm_path = address.realm_path(realm)

        def by_key() -> Credential:
            if known.api_key is None:
                raise known.missing("api_key")
            return known.api_key

        def by_token(scope: str) -> Transport:
            def ask(deadline: float) -> TokenAnswer:
                if known.client_id is None or known.client_secret is None:
                    raise known.missing("client_id", "client_secret")
                path = f"{realm_path}/protocol/openid-connect/token"
                return request_token(wire, path, known.client_id, known.client_secret, scope, deadline)

            tokens = Tokens(ask)
            return Transport(wire, address.path, lambda: tokens)

        self._wire = wire
        self._proofs = Proofs(wire, realm_path)
        #: The SMS Messaging API, by API key.
        self.sms = Messages(Transport(wire, address.path, by_key), "/sms/v1")
        #: The Messaging API, by token.
        self.messaging = BatchMessages(by_token("messaging:send"), "/messaging/v1")
        #: The Verification API, by token.
        self.verify = Verifications(by_token("verify:manage"))

    def verify_proof(
        self, proof: str, *, audience: str, payment: Optional[Payment] = None, now: Optional[float] = None
    ) -> Proof:
        """Checks a proof that a number was verified for your application, and returns its content.

        With a ``payment``, a proof for another one, or for none, is refused. It needs the package ``cryptography``.
        """
        return self._proofs.verify(proof, audience, payment, now)

    def close(self) -> None:
        """Closes the idle connections. The client opens new ones if it is used again."""
        self._wire.close()

    def __enter__(self) -> "Heliograph":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
