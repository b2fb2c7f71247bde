"""Claude, by Anthropic's messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from lamina.models.base import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2

    from lamina.models.base import Prompt, Reply
    from lamina.models.exchange import Piece, Talk
    from lamina.models.routes import Endpoint

_CUT = ("max_tokens", "model_context_window_exceeded", "pause_turn")


@dataclass(frozen=True, slots=True)
class Anthropic:
    """Asks for a message, streamed."""

    endpoint: Endpoint
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    silence_s: float = 60.0

    @property
    def route(self) -> str:
        """Its name, `provider/model`."""
        return self.endpoint.route

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Send the prompt, once."""
        from lamina.models import exchange

        return exchange.begin(
            self.endpoint, prompt, self._talk, env=self.env, within_s=within_s, silence_s=self.silence_s
        )

    def _talk(self) -> Talk:
        from anthropic import AnthropicError

        from lamina.models.exchange import Talk

        return Talk(partial(_stream, self.endpoint), (AnthropicError,))


def _stream(endpoint: Endpoint, prompt: Prompt, client: httpx2.Client, within_s: float) -> Iterator[Piece]:
    import anthropic

    made = anthropic.Anthropic(
        api_key=endpoint.key or "none",  # any: without one, the client looks for profiles on the disk
        webhook_key="",
        base_url=endpoint.url,
        timeout=within_s,
        max_retries=0,
        http_client=client,
    )
    with made.messages.create(
        model=endpoint.model,
        max_tokens=prompt.tokens,
        system=prompt.system or anthropic.omit,
        messages=[{"role": "user", "content": prompt.text}],
        stream=True,
    ) as events:
        for event in events:
            yield _piece(event)


def _piece(event: Any) -> Piece:
    """Read one event: text deltas are text, thinking deltas are not, and counts come at both ends."""
    from lamina.models.exchange import Piece

    match event.type:
        case "message_start":
            return Piece(tokens_in=_asked(event.message.usage))
        case "content_block_start" if event.content_block.type == "text":
            return Piece(text=event.content_block.text or "")
        case "content_block_delta" if event.delta.type == "text_delta":
            return Piece(text=event.delta.text or "")
        case "content_block_delta" if event.delta.type == "thinking_delta":
            return Piece(reasoning=event.delta.thinking or "")
        case "message_delta":
            reason = event.delta.stop_reason
            return Piece(
                ended=bool(reason),
                cut=reason in _CUT,
                refused="it refused" if reason == "refusal" else "",
                tokens_out=event.usage.output_tokens or None,
            )
    return Piece()


def _asked(usage: Any) -> int | None:
    """Count what was read, from caches too: each is a part of the prompt."""
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    return sum(part or 0 for part in parts) or None
