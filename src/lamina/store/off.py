"""Sessions that are never captured, because the person switched Lamina off for the process they ran in.

The hook command notes them in `state/off/`; it runs on the standard library alone and names the files by the
same rule.
"""

from __future__ import annotations

from pathlib import Path
from zlib import adler32, crc32

FOLDER = "state/off"


def name_of(host: str, session: str) -> str:
    """Return the name of the mark of one session."""
    data = session.encode("utf-8", "surrogatepass")
    return f"{host}-{crc32(data):08x}{adler32(data):08x}"


def is_off(root: Path, host: str, session: str) -> bool:
    """Tell whether a session is never to be captured."""
    return (root / FOLDER / name_of(host, session)).exists()
