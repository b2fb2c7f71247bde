"""Gemini, by Google's content API with a key. No other way to sign in is tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lamina.models.base import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2

    from lamina.models.base import Prompt, Reply
    from lamina.models.exchange import Piece, Talk
    from lamina.models.routes import Endpoint

_VERSION: Final = "v1beta"
"""The version whose documentation has system instructions and thoughts; the client's own is a variable's."""
_DECLINED: Final = frozenset(
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE IMAGE_SAFETY OTHER".split()
)


@dataclass(frozen=True, slots=True)
class Gemini:
    """Asks for content, streamed. `thinks` are tokens for thoughts, which count against the limit."""

    endpoint: Endpoint
    thinks: int = 0
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
        from google.genai.errors import APIError

        from lamina.models.exchange import Talk

        return Talk(partial(_stream, self.endpoint, self.thinks), (APIError,))


def _stream(
    endpoint: Endpoint, thinks: int, prompt: Prompt, client: httpx2.Client, within_s: float
) -> Iterator[Piece]:
    import httpx2
    from google import genai
    from google.genai import types

    options = types.HttpOptions(
        base_url=endpoint.url,
        api_version=_VERSION,
        timeout=max(1, int(within_s * 1000)),
        httpx_client=client,
        httpx_async_client=httpx2.AsyncClient(
            transport=httpx2.AsyncBaseTransport()
        ),  # else one with certificates is made
    )
    made = genai.Client(vertexai=False, api_key=endpoint.key or "none", http_options=options)
    config = types.GenerateContentConfig(
        system_instruction=prompt.system or None,
        max_output_tokens=prompt.tokens + thinks,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    for event in made.models.generate_content_stream(
        model=endpoint.model, contents=prompt.text, config=config
    ):
        yield _piece(event)


def _piece(event: Any) -> Piece:
    """Read one chunk. Counts come with each; thoughts are counted apart, and paid for."""
    from lamina.models.exchange import Piece

    usage = event.usage_metadata
    asked = usage.prompt_token_count if usage else None
    answered = usage.candidates_token_count if usage else None
    if usage and usage.thoughts_token_count:
        answered = (answered or 0) + usage.thoughts_token_count
    if not event.candidates:
        blocked = event.prompt_feedback.block_reason if event.prompt_feedback else None
        told = f"the prompt was blocked ({_name(blocked)})" if blocked else ""
        return Piece(
            ended=bool(blocked), refused=told, tokens_in=asked, tokens_out=0 if blocked else answered
        )
    candidate = event.candidates[0]
    parts = (candidate.content.parts if candidate.content else None) or []
    finish = _name(candidate.finish_reason)
    return Piece(
        text="".join(part.text or "" for part in parts if not part.thought),
        reasoning="".join(part.text or "" for part in parts if part.thought),
        ended=bool(finish),
        cut=finish == "MAX_TOKENS",
        refused=f"its filter stopped the reply ({finish})" if finish in _DECLINED else "",
        tokens_in=asked,
        tokens_out=answered,
    )


def _name(value: Any) -> str:
    """Return a reason's word, "" for none."""
    word = str(getattr(value, "value", value) or "")
    return "" if word.endswith("UNSPECIFIED") else word
