"""The server itself, on the official SDK: every request that the front does not answer.

Memory is synchronous, so each call runs in a thread, with a Memory of its own: opening one costs little
beside a search, and nothing that was read before (the key, the branch, the settings) can be stale.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from lamina import __version__
from lamina.errors import LaminaError
from lamina.interfaces.mcp import answer, calls, reading, texts, tools
from lamina.interfaces.mcp.answer import Answer
from lamina.interfaces.mcp.arguments import clip
from lamina.interfaces.mcp.calling import Caller, caller, folder_of
from lamina.interfaces.mcp.wire import clean
from lamina.live.renewing import Renewing
from lamina.memory import Memory

Context = ServerRequestContext[Any, Any]
T = TypeVar("T")

RESULT = "lamina/result"
"""The key of a result's `_meta` under which programs find it as data."""
ROOTS_WITHIN_S = 1.0
"""How long a call waits for a client to name its roots."""
ROOTS_ASKED = 3
AT_ONCE, LONG_AT_ONCE = 8, 2
STEADY: tuple[CacheableMethod, ...] = (
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
)
"""What stays the same for the life of a version, so that a client need not ask again for a while."""
STEADY_MS = 3_600_000
_LOG = logging.getLogger(__name__)


@dataclass
class Desk:
    """What one connection knows: where its store is, and which folder its client works in."""

    profile: str
    root: str | None = None
    workspace: str | None = None
    roots_asked: int = 0
    roots: str | None = None
    """The client's first root, "" if it has none; None as long as it has not said."""
    asking: anyio.Lock = field(default_factory=anyio.Lock)
    renewing: Renewing = field(default_factory=lambda: Renewing(tell=_LOG.warning))
    turns: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))
    long_turns: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(LONG_AT_ONCE))

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer tools/call; whatever goes wrong is told to the model, never as a traceback."""
        known = [tool.name for tool in tools.of_profile(self.profile)]
        if params.name not in known:
            there = ", ".join(known)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {clip(params.name)}. The tools are {there}")
        try:
            return told(await self._run(ctx, params))
        except LaminaError as problem:
            return told(answer.failure(problem))
        except Exception as problem:  # noqa: BLE001 - the edge
            _LOG.exception("%s failed", params.name)
            return told(answer.failure(unexpected(problem)))

    async def _run(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        who = caller(_meta(ctx))
        tool, given = calls.prepared(params.name, params.arguments, who)
        named = given.pop("workspace", None)

        def work(memory: Memory) -> Answer:
            said = calls.call(tool, memory, given)
            if tool.changes(given) and not said.failed:
                self.renewing.soon(memory.root)
            return said

        return await self.at_memory(ctx, who, work, named=named, long=tool.long)

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Answer resources/read."""
        uri = str(params.uri)
        try:
            text = await self.at_memory(ctx, caller(_meta(ctx)), lambda memory: reading.read(memory, uri))
        except LaminaError as problem:
            raise MCPError(types.INVALID_PARAMS, answer.failure(problem).text) from None
        except Exception as problem:  # noqa: BLE001 - the edge
            _LOG.exception("%s failed", uri)
            raise MCPError(types.INTERNAL_ERROR, answer.failure(unexpected(problem)).text) from None
        shown = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[shown])

    async def at_memory(
        self,
        ctx: Context,
        who: Caller,
        work: Callable[[Memory], T],
        *,
        named: str | None = None,
        long: bool = False,
    ) -> T:
        """Do something with the memory that a request means, in a thread.

        The workspace is the one that the call names, else the one that the server was started for, else that
        of the folder in the request's metadata, of the client's first root, or of the server's own folder.
        """
        key = named or self.workspace
        folder = who.folder or ("" if key else await self._root_folder(ctx)) or None

        def run() -> T:
            with Memory.open(self.root, workspace=key, cwd=folder) as memory:
                return work(memory)

        turns = self.long_turns if long else self.turns
        return await anyio.to_thread.run_sync(run, abandon_on_cancel=True, limiter=turns)

    async def _root_folder(self, ctx: Context) -> str:
        """Return the client's first root, if it offered to name them; calls that come meanwhile wait with it.

        A client that does not answer in time is asked again at the next calls, a few times.
        """
        told_by = ctx.session.client_params
        if told_by is None or told_by.capabilities.roots is None or not ctx.session.can_send_request:
            return ""
        async with self.asking:
            if self.roots is None and self.roots_asked < ROOTS_ASKED:
                self.roots_asked += 1
                with anyio.move_on_after(ROOTS_WITHIN_S):
                    self.roots = await self._ask_for_root(ctx)
        return self.roots or ""

    async def _ask_for_root(self, ctx: Context) -> str:
        try:
            said = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, ValueError) as problem:
            _LOG.info("the client named no roots: %s", problem)
            return ""
        return next((folder for each in said.roots if (folder := folder_of(str(each.uri)))), "")

    async def roots_changed(self, ctx: Context, params: types.NotificationParams) -> None:  # noqa: ARG002
        """Ask for the roots again at the next call."""
        self.roots_asked, self.roots = 0, None


def _meta(ctx: Context) -> Any:
    return ctx.params.get("_meta") if isinstance(ctx.params, Mapping) else None


def unexpected(problem: Exception) -> LaminaError:
    """Return a fault of ours as a message."""
    said = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
    return LaminaError(f"unexpected {said}", "this is a fault of Lamina; its stderr says more")


def told(said: Answer) -> types.CallToolResult:
    """Return an answer as the protocol has it (docs/decisions/0014-mcp-results.md says why so)."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=said.text)]
    short = None if said.short is None or said.failed else clean(said.short)
    return types.CallToolResult(
        content=content,
        structured_content=short,
        is_error=said.failed,
        _meta={RESULT: clean(said.data)},
    )


def build(profile: str, *, root: str | None = None, workspace: str | None = None) -> Server[Any]:
    """Return the server of a profile; nothing is opened."""
    desk = Desk(profile, root, workspace)

    async def list_tools(_: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each, profile) for each in tools.of_profile(profile)])

    async def list_resources(_: Context, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type=MARKDOWN)
                for each in texts.RESOURCES
            ]
        )

    async def list_templates(_: Context, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.uri, name=each.name, description=each.description, mime_type=MARKDOWN
                )
                for each in texts.TEMPLATES
            ]
        )

    async def list_prompts(_: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(each) for each in texts.PROMPTS])

    server: Server[Any] = Server(
        texts.NAME,
        version=__version__,
        instructions=texts.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=desk.call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=desk.read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        cache_hints=dict.fromkeys(STEADY, CacheHint(ttl_ms=STEADY_MS, scope="public")),
    )
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, desk.roots_changed
    )
    return server


MARKDOWN = "text/markdown"


async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Answer prompts/get."""
    found = next((each for each in texts.PROMPTS if each.name == params.name), None)
    if found is None:
        known = ", ".join(each.name for each in texts.PROMPTS)
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {clip(params.name)}. The prompts are {known}")
    focus = answer.plain((params.arguments or {}).get("focus", "")).strip()
    text = f"{found.text}\n\nFocus: {focus[:2000]}" if focus else found.text
    said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=found.description, messages=[said])


def _tool(tool: tools.Tool, profile: str) -> types.Tool:
    hints = types.ToolAnnotations.model_validate(tool.hints())
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(profile),
        annotations=hints,
    )


def _prompt(prompt: texts.Prompt) -> types.Prompt:
    focus = types.PromptArgument(name="focus", description=prompt.focus, required=False)
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=[focus])
