"""Checks proofs that a number was verified, with the service's public keys."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import OrderedDict
from typing import Any, Callable, Dict, List, NamedTuple, Optional, TypedDict, cast

from .errors import SignatureError
from .exchange import Wire, require_success
from .forks import renew_after_fork
from .retry import retry_after
from .settings import check_timeout, read_base_url
from .types import Payment
from .webhook import from_base64

#: A proof of the service has about 600 characters.
_LONGEST_PROOF = 4096
#: The cache time that the service allows. A withdrawn key is dropped after it.
_KEPT = 300.0
#: Minimum time between fetches for proofs with an unknown key.
_LOOK_AGAIN = 10.0
#: More services than a program uses. Made-up addresses must not fill the memory.
_MOST_SERVICES = 100


class _ProofOptional(TypedDict, total=False):
    #: How the number was verified (RFC 8176), like ``["otp", "sms"]``.
    amr: List[str]
    #: The assurance profile whose every rule held, like ``"nist-800-63b-4"``.
    assurance: str
    #: The payment that the person confirmed.
    payment: Payment


class Proof(_ProofOptional):
    """The content of a proof."""

    iss: str
    #: The application's id.
    aud: str
    #: The verification's id.
    sub: str
    phone_number: str
    phone_number_verified: bool
    iat: int
    exp: int
    jti: str


class _PublicKey(NamedTuple):
    """A public key and its only algorithm."""

    name: str
    is_signed: Callable[[bytes, bytes], bool]


class _Known(NamedTuple):
    issuer: str
    keys: Dict[str, _PublicKey]
    read_at: float


class Proofs:
    """Reads the keys on demand and keeps them. One read serves all threads that wait."""

    def __init__(self, wire: Wire, realm_path: str) -> None:
        self._wire = wire
        self._realm_path = realm_path
        self._known: Optional[_Known] = None
        self.renew()
        renew_after_fork(self)

    def renew(self) -> None:
        self._lock = threading.Lock()

    def verify(
        self, proof: str, audience: str, payment: Optional[Payment] = None, now: Optional[float] = None
    ) -> Proof:
        if not isinstance(audience, str) or audience == "":
            raise ValueError("audience must be the id of your application.")
        if payment is not None:
            _check_payment(payment)
        _require_cryptography()
        parts = proof.split(".") if isinstance(proof, str) and len(proof) <= _LONGEST_PROOF else []
        if len(parts) != 3:
            raise _not_a_proof()
        head, claims, signature = parts
        header, said = _read_part(head), _read_part(claims)
        if header.get("typ") != "phone-proof+jwt":
            raise _not_a_proof()
        issuer, key = self._find(header.get("kid"))
        if key is None or key.name != header.get("alg"):
            raise SignatureError("The proof was signed with an unknown key.")
        given = from_base64(signature)
        if given is None or not key.is_signed(given, f"{head}.{claims}".encode()):
            raise SignatureError("The signature of the proof is wrong.")
        if said.get("iss") != issuer:
            raise SignatureError("The proof is from another service.")
        if said.get("aud") != audience:
            raise SignatureError("The proof is for another application.")
        expires, moment = said.get("exp"), time.time() if now is None else now
        if not isinstance(expires, (int, float)) or isinstance(expires, bool) or not moment < expires:
            raise SignatureError("The proof has expired.")
        if said.get("phone_number_verified") is not True or not isinstance(said.get("phone_number"), str):
            raise _not_a_proof()
        if payment is not None and not _is_payment(said.get("payment"), payment):
            raise SignatureError("The proof is for another payment, or for none.")
        return cast(Proof, said)

    def _find(self, id: object) -> "tuple[str, Optional[_PublicKey]]":
        name = id if isinstance(id, str) else ""
        with self._lock:
            known = self._known
            kept = _KEPT if known is not None and name in known.keys else _LOOK_AGAIN
            if known is None or time.monotonic() - known.read_at >= kept:
                known = self._known = self._read_all()
        return known.issuer, known.keys.get(name)

    def _read_all(self) -> _Known:
        issuer = self._read("/.well-known/openid-configuration").get("issuer")
        keys = self._read("/protocol/openid-connect/certs").get("keys")
        if not isinstance(issuer, str) or not isinstance(keys, list):
            raise ValueError("The server at this address is not Heliograph: check base_url and realm.")
        found = {}
        for jwk in keys:
            key = _import_key(jwk) if isinstance(jwk, dict) and isinstance(jwk.get("kid"), str) else None
            if key is not None:
                found[jwk["kid"]] = key
        return _Known(issuer, found, time.monotonic())

    def _read(self, path: str) -> Dict[str, Any]:
        retries = 0
        while True:
            try:
                body = require_success(self._wire.exchange("GET", self._realm_path + path, {}))
                return body if isinstance(body, dict) else {}
            except Exception as error:
                wait = retry_after(error, retries, True, random.random())
                if wait is None:
                    raise
            time.sleep(wait)
            retries += 1


_services: "OrderedDict[tuple[str, float], Proofs]" = OrderedDict()
_services_lock = threading.Lock()


def verify_proof(
    proof: str,
    *,
    audience: str,
    base_url: str,
    payment: Optional[Payment] = None,
    realm: str = "heliograph",
    timeout: float = 30.0,
    now: Optional[float] = None,
) -> Proof:
    """Checks a proof that a number was verified for your application, and returns its content.

    With a ``payment``, a proof for another one, or for none, is refused. It needs no credential. The public keys of the service at ``base_url`` are read there and kept. It needs the package
    ``cryptography``, the only part of this client that does.
    """
    address = read_base_url(base_url)
    key = (f"{address.path}/realms/{realm} of {address.origin}", check_timeout(timeout))
    with _services_lock:
        proofs = _services.get(key)
        if proofs is None:
            if len(_services) >= _MOST_SERVICES:
                _services.popitem(last=False)
            proofs = _services[key] = Proofs(Wire(address.origin, timeout, None, None), address.realm_path(realm))
    return proofs.verify(proof, audience, payment, now)


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise ImportError("verify_proof needs the package cryptography: pip install cryptography") from error


def _import_key(jwk: Dict[str, Any]) -> Optional[_PublicKey]:
    """The key decides the algorithm, never the proof. Keys of other kinds are ignored."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

    def number(name: str) -> int:
        return int.from_bytes(from_base64(str(jwk.get(name))) or b"", "big")

    try:
        if jwk.get("kty") == "EC" and jwk.get("crv") == "P-256":
            point = ec.EllipticCurvePublicNumbers(number("x"), number("y"), ec.SECP256R1()).public_key()

            def by_curve(signature: bytes, text: bytes) -> bool:
                if len(signature) != 64:
                    return False
                r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
                try:
                    point.verify(utils.encode_dss_signature(r, s), text, ec.ECDSA(hashes.SHA256()))
                    return True
                except InvalidSignature:
                    return False

            return _PublicKey("ES256", by_curve)
        if jwk.get("kty") == "RSA":
            modulus = rsa.RSAPublicNumbers(number("e"), number("n")).public_key()

            def by_modulus(signature: bytes, text: bytes) -> bool:
                try:
                    modulus.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
                    return True
                except InvalidSignature:
                    return False

            return _PublicKey("RS256", by_modulus)
    except ValueError:
        return None
    return None


