"""Client for Heliograph: verify phone numbers, send texts, follow events."""

from .client import Heliograph
from .errors import ConnectionError, HeliographError, SignatureError
from .lists import Page, Pages
from .proof import Proof, verify_proof
from .webhook import verify_webhook

__all__ = [
    "ConnectionError",
    "Heliograph",
    "HeliographError",
    "Page",
    "Pages",
    "Proof",
    "SignatureError",
    "verify_proof",
    "verify_webhook",
]
