"""What this machine can route to now. Finding is not using: no prompt and no key goes anywhere from here.

Only loopback is asked, and only for a list of models.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.models.routes import PROVIDERS, address, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lamina.models.routes import Provider


class Found(NamedTuple):
    """A route that can be named, and why it is offered."""

    route: str
    why: str


COMMANDS: Final[Mapping[str, str]] = {
    "claude": "host/claude-code",
    "codex": "host/codex",
    "gemini": "host/gemini",
    "opencode": "host/opencode",
    "qwen": "host/qwen",
}
"""Programs of agents, and the routes that run them."""
_LARGEST = 1 << 20
_MOST = 50
"""Models that one endpoint may list."""
USUAL: Final = ("ollama", "llamacpp", "vllm", "lmstudio")
"""Servers on this machine that are looked for."""


def found(
    env: Mapping[str, str],
    *,
    which: Callable[[str], str | None] = shutil.which,
    within_s: float = 1.0,
    local: Iterable[str] = USUAL,
) -> tuple[Found, ...]:
    """List the routes: vendors whose key is set, local endpoints that answer, and installed commands.

    Takes `within_s` seconds at most, whatever the endpoints do. `local` names the providers to look for.
    """
    waiting = [_Look(PROVIDERS[name], env, within_s) for name in local]
    vendors = [Found(f"{each.name}/{each.cheap}", f"{key} is set") for each, key in _keyed(env)]
    commands = [Found(route, f"{name} is installed") for name, route in COMMANDS.items() if which(name)]
    until = time.monotonic() + within_s
    for look in waiting:
        look.join(max(0.0, until - time.monotonic()))
    here = [each for look in waiting for each in tuple(look.found)]
    return (*vendors, *here, *commands)


def _keyed(env: Mapping[str, str]) -> list[tuple[Provider, str]]:
    """Return the vendors with a key, each with the variable that holds it."""
    return [
        (each, key)
        for each in PROVIDERS.values()
        if not each.local and each.cheap
        for key in [next((name for name in each.keys if env.get(name, "").strip()), "")]
        if key
    ]


class _Look(threading.Thread):
    """Asks one local endpoint for its models; what it found when somebody looks is what counts."""

    def __init__(self, provider: Provider, env: Mapping[str, str], within_s: float) -> None:
        super().__init__(daemon=True, name=f"lamina-{provider.name}")
        self.found: tuple[Found, ...] = ()
        self._provider = provider
        self._env = env
        self._until = time.monotonic() + within_s
        self.start()

    def run(self) -> None:
        from urllib.parse import urlsplit

        provider = self._provider
        try:
            where = address(provider, self._env)
        except errors.BadSetting:
            return
        parts = urlsplit(where.url)
        if not is_loopback(parts.hostname or ""):
            if provider.cheap:
                why = f"{where.source} names {parts.netloc}, which was not asked"
                self.found = (Found(f"{provider.name}/{provider.cheap}", why),)
            return
        listed = _listed(provider, where.url, self._until)
        why = f"{provider.name} answers at {parts.netloc}"
        self.found = tuple(Found(f"{provider.name}/{name}", why) for name in listed)


def _listed(provider: Provider, url: str, until: float) -> list[str]:
    """Return the models that an endpoint lists, none if it doesn't answer as one."""
    ollama = provider.name == "ollama"
    value = _get(f"{url.removesuffix('/v1')}/api/tags" if ollama else f"{url}/models", until)
    rows = value.get("models" if ollama else "data") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return []
    names = [row.get("name" if ollama else "id") for row in rows if isinstance(row, dict)]
    fit = [name for name in names if isinstance(name, str) and _fits(name)]
    return list(dict.fromkeys(fit))[:_MOST]


def _fits(name: str) -> bool:
    from lamina.models.routes import parse_route

    try:
        return parse_route(f"custom/{name}").model == name
    except errors.BadSetting:
        return False


def _get(url: str, until: float) -> Any:
    """Fetch JSON without proxies and redirects; None for anything else."""
    from http.client import HTTPException
    from urllib import request

    class Stay(request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    opener = request.build_opener(request.ProxyHandler({}), Stay())
    asked = request.Request(url, headers={"User-Agent": "lamina", "Accept": "application/json"})  # noqa: S310 - loopback
    try:
        with opener.open(asked, timeout=max(0.05, until - time.monotonic())) as answer:
            body = bytearray()
            while len(body) < _LARGEST and time.monotonic() < until and (part := answer.read1(_LARGEST)):
                body += part
        return json.loads(bytes(body))
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
