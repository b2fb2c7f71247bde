"""What models are told: one text file a purpose and version, `<purpose>.v<number>.txt`, the newest in use."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"([a-z]+)\.v([0-9]+)\.txt")


@cache
def load(purpose: str) -> str:
    """Return the newest text for a purpose; raises KeyError for one that has none."""
    found = {
        int(match[2]): each
        for each in files(__name__).iterdir()
        if (match := _NAME.fullmatch(each.name)) and match[1] == purpose
    }
    if not found:
        raise KeyError(purpose)
    return found[max(found)].read_text(encoding="utf-8")
