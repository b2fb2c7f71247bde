"""Reads what a host sends to a hook, and writes what it is to show: JSON without the `json` module.

`import json` alone would double the cost of a hook; the C half of it is always there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_PATH = 4096
SECRETS = (
    *("sk-", "sk_live_", "rk_live_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gsk_"),
    *("AKIA", "ASIA", "AIza", "xox", "eyJ", "hf_", "npm_", "SG.", "pypi-", "dop_v1_", "xai-", "shpat_"),
)
"""What begins a key: a path or an id with one in it is not written down."""
LEAST_SECRET = 16
"""Characters behind its sign that a key has at least; one of them is a digit."""

_MARK = "\ufeff"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class _Context:
    """How the scanner reads: numbers stay as they are written, so that none can be too large."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = str
    parse_int = str
    parse_constant = str
    memo: Mapping[str, str] = {}


def payload_of(raw: bytes) -> dict[str, Any] | None:
    """Read a payload: UTF-8 whatever the locale, byte order marks passed over; None if it is no object."""
    text = raw.decode("utf-16" if raw[:2] in _UTF_16 else "utf-8", "replace").lstrip(_MARK + " \t\r\n\0")
    if not text.startswith("{"):
        return None
    try:
        value = _scan(text)
    except (ValueError, StopIteration, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _scan(text: str) -> Any:
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    return make_scanner(_Context())(text, 0)[0]  # type: ignore[arg-type]


def quoted(text: str) -> str:
    """Return a text as a JSON string."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring_ascii
    return encode_basestring_ascii(text)


def text_of(quoted_text: str) -> str:
    """Return the text of a JSON string, "" for anything else."""
    try:
        value = _scan(quoted_text)
    except (ValueError, StopIteration, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def number(value: object) -> float:
    """Read a number, 0 for anything else."""
    try:
        return float(value) if isinstance(value, str | int | float) else 0.0
    except ValueError:
        return 0.0


def path_of(text: str) -> str:
    """Return an absolute path as it is, "" for anything that is none."""
    plain = 0 < len(text) <= MAX_PATH and text.isprintable()
    return text if plain and (text[0] == "/" or text[1:3] in (":\\", ":/")) else ""


def folder_of(said: Mapping[str, Any]) -> str:
    """Return the first workspace root of a payload that names roots in place of a folder, else ""."""
    roots = said.get("workspace_roots") or said.get("workspaceRoots")
    for root in roots if isinstance(roots, list) else [roots]:
        if isinstance(root, str) and (found := path_of(root.removeprefix("file://"))):
            return found
    return ""


def harmless(text: str) -> str:
    """Return a path or an id that may be written down, "" for one that may hold a key."""
    return "" if any(_holds(text, sign) for sign in SECRETS) else text


def _holds(text: str, sign: str) -> bool:
    """Tell whether a key with this sign stands in a text: at the beginning of a word, long, with a digit."""
    at = text.find(sign)
    while at >= 0:
        if not text[at - 1 : at].isalnum():
            end = at + len(sign)
            while text[end : end + 1].isalnum() or text[end : end + 1] in {"_", "-", "."}:
                end += 1
            word = text[at + len(sign) : end]
            if len(word) >= LEAST_SECRET and any(char.isdigit() for char in word):
                return True
        at = text.find(sign, at + 1)
    return False


def is_on(env: Mapping[str, str], name: str) -> bool:
    """Tell whether a switch in the environment is on, by the rule of the settings."""
    return env.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")
