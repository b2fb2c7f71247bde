"""Models behind OpenAI's chat completions: OpenAI itself, the vendors that speak it, and local servers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina.formats.frozen import NamedTuple
from lamina.models.base import TIMEOUT_S, Again

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2

    from lamina.models.base import Prompt, Reply
    from lamina.models.exchange import Piece, Talk
    from lamina.models.routes import Endpoint
    from lamina.models.wire import Refused

_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_NO_KEY = "none"
"""The client insists on a key; the wire is what sends one, or none."""


class Shape(NamedTuple):
    """Which parameters an endpoint takes: which one limits a reply, whether it counts, whether GBNF holds.

    `changed` are those that it refused by name: each is changed once.
    """

    limit: str = "max_tokens"
    thinks: int = 0
    usage: bool = True
    grammar: bool = False
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OpenAI:
    """Asks an endpoint for a chat completion, streamed."""

    endpoint: Endpoint
    shape: Shape = Shape()  # noqa: RUF009 - a frozen value
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    silence_s: float = 60.0

    @property
    def route(self) -> str:
        """Its name, `provider/model`."""
        return self.endpoint.route

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Send the prompt, once. A parameter that the endpoint refuses by name is left out of `again`."""
        from lamina.models import exchange

        reply = exchange.begin(
            self.endpoint, prompt, self._talk, env=self.env, within_s=within_s, silence_s=self.silence_s
        )
        if reply.text or reply.again or not (self.shape.grammar and prompt.grammar):
            return reply
        # Where the template opens a thought by itself, what the grammar held to is taken for thinking.
        return replace(reply, again=Again(self._without("grammar")))

    def _talk(self) -> Talk:
        from openai import OpenAIError

        from lamina.models.exchange import Talk

        return Talk(partial(_stream, self.endpoint, self.shape), (OpenAIError,), self._other)

    def _other(self, refused: Refused) -> OpenAI | None:
        named = _named(refused, self.shape)
        return self._without(named) if named and named not in self.shape.changed else None

    def _without(self, named: str) -> OpenAI:
        """Return a model that asks without one parameter, or that limits a reply by the other one."""
        change: dict[str, Any] = {"limit": _LIMITS[self.shape.limit]} if named == "limit" else {named: False}
        return replace(self, shape=self.shape._replace(**change, changed=self.shape.changed | {named}))


def _stream(
    endpoint: Endpoint, shape: Shape, prompt: Prompt, client: httpx2.Client, within_s: float
) -> Iterator[Piece]:
    import openai

    made = openai.OpenAI(
        api_key=endpoint.key or _NO_KEY,
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=endpoint.url,
        timeout=within_s,
        max_retries=0,
        http_client=client,
    )
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    asked: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [*system, {"role": "user", "content": prompt.text}],
        "stream": True,
        shape.limit: prompt.tokens + shape.thinks,
    }
    if shape.usage:
        asked["stream_options"] = {"include_usage": True}
    extra = {"grammar": prompt.grammar} if shape.grammar and prompt.grammar else None
    with made.chat.completions.create(**asked, extra_body=extra) as events:
        for event in events:
            yield _piece(event)


def _piece(event: Any) -> Piece:
    """Read one chunk. Usage comes in a chunk without choices, from some servers beside the last choice."""
    from lamina.models.exchange import Piece

    usage = getattr(event, "usage", None)
    asked = _count(getattr(usage, "prompt_tokens", None))
    answered = _count(getattr(usage, "completion_tokens", None))
    if not event.choices:
        return Piece(tokens_in=asked, tokens_out=answered)
    choice = event.choices[0]
    delta, finish = choice.delta, choice.finish_reason
    denied = getattr(delta, "refusal", None)
    return Piece(
        text=_text(getattr(delta, "content", None)),
        reasoning=_text(getattr(delta, "reasoning_content", None))
        or _text(getattr(delta, "reasoning", None)),
        ended=bool(finish),
        cut=finish == "length",
        refused=_text(denied)
        or ("its content filter stopped the reply" if finish == "content_filter" else ""),
        tokens_in=asked,
        tokens_out=answered,
    )


def _text(value: Any) -> str:
    """Return what is text: a string, or the text parts of a list (Mistral's reasoning models send lists)."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    parts = (part for part in value if isinstance(part, dict) and part.get("type") == "text")
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _named(refused: Refused, shape: Shape) -> str:
    """Tell which parameter a refusal names: limit, usage, grammar, or "" for none that can be changed."""
    if refused.status not in (400, 422):
        return ""
    body = refused.body.decode("utf-8", "replace")
    if shape.usage and ("stream_options" in body or "include_usage" in body):
        return "usage"
    if shape.grammar and "grammar" in body:
        return "grammar"
    return "limit" if "max_tokens" in body or "max_completion_tokens" in body else ""
