"""The four model APIs that the clients speak: a request's JSON → Turn, an answer → JSON or events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.clients.script import Call, Prompt, Result, Tool, Turn

Json = dict[str, Any]


class Answer(NamedTuple):
    """What the model says: words and at most one call; `number` makes ids, `tokens` is the input's size."""

    number: int
    text: str
    call: Call | None
    model: str
    tokens: int


class Happening(NamedTuple):
    """One server-sent event."""

    data: Json | str
    name: str = ""

    def wire(self) -> bytes:
        """Return it as it goes over the wire."""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return f"{f'event: {self.name}' + chr(10) if self.name else ''}data: {data}\n\n".encode()


def _named(kind: str, **fields: Any) -> Happening:
    return Happening({"type": kind, **fields}, kind)


def _texts(content: Any) -> Iterator[Prompt]:
    """Read a text, or the texts of a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield Prompt(text)


# --- Anthropic Messages


def anthropic_turn(body: Json) -> Turn:
    """Read a Messages request."""
    said: list[Prompt | Result] = []
    for message in body.get("messages", []):
        if message.get("role") != "user":
            continue
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            is_result = isinstance(part, dict) and part.get("type") == "tool_result"
            said.extend([Result()] if is_result else _texts(part))
    tools = [Tool(tool["name"]) for tool in body.get("tools") or []]
    return Turn(said, tools, stream=body.get("stream") is True)


def anthropic_answer(answer: Answer) -> Json:
    """Say it as one message."""
    blocks: list[Json] = [{"type": "text", "text": answer.text}]
    if call := answer.call:
        own = f"toolu_stub{answer.number:04d}"
        blocks.append({"type": "tool_use", "id": own, "name": call.tool.name, "input": call.arguments})
    return {
        "id": f"msg_stub{answer.number:04d}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.tokens,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def anthropic_events(answer: Answer) -> Iterator[Happening]:
    """Say it as a stream."""
    whole = anthropic_answer(answer)
    yield _named("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: Json = {"text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _named("content_block_start", index=index, content_block={**block, **empty})
        yield _named("content_block_delta", index=index, delta=delta)
        yield _named("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _named("message_delta", delta=ended, usage=whole["usage"])
    yield _named("message_stop")


# --- OpenAI Responses


def responses_turn(body: Json) -> Turn:
    """Read a Responses request; tools in a namespace are offered as `namespace.name`."""
    given = body.get("input")
    said: list[Prompt | Result] = []
    for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
        kind = str(item.get("type", "message"))
        if kind.endswith("_call_output"):
            said.append(Result())
        elif kind == "message" and item.get("role") == "user":
            said.extend(_texts(item.get("content")))
    return Turn(said, list(_responses_tools(body.get("tools") or [])), stream=body.get("stream") is True)


def _responses_tools(tools: Iterable[Json], space: str = "") -> Iterator[Tool]:
    for tool in tools:
        kind = tool.get("type", "function")
        if kind == "namespace":
            yield from _responses_tools(tool.get("tools") or [], tool["name"])
        elif kind in {"function", "custom"}:
            yield Tool(tool["name"], space, kind)


def _responses_items(answer: Answer) -> list[Json]:
    part = {"type": "output_text", "text": answer.text, "annotations": []}
    own = {"id": f"msg_stub{answer.number}", "status": "completed"}
    items: list[Json] = [{"type": "message", "role": "assistant", "content": [part], **own}]
    if call := answer.call:
        base = {"call_id": f"call_stub{answer.number}", "name": call.tool.name, "status": "completed"}
        base |= {"namespace": call.tool.space} if call.tool.space else {}
        arguments = json.dumps(call.arguments)
        if call.tool.kind == "custom":
            given = call.arguments.get("input", arguments)
            items.append(
                {"type": "custom_tool_call", "id": f"ctc_stub{answer.number}", "input": given, **base}
            )
        else:
            own = {"id": f"fc_stub{answer.number}", "arguments": arguments}
            items.append({"type": "function_call", **own, **base})
    return items


def responses_answer(answer: Answer) -> Json:
    """Say it as one response."""
    return {
        "id": f"resp_stub{answer.number}",
        "object": "response",
        "created_at": 1_767_225_600,
        "status": "completed",
        "model": answer.model,
        "output": _responses_items(answer),
        "usage": {
            "input_tokens": answer.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.tokens + 20,
        },
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tools": [],
        "tool_choice": "auto",
    }


def responses_events(answer: Answer) -> Iterator[Happening]:
    """Say it as a stream."""
    for number, event in enumerate(_responses_stream(responses_answer(answer))):
        assert isinstance(event.data, dict)
        yield event._replace(data={**event.data, "sequence_number": number})


def _responses_stream(whole: Json) -> Iterator[Happening]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield _named("response.created", response=begun)
    for index, item in enumerate(whole["output"]):
        empty: Json = {"content": []} if item["type"] == "message" else {}
        yield _named("response.output_item.added", output_index=index, item={**item, **empty})
        yield from _responses_deltas(item, {"item_id": item["id"], "output_index": index})
        yield _named("response.output_item.done", output_index=index, item=item)
    yield _named("response.completed", response=whole)


def _responses_deltas(item: Json, place: Json) -> Iterator[Happening]:
    match item["type"]:
        case "message":
            part, place = item["content"][0], {**place, "content_index": 0}
            yield _named("response.content_part.added", part={**part, "text": ""}, **place)
            yield _named("response.output_text.delta", delta=part["text"], **place)
            yield _named("response.output_text.done", text=part["text"], **place)
            yield _named("response.content_part.done", part=part, **place)
        case "function_call":
            text = item["arguments"]
            yield _named("response.function_call_arguments.delta", delta=text, **place)
            yield _named("response.function_call_arguments.done", arguments=text, **place)


# --- OpenAI Chat Completions


def chat_turn(body: Json) -> Turn:
    """Read a Chat Completions request."""
    said: list[Prompt | Result] = []
    for message in body.get("messages", []):
        if message.get("role") == "tool":
            said.append(Result())
        elif message.get("role") == "user":
            said.extend(_texts(message.get("content")))
    functions = (tool.get("function") or {} for tool in body.get("tools") or [])
    tools = [Tool(function["name"]) for function in functions if "name" in function]
    return Turn(said, tools, stream=body.get("stream") is True)


def _chat_calls(answer: Answer) -> Json:
    if answer.call is None:
        return {}
    function = {"name": answer.call.tool.name, "arguments": json.dumps(answer.call.arguments)}
    own = {"index": 0, "id": f"call_stub{answer.number}", "type": "function"}
    return {"tool_calls": [{**own, "function": function}]}


def _chat_base(answer: Answer, kind: str) -> Json:
    own = {"id": f"chatcmpl-stub{answer.number}", "object": kind}
    return {**own, "created": 1_767_225_600, "model": answer.model}


def _chat_usage(answer: Answer) -> Json:
    total = answer.tokens + 20
    return {"prompt_tokens": answer.tokens, "completion_tokens": 20, "total_tokens": total}


def chat_answer(answer: Answer) -> Json:
    """Say it as one completion."""
    message = {"role": "assistant", "content": answer.text, **_chat_calls(answer)}
    end = "tool_calls" if answer.call else "stop"
    choices = [{"index": 0, "message": message, "finish_reason": end}]
    return {**_chat_base(answer, "chat.completion"), "choices": choices, "usage": _chat_usage(answer)}


def chat_events(answer: Answer) -> Iterator[Happening]:
    """Say it as a stream of chunks."""
    base = _chat_base(answer, "chat.completion.chunk")
    end = "tool_calls" if answer.call else "stop"
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": answer.text}, None)]
    deltas += [(calls, None)] if (calls := _chat_calls(answer)) else []
    for delta, reason in [*deltas, ({}, end)]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield Happening({**base, "choices": [choice]})
    yield Happening({**base, "choices": [], "usage": _chat_usage(answer)})
    yield Happening("[DONE]")


# --- Gemini


def gemini_turn(body: Json, *, stream: bool) -> Turn:
    """Read a generateContent request; which of the two it is stands in its path."""
    said: list[Prompt | Result] = []
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                said.append(Result())
            elif content.get("role", "user") == "user":
                said.extend(_texts(part))
    declared = (each for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or [])
    settings = body.get("generationConfig") or {}
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    if settings.get("responseMimeType") == "application/json":
        schema = schema or {}
    return Turn(said, [Tool(each["name"]) for each in declared], schema, stream)


def gemini_answer(answer: Answer) -> Json:
    """Say it as one response, which is also the only piece of a stream."""
    parts: list[Json] = [{"text": answer.text}]
    if call := answer.call:
        parts.append(
            {
                "functionCall": {"name": call.tool.name, "args": call.arguments},
                "thoughtSignature": "c3R1Yg==",
            }
        )
    content = {"role": "model", "parts": parts}
    used = {"promptTokenCount": answer.tokens, "candidatesTokenCount": 20}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**used, "totalTokenCount": answer.tokens + 20},
        "modelVersion": answer.model,
        "responseId": f"stub{answer.number}",
    }


def gemini_events(answer: Answer) -> Iterator[Happening]:
    """Say it as a stream."""
    yield Happening(gemini_answer(answer))
