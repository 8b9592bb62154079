"""Where a client has its address and credentials from."""

from __future__ import annotations

import math
import os
from typing import Mapping, NamedTuple, Optional
from urllib.parse import quote, urlsplit

from .exchange import Origin

#: The options that can come from the environment, and their settings there.
SETTINGS = {
    "base_url": "HELIOGRAPH_URL",
    "api_key": "HELIOGRAPH_API_KEY",
    "client_id": "HELIOGRAPH_CLIENT_ID",
    "client_secret": "HELIOGRAPH_CLIENT_SECRET",
}
_LONGEST_TIMEOUT = 86_400 * 20


class Address(NamedTuple):
    origin: Origin
    #: Without a slash at its end.
    path: str

    def realm_path(self, realm: str) -> str:
        return f"{self.path}/realms/{quote(realm, safe='')}"


class Connection:
    """The address and the credentials of a client.

    Without ``base_url`` what is not given comes from the environment. With it nothing does: credentials of the environment
    are for its own service, and must not go to another.
    """

    def __init__(self, given: Mapping[str, Optional[str]], environment: Optional[Mapping[str, str]] = None) -> None:
        self._from_environment = given.get("base_url") is None
        self._given = given
        self._environment = (os.environ if environment is None else environment) if self._from_environment else {}
        base_url = self._setting_of("base_url")
        if base_url is None:
            raise ValueError(
                "HELIOGRAPH_URL is not set. Set it to the address of the service, or pass base_url to Heliograph(…)."
            )
        self.address = read_base_url(base_url, self._name_of("base_url"))
        self.api_key = self._credential("api_key")
        self.client_id = self._credential("client_id")
        self.client_secret = self._credential("client_secret")

    def missing(self, *names: str) -> ValueError:
        """The error for a call whose credentials are missing; it names those that are."""
        absent = [name for name in names if getattr(self, name) is None]
        settings = " and ".join(SETTINGS[name] for name in absent)
        set_them = f"set {settings}, or " if self._from_environment else ""
        needed = " and ".join(names)
        return ValueError(f"This API needs {needed}: {set_them}pass {' and '.join(absent)} to Heliograph(…).")

    def _setting_of(self, name: str) -> Optional[str]:
        given = self._given.get(name)
        return given if given is not None else self._environment.get(SETTINGS[name]) or None

    def _name_of(self, name: str) -> str:
        return SETTINGS[name] if self._given.get(name) is None and self._from_environment else name

    def _credential(self, name: str) -> Optional[str]:
        return check_credential(self._name_of(name), self._setting_of(name))


def read_base_url(given: str, name: str = "base_url") -> Address:
    """``name`` is the option or the setting that it comes from."""
    try:
        parts = urlsplit(given)
        host, port = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        raise _not_an_address(name) from None
    is_plain = all("!" <= each <= "~" for each in given)
    if parts.scheme == "" or not host or not is_plain:
        raise _not_an_address(name)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{name} must begin with https:// or http://.")
    if "@" in parts.netloc or "?" in given or "#" in given:
        raise ValueError(f"{name} must have no user, query or fragment.")
    return Address(Origin(parts.scheme == "https", host, port), parts.path.rstrip("/"))


def _not_an_address(name: str) -> ValueError:
    return ValueError(f"{name} must be the address of the service, such as https://sms.example.com.")


def check_credential(name: str, value: Optional[str]) -> Optional[str]:
    """Checked here, because a call would only fail later. The message never contains the secret."""
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if 1 <= len(text) <= 1024 and all(" " <= each <= "~" for each in text):
        return text
    raise ValueError(f"{name} must be 1 to 1024 visible ASCII characters.")


def check_timeout(seconds: float) -> float:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if is_number and math.isfinite(seconds) and 0 < seconds <= _LONGEST_TIMEOUT:
        return seconds
    raise ValueError(f"timeout must be a number of seconds above 0, at most {_LONGEST_TIMEOUT}.")
