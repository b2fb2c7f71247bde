"""What a person is told when a model failed: which one, why, and what to do. Never a key or a header."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lamina import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lamina.models.routes import Endpoint
    from lamina.models.wire import Refused

_LONGEST = 200
_CHECK = "check the model and its address: lamina config set model …"
_FOREVER = 7 * 24 * 3600.0
"""Seconds beyond which an endpoint's wish to wait is not believed."""


def check_key(endpoint: Endpoint) -> None:
    """Raise ModelFailed where the key is missing, can't be one, or would go out in the clear."""
    from lamina.models.routes import in_clear

    key, variable = endpoint.key, endpoint.variable
    if not key and not endpoint.keyless:
        raise errors.ModelFailed(
            f"{endpoint.route}: {variable} is not set",
            f"set {variable} to your key, or choose another model: lamina config set model …",
        )
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise errors.ModelFailed(
            f"{endpoint.route}: what {variable} holds is no key", f"set {variable} to the key alone"
        )
    if key and variable != "LAMINA_MODEL_KEY" and in_clear(endpoint.url):
        raise errors.ModelFailed(
            f"{endpoint.route}: the key in {variable} would go to another machine unencrypted",
            "use an https address, or provider `custom` with the key in LAMINA_MODEL_KEY",
        )


def refused(endpoint: Endpoint, answer: Refused) -> errors.ModelFailed:
    """Tell what an answer with an error's status means."""
    status = answer.status
    told = clip(_told(answer.body), endpoint)
    why = f"HTTP {status}{': ' + told if told else ''}"
    if status in (401, 403):
        hint = f"set {endpoint.variable} to a valid key" if endpoint.variable else _CHECK
        what = "refuses the key" if endpoint.key else "wants a key"
        return errors.ModelFailed(f"{endpoint.route} {what} ({why})", hint)
    if status == 404:
        hint = f"check the name of the model, or choose another: lamina config set model …{_pull(endpoint)}"
        return errors.ModelFailed(f"{endpoint.route} is not known there ({why})", hint)
    if 300 <= status < 400:
        return errors.ModelFailed(
            f"{endpoint.route} sends elsewhere (HTTP {status}), where neither text nor key may go",
            "check the address in model_base_url",
        )
    if 200 <= status < 300:
        return odd(endpoint, "sent no stream that can be read")
    if status in (408, 425, 429) or status >= 500:
        what = "is out of calls for now" if status == 429 else "is not available now"
        return errors.ModelFailed(
            f"{endpoint.route} {what} ({why})",
            "nothing is lost: the work is tried again later",
            retry_after_s=retry_after(answer.headers, answer.body),
        )
    return errors.ModelFailed(f"{endpoint.route} refused ({why})", _CHECK)


def declined(endpoint: Endpoint, why: str) -> errors.ModelFailed:
    """Tell that the model or its filter would not answer."""
    return errors.ModelFailed(
        f"{endpoint.route} declined to answer: {clip(why, endpoint)}",
        "another model may answer: lamina config set model …",
    )


def unreachable(endpoint: Endpoint, fault: BaseException) -> errors.ModelFailed:
    """Tell that no connection came about."""
    hint = f"start its server, or {_CHECK}" if endpoint.keyless else "check the network and the address"
    return errors.ModelFailed(f"{endpoint.route} can't be reached: {clip(_reason(fault), endpoint)}", hint)


def silent(endpoint: Endpoint, within_s: float, *, late: bool) -> errors.ModelFailed:
    """Tell that the time passed, or that an answer stopped coming."""
    what = f"sent no text within {within_s:g} s" if late else "fell silent before any text"
    return errors.ModelFailed(f"{endpoint.route} {what}", "give it more time, or choose a faster model")


def odd(endpoint: Endpoint, what: str) -> errors.ModelFailed:
    """Tell that an endpoint answered, and not as one."""
    return errors.ModelFailed(f"{endpoint.route} {what}", _CHECK)


def reported(fault: BaseException) -> str:
    """Return what an endpoint reported in the midst of a stream, "" if the fault is none of its words."""
    body = getattr(fault, "body", None) or getattr(fault, "details", None)
    return _message(body) if body else ""


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Return the seconds an endpoint asks to wait: a number, a date, or Google's RetryInfo in the body."""
    named = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if (seconds := _number(named.get(name, ""))) is not None:
            return min(seconds / unit, _FOREVER)
    if (until := named.get("retry-after")) and (seconds := _until(until, named.get("date", ""))) is not None:
        return min(seconds, _FOREVER)
    delay = re.search(rb'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"', body)
    return min(float(delay[1]), _FOREVER) if delay else None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text) else None


def _until(date: str, now: str) -> float | None:
    """Return the seconds from the answer's own date, or else from this machine's, to a date."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    def moment(text: str) -> datetime:
        read = parsedate_to_datetime(text)
        return read if read.tzinfo else read.replace(tzinfo=UTC)

    try:
        then = moment(date)
        start = moment(now) if now else datetime.now(UTC)
    except (ValueError, TypeError, IndexError):
        return None
    return max(0.0, (then - start).total_seconds())


def clip(text: str, endpoint: Endpoint) -> str:
    """Return a text on one short line, without the key, users in addresses, and control characters."""
    if endpoint.key:
        text = text.replace(endpoint.key, "…")
    text = re.sub(r"//[^/\s@]{1,200}@", "//…@", text[: _LONGEST * 20])
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _told(body: bytes) -> str:
    """Return what an error's body says: its message, or its beginning where it is no page."""
    try:
        return _message(json.loads(body))
    except (ValueError, RecursionError):
        text = body[:2000].decode("utf-8", "replace")
        return "" if re.match(r"\s*<(!doctype|html|\?xml)", text, re.IGNORECASE) else text


def _message(value: Any) -> str:
    """Find the message in an error of any vendor's shape."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return str(value)[:2000] if isinstance(value, str | int) else ""
    inner = value.get("error", value)
    if isinstance(inner, dict):
        inner = inner.get("message") or inner.get("msg") or inner.get("detail") or inner.get("type") or ""
    return inner if isinstance(inner, str) else json.dumps(inner)[:2000]


def _reason(fault: BaseException) -> str:
    """Return the innermost cause's words: the clients wrap it in their own."""
    while inner := fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__):
        fault = inner
    text = str(fault)
    return text.partition("] ")[2] or text or type(fault).__name__


def _pull(endpoint: Endpoint) -> str:
    return f" (or: ollama pull {endpoint.model})" if endpoint.route.startswith("ollama/") else ""
