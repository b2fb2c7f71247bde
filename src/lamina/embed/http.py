"""Embedders behind HTTP: endpoints that speak OpenAI's protocol, and Ollama.

Addresses are what the person set. Redirects are not followed, since the key would go along; no proxy stands
before this machine's own addresses.
"""

from __future__ import annotations

import json
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.embed import base
from lamina.formats.frozen import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector

    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Vectors

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434"
KEY_ENV = "LAMINA_EMBEDDER_KEY_ENV"
_LONGEST = 6_000
"""Characters of a text: models that take 8,192 tokens refuse more, and a CJK character can be two tokens."""
_LARGEST = 64 << 20
"""Bytes of an answer that are read."""
_PATIENCE = 10.0
"""Seconds that a question may wait, however long passages may take: a person is waiting."""
_FEW = 16
"""Texts in one request while a person is waiting."""


class Dialect(NamedTuple):
    """How one kind of endpoint is asked and read. `read` may raise KeyError, TypeError or ValueError."""

    path: str
    ask: Callable[[str, list[str]], dict[str, Any]]
    read: Callable[[Any], list[Any]]
    batch: int
    missing: str
    """The hint when the endpoint does not know the model."""


class Endpoint(NamedTuple):
    """One model at one address. `timeout` and `pause`, before the one retry, are in seconds."""

    family: str
    model: str
    url: str
    variable: str = ""
    key: str = ""
    timeout: float = 30.0
    pause: float = 0.5


class Remote:
    """Embeds by asking an endpoint."""

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, env: Mapping[str, str], known: list[int] | None = None
    ) -> None:
        self._host, where = _address(endpoint.url)
        self.name = f"{endpoint.family}/{endpoint.model}@{where}"
        self.batch = dialect.batch
        url = endpoint.url.rstrip("/")
        self._url = url if url.endswith(dialect.path) else url + dialect.path
        self._endpoint = endpoint
        self._dialect = dialect
        self._env = env
        self._known = [] if known is None else known  # the vectors' length, shared with the hurried one

    def hurried(self) -> Remote:
        """Return the same for when a person is waiting: fewer texts at once, and 10 seconds at most."""
        endpoint = self._endpoint._replace(timeout=min(_PATIENCE, self._endpoint.timeout))
        dialect = self._dialect._replace(batch=min(_FEW, self.batch))
        return Remote(endpoint, dialect, self._env, self._known)

    @property
    def dimension(self) -> int:
        """The length of the vectors; asks the endpoint if it has not answered yet."""
        if not self._known:
            self._ask(["a"])
        return self._known[0]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed in batches. A question is treated as any text, but waits 10 seconds at most."""
        import numpy as np

        if query:
            return self.hurried().embed(texts)

        def encode(kept: list[str]) -> NDArray[np.float64]:
            starts = range(0, len(kept), self.batch)
            return np.concatenate([self._ask(kept[at : at + self.batch]) for at in starts])

        return base.fill(self, texts, encode, longest=_LONGEST)

    def _ask(self, texts: list[str]) -> NDArray[np.float64]:
        """Return one row per text as the endpoint gave it, checked."""
        import numpy as np

        body = self._post(json.dumps(self._dialect.ask(self._endpoint.model, texts)).encode())
        try:
            rows = self._dialect.read(json.loads(body))
            sizes = {len(row) for row in rows}
            table = np.array(rows, dtype=np.float64) if len(sizes) == 1 else np.zeros((0, 0))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
            raise self._odd("what is no list of vectors") from fault
        if len(rows) != len(texts):
            raise self._odd(f"{len(rows)} vectors for {len(texts)} texts")
        if len(sizes) != 1:
            raise self._odd("vectors of different lengths")
        if table.ndim != 2 or not table.shape[1] or not np.isfinite(table).all():
            raise self._odd("what is no list of vectors")
        if not table.any():
            raise self._odd("vectors of zeros")  # stored, they would find nothing ever after
        if self._known[:1] not in ([], [table.shape[1]]):
            raise self._odd(f"vectors of {table.shape[1]} numbers, where it gave {self._known[0]} before")
        self._known[:] = [table.shape[1]]
        return table

    def _post(self, body: bytes) -> bytes:
        """Return the answer; the second try's failure counts."""
        try:
            return self._once(body)
        except _Passing:
            time.sleep(self._endpoint.pause)
        try:
            return self._once(body)
        except _Passing as fault:
            raise self._silent(fault.why) from fault

    def _once(self, body: bytes) -> bytes:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "User-Agent": "lamina"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        timeout = self._endpoint.timeout
        request = Request(self._url, body, headers, method="POST")  # noqa: S310 - the scheme was checked
        try:
            until = time.monotonic() + timeout
            with self._opener.open(request, timeout=timeout) as answer:
                return _whole(answer, until)
        except HTTPError as fault:
            with fault:
                raise self._refused(fault.code, _told(fault.read(_LARGEST))) from None
        except (OSError, HTTPException) as fault:
            reason = getattr(fault, "reason", "") or fault
            if isinstance(reason, TimeoutError):  # a second try would double the wait
                raise self._silent(f"no answer within {timeout:g} s") from fault
            raise _Passing(str(reason) or type(reason).__name__) from fault

    @cached_property
    def _opener(self) -> OpenerDirector:
        from urllib import request

        class Stay(request.HTTPRedirectHandler):
            def redirect_request(self, *_: Any) -> None:
                return None

        found = {
            scheme: self._env.get(f"{scheme}_proxy") or self._env.get(f"{scheme}_proxy".upper(), "")
            for scheme in ("http", "https")
        }
        around = {"no": self._env.get("no_proxy") or self._env.get("NO_PROXY", "")}
        direct = is_loopback(self._host) or bool(request.proxy_bypass_environment(self._host, around))  # type: ignore[attr-defined]
        proxies = {} if direct else {scheme: proxy for scheme, proxy in found.items() if proxy}
        return request.build_opener(request.ProxyHandler(proxies), Stay())

    def _refused(self, code: int, told: str) -> Exception:
        """Return the error for an HTTP status: one that a second try may mend, or a final one."""
        variable, key = self._endpoint.variable, self._endpoint.key
        if key:
            told = told.replace(key, "…")
        why = f"HTTP {code}{': ' + told if told else ''}"
        if code in (408, 429) or code >= 500:
            return _Passing(why)
        if code in (401, 403):
            variable = variable or KEY_ENV
            state = "refuses the key in" if key else "wants a key, and none is in"
            return errors.EmbedderUnavailable(
                f"the embedder {self.name} {state} the variable {variable} (HTTP {code})",
                f"set {variable} to a valid key, or {KEY_ENV} to the name of the variable that holds it",
            )
        hint = self._dialect.missing.format(model=self._endpoint.model) if code == 404 else ""
        return errors.EmbedderUnavailable(
            f"the embedder {self.name} refused: {why}",
            hint or "check the model and the address in the setting `embedder`",
        )

    def _silent(self, why: str) -> errors.EmbedderUnavailable:
        return errors.EmbedderUnavailable(
            f"the embedder {self.name} does not answer: {why}",
            "check that its server runs and that the address in the setting `embedder` is right",
        )

    def _odd(self, what: str) -> errors.EmbedderUnavailable:
        return errors.EmbedderUnavailable(
            f"the embedder {self.name} answered with {what}",
            "check that the model makes embeddings and that the address is the endpoint's",
        )


