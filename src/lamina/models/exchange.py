"""One call, whichever vendor's: from the pieces of a stream to a Reply, or to ModelFailed.

A client yields pieces; what counts as text, when a reply is cut, and what a person is told of a failure is
decided here, once for all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import httpx2

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.models import refusal
from lamina.models.base import Again, Prompt, Reply, estimate_tokens
from lamina.models.wire import SILENCE_S, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lamina.models.base import Model
    from lamina.models.routes import Endpoint
    from lamina.models.wire import Refused, Wire

LONGEST = 100_000
"""Characters of a reply after which it is cut, and tokens of reasoning: the longest one asked for has some
16,000, so whoever says more goes round in circles, and it is paid for."""

_FAULTS: Final = (
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
    ImportError,
)
"""What the vendors' clients let through when an endpoint sends what no endpoint should, and what a wrong
proxy, certificate file or key raises. None of it may end the work of others."""


class Piece(NamedTuple):
    """What one event of a stream brought. `cut` and `refused` say how the reply ended, if `ended`."""

    text: str = ""
    reasoning: str = ""
    ended: bool = False
    cut: bool = False
    refused: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


class Talk(NamedTuple):
    """How one kind of endpoint is spoken to. `faults` are its client's own errors.

    `again` makes a model to ask instead after a refusal that only concerns a parameter, None for others.
    """

    stream: Callable[[Prompt, httpx2.Client, float], Iterable[Piece]]
    faults: tuple[type[Exception], ...]
    again: Callable[[Refused], Model | None] = lambda _refused: None


def begin(
    endpoint: Endpoint,
    prompt: Prompt,
    talk: Callable[[], Talk],
    *,
    env: Mapping[str, str],
    within_s: float,
    silence_s: float,
) -> Reply:
    """Ask with the client that `talk` loads: a second and more, which a missing key spares."""
    refusal.check_key(endpoint)
    return ask(endpoint, prompt, talk(), env=env, within_s=within_s, silence_s=silence_s)


def ask(
    endpoint: Endpoint,
    prompt: Prompt,
    talk: Talk,
    *,
    env: Mapping[str, str],
    within_s: float,
    silence_s: float = SILENCE_S,
) -> Reply:
    """Send the prompt, once, and gather the reply. Raises ModelFailed."""
    heard = _Heard()
    try:
        with wire(endpoint, env, within_s=max(0.01, within_s), silence_s=silence_s) as line:
            fault = _listen(heard, talk.stream(_clean(prompt), line.client, line.left_s), talk.faults)
    except _FAULTS as wrong:  # a proxy, a certificate file: nothing was sent
        raise refusal.unreachable(endpoint, wrong) from None
    if line.refused and not heard.text and (other := talk.again(line.refused)) is not None:
        return Reply("", again=Again(other, refusal.refused(endpoint, line.refused).message))
    return _reply(endpoint, prompt, heard, line, fault, within_s)


def _listen(heard: _Heard, pieces: Iterable[Piece], faults: tuple[type[Exception], ...]) -> Exception | None:
    """Take pieces in until the stream ends; return what broke it, if something did."""
    expected: tuple[type[Exception], ...] = (*faults, *_FAULTS)
    try:
        for piece in pieces:
            heard.add(piece)
            if heard.size > LONGEST or heard.reasoned > LONGEST:
                heard.cut = heard.ended = True
                return None
    except expected as fault:
        return fault
    return None


def _reply(
    endpoint: Endpoint, prompt: Prompt, heard: _Heard, line: Wire, fault: Exception | None, within_s: float
) -> Reply:
    text = spoken(_mended(heard.text))
    broken = not heard.ended and (fault is not None or not heard.began or bool(text))
    if not text and not heard.ended:
        raise _failure(endpoint, line, fault, within_s, began=heard.began)
    if not text and heard.refused:
        raise refusal.declined(endpoint, heard.refused)
    counted = heard.tokens_in is not None and heard.tokens_out is not None
    asked, answered = heard.tokens_in, heard.tokens_out
    if not counted:
        asked = estimate_tokens(prompt.system) + estimate_tokens(prompt.text)
        answered = estimate_tokens(heard.text) + heard.reasoned
    return Reply(text, heard.cut or bool(heard.refused) or broken, asked or 0, answered or 0, counted)


def _failure(
    endpoint: Endpoint, line: Wire, fault: Exception | None, within_s: float, *, began: bool
) -> errors.ModelFailed:
    """Say what ended a call that brought no text and no end."""
    chain = _chain(fault)
    network = next((each for each in chain if isinstance(each, httpx2.TransportError | OSError)), None)
    if line.refused:
        return refusal.refused(endpoint, line.refused)
    if line.late or isinstance(network, httpx2.TimeoutException):
        return refusal.silent(endpoint, within_s, late=line.late)
    if network is not None and not line.answered:
        return refusal.unreachable(endpoint, network)
    if line.too_large:
        return refusal.odd(endpoint, "sent more than any reply has")
    if fault is not None and (told := refusal.reported(fault)):
        return refusal.odd(endpoint, f"reported: {refusal.clip(told, endpoint)}")
    broke = network is not None or began
    return refusal.odd(endpoint, "broke off before any text" if broke else "sent what is no reply")


def _chain(fault: BaseException | None) -> list[BaseException]:
    """Return a fault and what caused it, the outermost first: the clients wrap what the wire raised."""
    chain: list[BaseException] = []
    while fault is not None and fault not in chain:
        chain.append(fault)
        fault = fault.__cause__
    return chain


class _Heard:
    """What was heard so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.size = 0
        self.reasoned = 0
        """Tokens of reasoning, estimated: they are paid for, though they don't count as text."""
        self.began = self.ended = self.cut = False
        self.refused = ""
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None

    @property
    def text(self) -> str:
        return "".join(self._parts)[:LONGEST]

    def add(self, piece: Piece) -> None:
        self.began = True
        if piece.text:
            self._parts.append(piece.text)
            self.size += len(piece.text)
        self.reasoned += estimate_tokens(piece.reasoning) if piece.reasoning else 0
        self.ended = self.ended or piece.ended
        self.cut = self.cut or piece.cut
        self.refused = self.refused or piece.refused
        self.tokens_in = self.tokens_in if piece.tokens_in is None else piece.tokens_in
        self.tokens_out = self.tokens_out if piece.tokens_out is None else piece.tokens_out


