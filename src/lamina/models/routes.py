"""Names of routes, `provider/model`, and what each provider is: its protocol, address and variables.

Addresses, variables and default models are the vendors' own, from their documentation of November 2026.
"""

from __future__ import annotations

from lamina import errors
from lamina.formats.frozen import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final


class Route(NamedTuple):
    """Where a prompt goes. The model may hold slashes and colons: `openrouter/deepseek/deepseek-chat`."""

    provider: str
    model: str

    @property
    def name(self) -> str:
        """The route as it is written."""
        return f"{self.provider}/{self.model}"


class Provider(NamedTuple):
    """One way to reach models.

    `kind` is the protocol: openai, anthropic, gemini, or host for a command line. The first variable of
    `keys` and of `addresses` that is set counts. `url` is "" where only a person knows it. `cheap` is the
    model to offer where the key is there and none was named. `limit` is the parameter that limits a reply,
    `thinks` the tokens added to it where reasoning counts against it.
    """

    name: str
    kind: str
    url: str = ""
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    cheap: str = ""
    local: bool = False
    limit: str = "max_tokens"
    thinks: int = 0
    grammar: bool = False


class Address(NamedTuple):
    """Where a provider answers, and who said so: a setting, a variable, or the vendor."""

    url: str
    source: str = ""


class Endpoint(NamedTuple):
    """One model at one address, and the key that goes there: "" for none.

    `variable` is what holds the key, or would. `keyless` says that the endpoint may well want none.
    """

    route: str
    model: str
    url: str
    key: str = ""
    variable: str = ""
    keyless: bool = False

    def __repr__(self) -> str:
        """Name the route alone: a key is not for tracebacks."""
        return f"Endpoint({self.route!r})"


PROVIDERS: Final[Mapping[str, Provider]] = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            "openai",
            "https://api.openai.com/v1",
            ("OPENAI_API_KEY",),
            ("OPENAI_BASE_URL",),
            "gpt-5-mini",
            limit="max_completion_tokens",
            thinks=4096,
        ),
        Provider(
            "anthropic",
            "anthropic",
            "https://api.anthropic.com",
            ("ANTHROPIC_API_KEY",),
            ("ANTHROPIC_BASE_URL",),
            "claude-haiku-4-5",
        ),
        Provider(
            "gemini",
            "gemini",
            "https://generativelanguage.googleapis.com",
            ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            ("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
            "gemini-3.5-flash-lite",
            thinks=4096,
        ),
        Provider(
            "deepseek",
            "openai",
            "https://api.deepseek.com",
            ("DEEPSEEK_API_KEY",),
            ("DEEPSEEK_BASE_URL",),
            "deepseek-flash",
            thinks=4096,
        ),
        Provider(
            "openrouter",
            "openai",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
            ("OPENROUTER_BASE_URL",),
            "openai/gpt-5-mini",
            thinks=4096,
        ),
        Provider(
            "mistral",
            "openai",
            "https://api.mistral.ai/v1",
            ("MISTRAL_API_KEY",),
            ("MISTRAL_BASE_URL",),
            "mistral-small-latest",
        ),
        Provider(
            "groq",
            "openai",
            "https://api.groq.com/openai/v1",
            ("GROQ_API_KEY",),
            ("GROQ_BASE_URL",),
            "openai/gpt-oss-20b",
            limit="max_completion_tokens",
            thinks=4096,
        ),
        Provider(
            "xai",
            "openai",
            "https://api.x.ai/v1",
            ("XAI_API_KEY",),
            ("XAI_BASE_URL",),
            "grok-4.20-non-reasoning",
            limit="max_completion_tokens",
            thinks=4096,
        ),
        Provider(
            "together",
            "openai",
            "https://api.together.ai/v1",
            ("TOGETHER_API_KEY",),
            ("TOGETHER_BASE_URL",),
            "openai/gpt-oss-20b",
            thinks=4096,
        ),
        Provider(
            "ollama",
            "openai",
            "http://127.0.0.1:11434/v1",
            ("OLLAMA_API_KEY",),
            ("OLLAMA_HOST",),
            "qwen3",
            local=True,
        ),
        Provider(
            "vllm",
            "openai",
            "http://127.0.0.1:8000/v1",
            ("VLLM_API_KEY",),
            ("VLLM_BASE_URL",),
            local=True,
        ),
        Provider(
            "llamacpp",
            "openai",
            "http://127.0.0.1:8080/v1",
            ("LLAMA_API_KEY",),
            ("LLAMACPP_BASE_URL",),
            local=True,
            grammar=True,
        ),
        Provider(
            "lmstudio",
            "openai",
            "http://127.0.0.1:1234/v1",
            ("LM_API_TOKEN",),
            ("LMSTUDIO_BASE_URL",),
            local=True,
        ),
        Provider("custom", "openai", "", ("LAMINA_MODEL_KEY",), local=True),
        Provider("host", "host"),
    )
}
_EXAMPLES: Final = "such as openai/gpt-5-mini, anthropic/claude-haiku-4-5, ollama/qwen3 or host/claude-code"
_LONGEST: Final = 200


