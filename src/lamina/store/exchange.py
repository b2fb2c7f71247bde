"""Raw exchanges with models, kept for whoever looks into a pass: the last one, and those that failed.

Texts are written as they are given, so whoever keeps them redacts them first. Nothing here ever raises.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from lamina import errors
from lamina.store import files
from lamina.store.layout import Layout

KEPT = 20
"""Failed exchanges of one purpose that are kept."""
LONGEST = 200_000


def keep(
    layout: Layout, purpose: str, *, prompt: str, reply: str, at: datetime, failed: bool = False
) -> None:
    """Write `logs/<purpose>-last.txt`, and with `failed` also `logs/<purpose>-failed-<time>.txt`."""
    text = f"=== prompt ===\n{prompt[:LONGEST]}\n\n=== reply ===\n{reply[:LONGEST]}\n"
    names = [f"{purpose}-last.txt"]
    if failed:
        names.append(f"{purpose}-failed-{at:%Y%m%dT%H%M%S%f}.txt")
    with suppress(OSError, errors.LaminaError, ValueError):
        for name in names:
            files.write_text(layout.logs / name, text, durable=False)
        for old in sorted(layout.logs.glob(f"{purpose}-failed-*.txt"))[:-KEPT]:
            old.unlink(missing_ok=True)
