"""What every model promises: one prompt in, text out, or ModelFailed.

A reply is made of text blocks only. Reasoning never counts: a model that only thought replies with "".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from lamina.formats.frozen import NamedTuple
from lamina.formats.lines import size_of

REPLY_TOKENS = 4096
"""Tokens a reply may have where the purpose names no other limit: 12 bullets or 60 facts fit well."""
TIMEOUT_S = 120
"""Seconds a call may take where the settings say nothing else."""

_CHARS_A_TOKEN = 4.0
_TOKENS_A_WIDE_CHAR = 1.0


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked. `system` says how to work, `text` holds the material.

    `tokens` limits the reply. `grammar` is GBNF for endpoints that can hold a reply to one (llama.cpp); the
    others are not told of it.
    """

    system: str
    text: str
    tokens: int = REPLY_TOKENS
    grammar: str = ""

    @property
    def size(self) -> int:
        """Bytes of both parts, as UTF-8."""
        return size_of(f"{self.system}{self.text}")

    @property
    def whole(self) -> str:
        """Both parts as one text."""
        return "\n\n".join(filter(None, (self.system, self.text)))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered: "" if it only reasoned or said nothing.

    `cut` says that the reply ended at the length limit or that the stream broke. Tokens are the endpoint's
    own count, else estimated, and then `counted` is false. `again` may come with a reply without text.
    """

    text: str
    cut: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = False
    again: Again | None = None


class Again(NamedTuple):
    """Another way to put the same question to the same model, left to whoever counts calls.

    `model` asks without what the endpoint does not take. `refused` says what was refused, "" where the
    endpoint did reply. Following it sends one more request: a call of its own, a refused one too, though that
    costs nothing. What works may be asked that way from then on.
    """

    model: Model
    refused: str = ""


MAX_WAYS = 4
"""How often one model is put the same question at most: as it is, and without each of three parameters."""


class Model(Protocol):
    """A function from a prompt to text."""

    @property
    def route(self) -> str:
        """Its name, `provider/model`."""

    def ask(self, prompt: Prompt, *, within_s: float = TIMEOUT_S) -> Reply:
        """Send one request at most: no retries, which are the ladder's.

        A reply with `again` tells how the endpoint could be asked instead; nothing of that was sent.
        Raises ModelFailed when the model can't be reached, refuses, or sends nothing within the time. A
        stream that breaks after some text gives that text, `cut`.
        """


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has: 4 characters a token, one for each wide (CJK) character.

    Close enough for a cap (within a third on English, code and Chinese); endpoints count themselves.
    """
    wide = 0 if text.isascii() else sum(char >= "\u2e80" for char in text)
    return math.ceil((len(text) - wide) / _CHARS_A_TOKEN + wide * _TOKENS_A_WIDE_CHAR)
