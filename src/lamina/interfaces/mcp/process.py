"""The process `lamina mcp`: the front at standard input and output, the server behind it when needed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.interfaces.mcp.front import Front
from lamina.interfaces.mcp.wire import Wire, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Json = dict[str, Any]


def answers(profile: str) -> dict[str, dict[str, Json]]:
    """Return what the front knows by heart."""
    file = Path(__file__).parent / "answers" / f"{profile}.json"
    known: dict[str, dict[str, Json]] = json.loads(file.read_text(encoding="utf-8"))
    return known


def serve(profile: str, *, root: str | None, workspace: str | None) -> NoReturn:
    """Serve until standard input ends.

    The process ends there and then: no thread that still loads or works is waited for, and every write to the
    store is whole or not there.
    """
    from lamina.live.ticking import Ticking

    def behind(front: Front) -> Callable[[Json], None]:
        from lamina.interfaces.mcp.bridge import Bridge

        return Bridge(front, profile=profile, root=root, workspace=workspace).feed

    code = 0
    try:
        wire = Wire.claim()
        Ticking(root, tell=tell).start()
        Front(wire, answers(profile), behind).run()
    except KeyboardInterrupt:
        code = 130
    except Exception as problem:  # noqa: BLE001 - the edge of the process, which ends without a word otherwise
        tell(f"ended by {type(problem).__name__}: {problem}")
        code = 1
    finally:
        os._exit(code)