def parse_route(text: str) -> Route:
    """Read `provider/model`. Raises BadSetting for an unknown provider or a missing model."""
    provider, slash, model = text.strip().partition("/")
    provider, model = provider.strip().lower(), model.strip()
    if provider not in PROVIDERS:
        raise errors.BadSetting(f'"{_shown(text)}" names no model', _nearest(provider, whole=bool(slash)))
    if not model:
        example = PROVIDERS[provider].cheap or ("claude-code" if provider == "host" else "MODEL")
        raise errors.BadSetting(
            f'"{_shown(text)}" names a provider and no model',
            f"write provider/model, such as {provider}/{example}",
        )
    if len(model) > _LONGEST or not model.isprintable() or any(char.isspace() for char in model):
        raise errors.BadSetting(
            f'"{_shown(text)}" can\'t be the name of a model', f"write provider/model, {_EXAMPLES}"
        )
    return Route(provider, model)


def address(provider: Provider, env: Mapping[str, str], base_url: str = "") -> Address:
    """Tell where the provider answers: the setting wins over its variable, that over the vendor's own.

    An address without a path gets the one that the protocol's endpoints have. Raises BadSetting for one that
    is none, or that carries a user or a password.
    """
    if base_url.strip():
        return Address(_whole(provider, base_url.strip(), "the setting model_base_url"), "model_base_url")
    for name in provider.addresses:
        if value := env.get(name, "").strip():
            if name == "OLLAMA_HOST":
                value = ollama_url(value)
            return Address(_whole(provider, value, f"the variable {name}"), name)
    if not provider.url:
        raise errors.BadSetting(
            f"the provider {provider.name} has no address of its own",
            "say where it answers: lamina config set model_base_url http://127.0.0.1:8000/v1",
        )
    return Address(provider.url)


def ollama_url(host: str) -> str:
    """Turn OLLAMA_HOST into an address as Ollama does: bare hosts, ports alone, and 0.0.0.0 are allowed.

    A server that listens on every interface is asked on loopback.
    """
    scheme, mark, rest = host.strip().strip("\"'").partition("://")
    if not mark:
        scheme, rest = "http", scheme
    place, _, path = rest.partition("/")
    name, port = _split(place)
    name = _HERE.get(name) or (f"[{name}]" if ":" in name else name)
    if not port and not mark:
        port = "11434"
    return f"{scheme}://{name}{f':{port}' if port else ''}{f'/{path}' if path else ''}"


_HERE: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - nothing is bound


def is_loopback(host: str) -> bool:
    """Tell whether the host is this machine by its own address."""
    from ipaddress import ip_address

    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def in_clear(url: str) -> bool:
    """Tell whether what goes to the address can be read on the way: by http to another machine."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _split(place: str) -> tuple[str, str]:
    """Split host and port, where an IPv6 address stands in brackets or alone."""
    if place.startswith("["):
        name, _, port = place[1:].partition("]")
        return name, port.removeprefix(":")
    if place.count(":") > 1:
        return place, ""
    name, _, port = place.partition(":")
    return name, port


def _whole(provider: Provider, url: str, source: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        valid = parts.port is None or parts.port > 0
    except ValueError:
        parts, valid = urlsplit(""), False
    fits = (
        valid
        and parts.scheme in ("http", "https")
        and parts.hostname
        and url.isprintable()
        and " " not in url
    )
    if not fits or parts.username is not None or parts.query or parts.fragment:
        raise errors.BadSetting(
            f"{source} must be http://HOST… or https://HOST…, without a user, a password or a query",
            f"write {provider.url or 'http://127.0.0.1:8000/v1'} or the like; a key belongs into a variable",
        )
    path = parts.path.rstrip("/")
    for ending in _ENDINGS[provider.kind]:
        path = path.removesuffix(ending)
    if provider.kind == "openai" and not path and provider.name != "deepseek":
        path = "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}"


_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("/chat/completions",),
    "anthropic": ("/messages", "/v1"),
    "gemini": ("/models", "/v1beta", "/v1"),
    "host": (),
}


def _nearest(provider: str, *, whole: bool) -> str:
    from difflib import get_close_matches

    other = {
        "google": "gemini",
        "claude": "anthropic",
        "gpt": "openai",
        "llama.cpp": "llamacpp",
        "lm-studio": "lmstudio",
    }
    near = [other[provider]] if provider in other else get_close_matches(provider, PROVIDERS, n=1)
    if near and whole:
        model = PROVIDERS[near[0]].cheap or ("claude-code" if near[0] == "host" else "MODEL")
        return f"did you mean {near[0]}/{model}? Providers are " + ", ".join(PROVIDERS)
    return f"write provider/model, {_EXAMPLES}; providers are " + ", ".join(PROVIDERS)


def _shown(text: str) -> str:
    """Clip what is quoted back, and hide what looks like a key or an address with a password."""
    line = "".join(char if char.isprintable() else "�" for char in text.strip())
    line = line.rpartition("@")[2] if "@" in line and "://" in line else line
    return line if len(line) <= 60 else line[:59] + "…"
