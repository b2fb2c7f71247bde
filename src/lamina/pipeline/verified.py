"""What a stage wrote is checked on the disk, and taken back where it does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lamina import errors
from lamina.store import files, memoryfolder

Check = tuple[str, bool]
"""What must hold, and whether it does."""


def require(checks: Iterable[Check], path: Path, *, ours: str, old: str | None) -> None:
    """Raise VerificationFailed naming the first check that fails, after the old file was put back.

    It is put back only over our own bytes: what somebody else wrote meanwhile stays. `old` None: there was no
    file.
    """
    failed = next((name for name, held in checks if not held), None)
    if failed is None:
        return
    back = "the file is as it was before"
    try:
        if old is None:
            files.remove(path, expected=files.fingerprint(ours))
        else:
            memoryfolder.replace(path, old, old=ours)
    except errors.LaminaError as problem:
        back = f"the file could not be put back: {problem.message}"
    raise errors.VerificationFailed(
        f"{path}: what was written does not hold: {failed}", f"{back}; run the command again"
    )
