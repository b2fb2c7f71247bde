"""UTC days and times as text. A value without an offset is read as UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime


def parse_day(text: str) -> date | None:
    """Read `YYYY-MM-DD`; a full time is read too and gives its UTC day. None if it is neither."""
    text = text.strip()
    if len(text) > 10 and text[10] in "Tt " and text[11:12].isdigit():
        time = parse_time(text)
        return time.date() if time else None
    head, rest = text[:10], text[10:11]
    if len(head) != 10 or rest.isalnum() or not head.isascii():
        return None
    if not (head[:4] + head[5:7] + head[8:]).isdigit():
        return None
    try:
        return date.fromisoformat(head)
    except ValueError:
        return None


def parse_time(text: str) -> datetime | None:
    """Read an ISO 8601 time as an aware UTC datetime; None if it is none."""
    try:
        return as_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def render_time(time: datetime) -> str:
    """Write a time as `YYYY-MM-DDTHH:MM:SSZ` in UTC; fractions of a second are dropped."""
    return as_utc(time).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def as_utc(time: datetime) -> datetime:
    """Turn a time into UTC; a naive one is taken as UTC already."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
