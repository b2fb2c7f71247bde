"""Rerank: a model may reorder what a search found. Advice only: on any doubt the order stays as it was."""

from __future__ import annotations

import re
import threading
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING

from lamina.errors import LaminaError
from lamina.formats.lines import fold
from lamina.models.base import Prompt
from lamina.pipeline.prompts import load
from lamina.pipeline.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.pipeline.asking import Asker
    from lamina.pipeline.recall import Found, Hit

ENGINE = "rerank"
SHOWN, CHARS = 20, 300
WITHIN_S = 10.0
_TOKENS = 128
_QUERY = 400
_NUMBERS = re.compile(r"[\s0-9.,;:>#()\[\]\-*`'\"|、。]+")
_ARROW = re.compile(r"-+>|=+>|→")


def rerank(hits: Sequence[Hit], query: str, asker: Asker | None, *, within_s: float = WITHIN_S) -> list[Hit]:
    """Return the hits in the order that a model finds most useful, else as they are; none comes or goes."""
    return [hits[place] for place in _order(hits, query, asker, within_s) or range(len(hits))]


def reranked(found: Found, asker: Asker | None, *, within_s: float = WITHIN_S) -> Found:
    """Return a search's answer reordered; its engines name `rerank` only if a usable answer came."""
    order = _order(found.hits, found.query, asker, within_s)
    if order is None:
        return found
    return found._replace(hits=tuple(found.hits[place] for place in order), engines=(*found.engines, ENGINE))


def parse_order(reply: str, count: int) -> list[int] | None:
    """Read numbers from 1 to `count`, best first, as places from 0 on; what is left out follows in its order.

    None for anything but numbers, one twice or unknown, or some that merely stand in the order that is there.
    """
    text = _ARROW.sub(" ", unicodedata.normalize("NFKC", reply)).strip()
    if not text or not _NUMBERS.fullmatch(text) or len(text) > 1_000:
        return None
    named = [int(number) - 1 for number in re.findall(r"[0-9]{1,9}", text)]
    if not named or len(set(named)) != len(named) or not all(0 <= place < count for place in named):
        return None
    order = named + [place for place in range(count) if place not in named]
    if len(named) < count and order == list(range(count)):
        return None
    return order


def prompt_for(hits: Sequence[Hit], query: str) -> Prompt:
    """Write what the model is shown: the query and at most 20 hits, each on one line of 300 characters."""
    lines = [f"{number}. {_line(hit)}" for number, hit in enumerate(hits[:SHOWN], 1)]
    asked = fold(redact(query).text)[:_QUERY]
    shown = "\n".join(["BEGIN", f"Query: {asked}", "", *lines, "END"])
    return Prompt(load(ENGINE), shown, tokens=_TOKENS)


def _line(hit: Hit) -> str:
    text = hit.snippet if hit.snippet.startswith(hit.heading) else f"{hit.heading} — {hit.snippet}"
    line = fold(redact(text).text)[:CHARS]
    return f"[{hit.trust}, {hit.freshness}] {line}"


def _order(hits: Sequence[Hit], query: str, asker: Asker | None, within_s: float) -> list[int] | None:
    """Return the places of all hits in their new order, None to leave them."""
    if asker is None or len(hits) < 2:
        return None
    prompt = prompt_for(hits, query)
    replies: list[str] = []

    def ask() -> None:
        # Anything else is a fault of the program: it is told on standard error, and the search goes on.
        with suppress(LaminaError):
            reply = asker.ask(ENGINE, prompt).reply
            if not reply.cut:
                replies.append(reply.text)

    waiter = threading.Thread(target=ask, name="lamina-rerank", daemon=True)  # a late one holds up no exit
    waiter.start()
    waiter.join(within_s)
    if waiter.is_alive() or not replies:
        return None
    shown = parse_order(replies[0], min(len(hits), SHOWN))
    return None if shown is None else [*shown, *range(len(shown), len(hits))]
