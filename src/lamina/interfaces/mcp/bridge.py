"""Runs the SDK's server in a thread of its own, between the front and memory."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

from lamina.interfaces.mcp.wire import tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.interfaces.mcp.front import Front

    Json = dict[str, Any]


class Bridge:
    """The server behind the front: what is fed to it before it is ready waits in order."""

    def __init__(self, front: Front, *, profile: str, root: str | None, workspace: str | None) -> None:
        self._front = front
        self._place = (profile, root, workspace)
        self._lock = threading.Lock()
        self._early: list[Json] = []
        self._put: Callable[[Json], None] | None = None
        self._ended = ""
        threading.Thread(target=self._run, name="lamina-mcp", daemon=True).start()

    def feed(self, message: Json) -> None:
        """Give the server a message; from any thread."""
        with self._lock:
            if self._ended:
                pass
            elif self._put is None:
                self._early.append(message)
            else:
                self._put(message)
        if self._ended:
            self._front.fail(self._ended)

    def _run(self) -> None:
        """Load the SDK and serve; a failure is answered, since nobody else would tell the client."""
        try:
            import anyio

            from lamina.interfaces.mcp.server import build

            profile, root, workspace = self._place
            anyio.run(self._serve, build(profile, root=root, workspace=workspace))
            self._end("the server has ended")
        except Exception as problem:  # noqa: BLE001 - the edge of the process
            self._end(f"the server can't run: {type(problem).__name__}: {problem}")

    def _end(self, reason: str) -> None:
        with self._lock:
            self._ended = reason
        tell(reason)
        self._front.fail(reason)

    async def _serve(self, server: Any) -> None:
        import anyio
        from anyio.lowlevel import current_token
        from mcp.shared.message import SessionMessage

        inbox, reads = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        writes, outbox = anyio.create_memory_object_stream[SessionMessage](math.inf)
        loop: Any = current_token().native_token

        def put(message: Json) -> None:
            loop.call_soon_threadsafe(self._receive, inbox, message)

        async with anyio.create_task_group() as group:
            group.start_soon(self._deliver, outbox)
            with self._lock:
                for message in self._early:
                    put(message)
                self._early, self._put = [], put
            await server.run(reads, writes, server.create_initialization_options())

    def _receive(self, inbox: Any, message: Json) -> None:
        """Hand a message to the server as it wants it; what it can't be is answered here."""
        import mcp_types as types
        from mcp.shared.message import SessionMessage
        from pydantic import ValidationError

        try:
            read = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            if "method" in message and "id" in message:
                error = {"code": types.INVALID_REQUEST, "message": "Invalid request"}
                self._front.answer({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        inbox.send_nowait(SessionMessage(read))

    async def _deliver(self, outbox: Any) -> None:
        async with outbox:
            async for sent in outbox:
                self._front.answer(sent.message.model_dump(by_alias=True, exclude_unset=True, mode="json"))