def _check_payment(payment: Payment) -> None:
    """A number would lose digits, and an empty payment would compare equal to nothing."""
    amount, currency, payee = (payment.get(name) for name in ("amount", "currency", "payee"))
    if not isinstance(amount, str) or re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,3})?", amount) is None:
        raise ValueError('payment["amount"] must be digits in a string, like "10.00".')
    if not isinstance(currency, str) or not isinstance(payee, str):
        raise ValueError("payment must have amount, currency and payee.")


def _is_payment(said: object, payment: Payment) -> bool:
    """10, 10.0 and 10.00 are the same amount."""
    if not isinstance(said, dict) or not isinstance(said.get("amount"), str):
        return False
    is_same = said.get("currency") == payment["currency"] and said.get("payee") == payment["payee"]
    return is_same and _plain_amount(said["amount"]) == _plain_amount(payment["amount"])


def _plain_amount(amount: str) -> str:
    whole, _, part = amount.partition(".")
    return f"{whole.lstrip('0') or '0'}.{part.rstrip('0')}"


def _read_part(text: str) -> Dict[str, Any]:
    decoded = from_base64(text)
    try:
        value = None if decoded is None else json.loads(decoded)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise _not_a_proof()


def _not_a_proof() -> SignatureError:
    return SignatureError("This is not a proof of a number.")
