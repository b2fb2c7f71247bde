"""From a route's name to a model. Loads no client: each is loaded by the first prompt that goes its way."""

from __future__ import annotations

from lamina.models.routes import PROVIDERS, Endpoint, address, in_clear, parse_route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lamina.models.base import Model
    from lamina.models.routes import Provider, Route


def model_for(route: str, *, env: Mapping[str, str], base_url: str = "", folder: Path) -> Model:
    """Return the model that the route names. Nothing is asked, and no key needed, before the first prompt.

    Only `env` counts: the process's own variables, and files with credentials, are never read. `base_url`,
    the setting model_base_url, is meant for one route and wins over the provider's variable. `folder` is
    where host commands may make their working directory. Raises BadSetting for a route or an address that is
    none.
    """
    found = parse_route(route)
    provider = PROVIDERS[found.provider]
    if provider.kind == "host":
        from lamina.models.command import command_model

        return command_model(found.model, env=env, folder=folder)
    return _remote(_endpoint(found, provider, env, base_url), provider, env)


def _remote(endpoint: Endpoint, provider: Provider, env: Mapping[str, str]) -> Model:
    """Return the client of the provider's protocol."""
    match provider.kind:
        case "anthropic":
            from lamina.models.anthropic import Anthropic

            return Anthropic(endpoint, env)
        case "gemini":
            from lamina.models.gemini import Gemini

            return Gemini(endpoint, provider.thinks, env)
        case _:
            from lamina.models.openai import OpenAI, Shape

            return OpenAI(endpoint, Shape(provider.limit, provider.thinks, grammar=provider.grammar), env)


def _endpoint(route: Route, provider: Provider, env: Mapping[str, str], base_url: str) -> Endpoint:
    """Bring address and key together. Whoever points a vendor's route elsewhere may need no key there."""
    where = address(provider, env, base_url)
    variable = next((name for name in provider.keys if env.get(name, "").strip()), provider.keys[0])
    key = env.get(variable, "").strip()
    if provider.local and provider.url and in_clear(where.url):
        key = ""  # it may be another server's, and most local ones want none
    keyless = provider.local or bool(where.source)
    return Endpoint(route.name, route.model, where.url, key, variable, keyless=keyless)
