"""A git remote's URL, reduced to what names the repository: `host/path`, or a plain path."""

from __future__ import annotations


def normalise(url: str) -> str:
    """Return what stays of a remote's URL when only the repository's name counts.

    Scheme, user, password, port, query, fragment, trailing `/` and `.git` go, the host is lower-cased: the
    SSH, the scp-like and the HTTPS form of one repository become equal. `file:` URLs and plain paths become
    the path. An empty or senseless URL gives "". What was normalised before stays as it is.
    """
    text = url.strip()
    helper, colons, address = text.partition("::")
    if colons and _is_scheme(helper):
        text = address
    scheme, mark, rest = text.partition("://")
    if not mark or not _is_scheme(scheme):
        return _plain(text)
    authority, slash, path = _without_query(rest).partition("/")
    if scheme.lower() == "file":
        return _path(path if has_drive(path) else slash + path)
    return _joined(_host(authority), path)


def is_path(normalised: str) -> bool:
    """Tell whether a normalised remote is a path of this machine and not `host/path`."""
    return normalised.startswith((".", "/")) or has_drive(normalised)


def has_drive(path: str) -> bool:
    """Tell whether a path begins with a drive of Windows."""
    return path[:1].isascii() and path[:1].isalpha() and path[1:3] in (":/", ":\\")


def name_of(normalised: str) -> str:
    """Return the last part of a normalised remote, percent-decoded: the repository's own name."""
    from urllib.parse import unquote

    return unquote(normalised.rstrip("/").rpartition("/")[2])


def _plain(text: str) -> str:
    """Read what has no scheme: `user@host:path`, or a path."""
    if text.startswith("[") and "]/" in text:
        return _joined(*text.split("/", 1))
    before, colon, after = _scp(text)
    if not colon or "/" in before or has_drive(text):
        return _path(text)
    return _joined(_host(before), _without_query(after))


def _scp(text: str) -> tuple[str, str, str]:
    """Split at the colon that ends the host; brackets hold an IPv6 address or `[host:port]`."""
    user, at, rest = text.rpartition("@") if "@" in text.partition("/")[0] else ("", "", text)
    if rest.startswith("[") and "]:" in rest:
        host, _, path = rest.partition("]:")
        return user + at + host + "]", ":", path
    host, colon, path = rest.partition(":")
    return user + at + host, colon, path


def _host(authority: str) -> str:
    host = authority.rpartition("@")[2].lower()
    if host.startswith("["):
        inner = host[1:].partition("]")[0]
        return f"[{inner}]" if inner.count(":") > 1 else inner.partition(":")[0]
    return host.partition(":")[0]


def _joined(host: str, path: str) -> str:
    rest = _trimmed(path).lstrip("/")
    return f"{host}/{rest}" if host and rest else host or rest


def _path(text: str) -> str:
    path = text.replace("\\", "/") if has_drive(text) else text
    return _trimmed(path) or ("/" if path.startswith("/") else "")


def _trimmed(path: str) -> str:
    short = path
    while "//" in short:
        short = short.replace("//", "/")
    short = short.rstrip("/")
    return short.removesuffix(".git").rstrip("/")


def _without_query(text: str) -> str:
    return text.partition("?")[0].partition("#")[0]


def _is_scheme(text: str) -> bool:
    return text.isascii() and text[:1].isalpha() and text.translate(_SIGNS).isalnum()


_SIGNS = {ord(sign): None for sign in "+.-"}