class _Passing(Exception):
    """A fault that a second try may mend."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def openai(
    model: str, url: str, env: Mapping[str, str], *, timeout: float = 30.0, pause: float = 0.5
) -> Remote:
    """Return an embedder that speaks OpenAI's protocol; `url` is "" for the vendor's own address.

    The key comes from the variable that `LAMINA_EMBEDDER_KEY_ENV` names, else from `OPENAI_API_KEY`; the
    latter never goes out in the clear, that is by http to another machine. Raises EmbedderUnavailable.
    """
    variable = env.get(KEY_ENV) or "OPENAI_API_KEY"
    key = env.get(variable, "").strip()
    if not url and not key:
        raise errors.EmbedderUnavailable(
            f"the embedder openai:{model} needs a key in the variable {variable}",
            f"set {variable}, or {KEY_ENV} to the name of the variable that holds the key",
        )
    url = url or OPENAI
    in_clear = url.lower().startswith("http:") and not is_loopback(_address(url)[0])
    if in_clear and not env.get(KEY_ENV):
        key = ""
    return Remote(Endpoint("openai", model, url, variable, key, timeout, pause), _OPENAI, env)


def ollama(
    model: str, url: str, env: Mapping[str, str], *, timeout: float = 30.0, pause: float = 0.5
) -> Remote:
    """Return an embedder that asks Ollama; `url` is "" for this machine's.

    Ollama itself knows no key; one that `LAMINA_EMBEDDER_KEY_ENV` names is sent, for servers behind a gate.
    Raises EmbedderUnavailable for an address that is none.
    """
    variable = env.get(KEY_ENV, "")
    key = env.get(variable, "").strip() if variable else ""
    return Remote(Endpoint("ollama", model, url or OLLAMA, variable, key, timeout, pause), _OLLAMA, env)


def is_loopback(host: str) -> bool:
    """Tell whether the host is this machine by its own address."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _address(url: str) -> tuple[str, str]:
    """Return the host, and host, port and path as a name. Raises EmbedderUnavailable for no such address."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or not url.isprintable():
        raise errors.EmbedderUnavailable(
            "the embedder's address must be http://HOST… or https://HOST… without a user or password",
            f"write openai:MODEL@https://HOST/v1; the key belongs into the variable that {KEY_ENV} names",
        )
    return parts.hostname, f"{parts.hostname}{port}{parts.path.rstrip('/')}"


def _whole(answer: HTTPResponse, until: float) -> bytes:
    """Read an answer; the connection's own timeout starts anew with each piece that arrives."""
    text = bytearray()
    while len(text) < _LARGEST and (part := answer.read1(_LARGEST - len(text))):
        text += part
        if time.monotonic() > until:
            raise TimeoutError
    return bytes(text)


def _told(body: bytes) -> str:
    """Return what an error answer says, on one short line."""
    try:
        value = json.loads(body)
        error = value.get("error", value) if isinstance(value, dict) else value
        text = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, RecursionError):
        text = body[:400].decode("utf-8", "replace")
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else line[:199] + "…"


def _read_openai(value: Any) -> list[Any]:
    rows = sorted(value["data"], key=lambda row: int(row["index"]))
    return [row["embedding"] for row in rows]


_OPENAI = Dialect(
    path="/embeddings",
    ask=lambda model, texts: {"model": model, "input": texts, "encoding_format": "float"},
    read=_read_openai,
    batch=64,
    missing="check the model {model} and the address, which mostly ends in /v1",
)
_OLLAMA = Dialect(
    path="/api/embed",
    ask=lambda model, texts: {"model": model, "input": texts, "truncate": True},
    read=lambda value: list(value["embeddings"]),
    batch=32,
    missing="run `ollama pull {model}`",
)
