"""What each tool does: one call of Memory, told as an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.interfaces.mcp import answer
from lamina.interfaces.mcp.arguments import checked
from lamina.interfaces.mcp.tools import SUBAGENT, TOOLS, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lamina.interfaces.mcp.answer import Answer
    from lamina.interfaces.mcp.calling import Caller
    from lamina.memory import Memory
    from lamina.pipeline.recall import Found

Given = dict[str, Any]

HITS, MOST_HITS = 8, 50


def refuse_subagent(tool: Tool, given: Mapping[str, Any], caller: Caller) -> None:
    """Raise Refused where a subagent is about to write."""
    if tool.changes(given) and (caller.subagent or given.get(SUBAGENT)):
        raise errors.Refused(
            f"{tool.name} was called by a subagent, and subagents do not write memory",
            "report what you found to your caller, who decides what is kept; memory_search is free to you",
        )


def call(tool: Tool, memory: Memory, given: Given) -> Answer:
    """Run a tool with arguments that were checked."""
    return CALLS[tool.name](memory, given)


def prepared(name: str, given: Mapping[str, Any] | None, caller: Caller) -> tuple[Tool, Given]:
    """Return the tool and its checked arguments; raises UsageError and Refused before anything is opened."""
    tool = TOOLS[name]
    values = checked(tool, given)
    refuse_subagent(tool, values, caller)
    values.pop(SUBAGENT, None)
    return tool, values


def search(memory: Memory, given: Given) -> Answer:
    """Find entries; `all` wants the setting cross_workspace."""
    scope = given.get("scope")
    if scope == "all" and not memory.settings["cross_workspace"]:
        raise errors.Refused(
            "a search through MCP stays in this workspace and global",
            "give the argument workspace, or let the user run `lamina config set cross_workspace true`",
        )
    if not given["query"].strip():
        raise errors.UsageError("the query is blank", "say what to look for")
    limit = min(given.get("limit", HITS), MOST_HITS)
    names = ("layer", "since", "trust")
    filters: Any = {"scope": scope} | {name: given.get(name) for name in names}
    found = _resident(memory, given["query"], limit, filters) or memory.search(
        given["query"], limit=limit, **filters
    )
    if found.hits and memory.settings["rerank"]:
        found = memory.rerank(found)
    return answer.of_search(found, elsewhere=scope is None and memory.exists)


def _resident(memory: Memory, query: str, limit: int, filters: Given) -> Found | None:
    """Ask the process that keeps this store's search warm; None if there is none."""
    if not memory.exists:
        return None
    import os

    from lamina.resident.client import search as ask

    return ask(memory.standpoint, query, limit=limit, vectors=False, filters=filters, env=os.environ)


def remember(memory: Memory, given: Given) -> Answer:
    """Store one entry."""
    text, source = given.pop("text"), _claimed(given.pop("source", ""))
    return answer.of_outcome(memory.remember(text, source=source, **given))


def _claimed(source: str) -> str:
    """Return the source that an agent may give: it never speaks as the person, whom no model overrules."""
    parts = [part for each in source.split(",") if (part := each.strip()) and part.casefold() != "user"]
    return ", ".join(parts) or "agent"


def decision(memory: Memory, given: Given) -> Answer:
    """Store a settled choice."""
    chosen = given.pop("decision")
    return answer.of_outcome(memory.decision(chosen, source="agent", **given))


def codebase(memory: Memory, given: Given) -> Answer:
    """Store what a part of the repository is."""
    topic, text = given.pop("topic"), given.pop("text")
    return answer.of_outcome(memory.codebase(topic, text, source="agent", **given))


def working(memory: Memory, given: Given) -> Answer:
    """Show the agent's own head, or change it."""
    section, content = given.get("section"), given.get("content")
    activity, clear = given.get("activity"), given.get("clearActivity", False)
    if section is None and content is None and activity is None and not clear:
        return answer.of_working(memory.working())
    if (section is None) != (content is None):
        raise errors.UsageError("memory_working wants section and content together", "content '' drops it")
    done = memory.set_working(section=section, text=content or "", activity=activity, clear_activity=clear)
    return answer.Answer("written", done, {"status": done["status"]})


def state(memory: Memory, given: Given) -> Answer:
    """Show the repository's state, or replace a section of it."""
    section, content = given.get("section"), given.get("content")
    if section is None and content is None:
        return answer.of_state(memory.state())
    if section is None or content is None:
        raise errors.UsageError("memory_state wants section and content together", "neither shows all of it")
    done = memory.set_state(section, content)
    short = {"status": done["status"], "section": done["section"]}
    return answer.Answer(answer.plain(f"wrote section {done['section']!r}"), done, short)


def forget(memory: Memory, given: Given) -> Answer:
    """Forget an entry, or release it."""
    undo = given.get("undo", False)
    result = memory.forget([given["id"]], undo=undo, reason=given.get("reason", ""))
    return answer.of_forget(result, undo=undo)


def workspaces(memory: Memory, given: Given) -> Answer:  # noqa: ARG001 - it takes none
    """List the workspaces."""
    return answer.of_workspaces(memory.workspaces(), memory.scope.name)


def associate(memory: Memory, given: Given) -> Answer:
    """Bind a folder to a workspace; a relative path counts from the session's folder."""
    import os

    here = memory.standpoint["cwd"] or os.sep
    folder = os.path.join(here, os.path.expanduser(given.get("path") or "."))  # noqa: PTH111, PTH118
    done = memory.associate(given["key"], folder, title=given.get("title"))
    short = {"key": done["key"], "path": done["path"]}
    return answer.Answer(answer.plain(f"{done['path']} belongs to {done['key']} now"), done, short)


def sync(memory: Memory, given: Given) -> Answer:  # noqa: ARG001 - it takes none
    """Commit what waits; a password in the remote's URL is not told."""
    from lamina.pipeline.redact import redact

    done = memory.sync()
    clean = {name: redact(value).text for name, value in done.items() if isinstance(value, str)}
    return answer.of_sync(done | clean | {"committed": done["committed"]})


def consolidate(memory: Memory, given: Given) -> Answer:
    """Turn notes into entries."""
    return answer.of_consolidated(memory.consolidate(limit=given.get("limit")))


def refresh(memory: Memory, given: Given) -> Answer:
    """Check stale entries."""
    return answer.of_refreshed(memory.refresh(limit=given.get("limit")))


def history(memory: Memory, given: Given) -> Answer:
    """Take in new commits."""
    return answer.of_history(memory.history(limit=given.get("limit")))


def status(memory: Memory, given: Given) -> Answer:  # noqa: ARG001 - it takes none
    """Tell what the store holds."""
    return answer.of_status(memory.status())


CALLS: dict[str, Callable[[Memory, Given], Answer]] = {
    f"memory_{each.__name__}": each
    for each in (
        search, remember, decision, codebase, working, state, forget, workspaces, associate, sync,
        consolidate, refresh, history, status,
    )
}  # fmt: skip