_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSE = {
    name: re.compile(f"</{name}>", re.IGNORECASE) for name in ("think", "thinking", "thought", "reasoning")
}
_LONE = re.compile(r"^[ \t]*</(?:think|thinking)>[ \t]*\r?$\n?", re.IGNORECASE | re.MULTILINE)


def spoken(text: str) -> str:
    """Return a text without the reasoning that some local servers put in front of it.

    That is a block in `<think>` tags, closed or cut, or all before a line that only closes one, since some
    templates open it in the prompt.
    """
    at = 0
    while found := _OPEN.match(text, at):
        closed = _CLOSE[found[1].lower()].search(text, found.end())
        at = closed.end() if closed else len(text)
    text = text[at:]
    if lone := _LONE.search(text):
        before = text[: lone.start()].lower()
        text = text if "<think" in before else text[lone.end() :]
    said = text.lstrip("\ufeff").strip()
    return f"{said}\n" if said and text.endswith("\n") else said  # so that a last line is known to be whole


def _mended(text: str) -> str:
    """Join surrogate pairs that two events tore apart, and mark lone halves: no file takes them."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _clean(prompt: Prompt) -> Prompt:
    """Return the prompt without lone surrogates, which no request can carry."""
    system, text = (part.encode("utf-8", "replace").decode() for part in (prompt.system, prompt.text))
    return Prompt(system, text, prompt.tokens, prompt.grammar)
