"""Builds the package: for pip (PEP 517), and as a program, `python3 package.py <folder>`.

It needs nothing but Python, and makes the same bytes from the same sources: no times, owners or order of a disk.
"""

import base64
import hashlib
import io
import pathlib
import re
import struct
import sys
import tarfile
import zipfile
import zlib
from typing import Dict, List, Optional

HERE = pathlib.Path(__file__).resolve().parent
#: The first moment that a zip file can hold.
EARLIEST = (1980, 1, 1, 0, 0, 0)


def setting(name: str) -> str:
    """pip reads pyproject.toml itself; Python reads TOML only since 3.11."""
    found = re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no {name}.")
    return found.group(1)


def metadata() -> bytes:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {setting('name')}",
        f"Version: {setting('version')}",
        f"Summary: {setting('description')}",
        "License: Apache-2.0",
        f"Requires-Python: {setting('requires-python')}",
        "Provides-Extra: proofs",
        "Requires-Dist: cryptography; extra == 'proofs'",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join([*lines, "", (HERE / "README.md").read_text("utf-8")]).encode()


def sources() -> Dict[str, bytes]:
    folder = HERE / "src"
    files = sorted(path for path in folder.rglob("*") if path.name == "py.typed" or path.suffix == ".py")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def wheel_files() -> Dict[str, bytes]:
    info = f"{setting('name')}-{setting('version')}.dist-info"
    files = sources()
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: heliograph\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{name},sha256={checksum(content)},{len(content)}\n" for name, content in files.items()]
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    return files


def checksum(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: Optional[str] = None) -> str:
    name = f"{setting('name')}-{setting('version')}-py3-none-any.whl"
    # Stored, not compressed: versions of zlib compress differently.
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_STORED) as archive:
        for path, content in wheel_files().items():
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    root = f"{setting('name')}-{setting('version')}"
    files = {f"src/{path}": content for path, content in sources().items()}
    for name in ("README.md", "package.py", "pyproject.toml"):
        files[name] = (HERE / name).read_bytes()
    files["PKG-INFO"] = metadata()
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size = len(files[path])
            archive.addfile(entry, io.BytesIO(files[path]))
    (pathlib.Path(sdist_directory) / f"{root}.tar.gz").write_bytes(stored_gzip(plain.getvalue()))
    return f"{root}.tar.gz"


def stored_gzip(content: bytes) -> bytes:
    """Not compressed, and written here, because versions of zlib differ even then (RFC 1951, section 3.2.4)."""
    pieces = [content[start : start + 0xFFFF] for start in range(0, len(content), 0xFFFF)] or [b""]
    head = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    blocks = [
        struct.pack("<BHH", place == len(pieces) - 1, len(piece), len(piece) ^ 0xFFFF) + piece
        for place, piece in enumerate(pieces)
    ]
    return head + b"".join(blocks) + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)


def get_requires_for_build_wheel(config_settings: object = None) -> List[str]:
    return []


def get_requires_for_build_sdist(config_settings: object = None) -> List[str]:
    return []


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
    print(build_sdist(sys.argv[1]))
