"""Whether a session is captured, and if not, why."""

from __future__ import annotations

import os

from lamina.settings.table import is_true

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from lamina.settings.values import Settings


def capture_off(
    settings: Settings, folder: str | Path | None, *, env: Mapping[str, str], now: datetime
) -> str | None:
    """Say why a session in this folder is not captured, or None if it is."""
    if is_true(env.get("LAMINA_OFF", "")):
        return "LAMINA_OFF is set"
    from lamina.store.pause import paused

    pause = paused(settings.root, now=now)
    if pause is not None:
        return (
            f"paused until {pause.until:%Y-%m-%d %H:%M} UTC"
            if pause.until
            else "paused until `lamina resume`"
        )
    capture = settings.value("capture")
    if capture.value == "off":
        return f"capture = off ({capture.origin})"
    if folder is None or not settings["exclude"]:
        return None
    from lamina.formats.globs import matching

    home = os.path.realpath(settings.home)
    for place in dict.fromkeys((os.fspath(folder), os.path.realpath(folder))):
        pattern = matching(place, settings["exclude"], home=home) or matching(
            place, settings["exclude"], home=str(settings.home)
        )
        if pattern:
            return f"the folder is excluded by {pattern!r} ({settings.value('exclude').origin})"
    return None
