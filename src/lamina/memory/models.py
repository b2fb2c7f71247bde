"""Which models one memory may ask, from the settings: those that the person named, and no other."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lamina.memory.opened import Opened
    from lamina.models.base import Model
    from lamina.models.discover import Found
    from lamina.models.lent import Function
    from lamina.models.prices import Price, Prices
    from lamina.pipeline.asking import Climber, Permitted
    from lamina.store.meter import Caps

    Json = dict[str, Any]

# Models, caps and prices are the person's own: a project's file travels with its repository and names none.


def asker(opened: Opened) -> Climber | None:
    """Return who can put a question to a model, None where the person named none.

    Nothing is sent, started or looked for before the first question.
    """
    if opened.lent is not None:
        return lent(opened, opened.lent)
    given = permitted(opened)
    return None if given is None else _climber(opened, given)


def asker_of(opened: Opened, route: str) -> Climber:
    """Return who asks one model that the person names for this command; raises BadSetting for no route."""
    from lamina.models.routes import parse_route

    parse_route(route)
    return _climber(opened, _permit(opened, route, []))


def permitted(opened: Opened) -> Permitted | None:
    """Return the models that the settings name, None if they name none."""
    model, routes = opened.own["model"].strip(), opened.own["model_routes"]
    return _permit(opened, model, routes) if model or routes else None


def _permit(opened: Opened, model: str, routes: str | list[str]) -> Permitted:
    """Permit a model and more routes."""
    from lamina.pipeline.asking import Permitted

    env = opened.env
    named = canonical(model) if model else ""
    listed = {named, *([] if routes == "auto" else map(canonical, routes))}

    def may(route: str) -> bool:
        return route in listed or (routes == "auto" and _is_findable(route, env))

    def others() -> Iterable[str]:
        return [each.route for each in found(env)] if routes == "auto" else map(canonical, routes)

    def address(route: str) -> str:
        return _base_url(opened, route) if route in listed else ""  # what is found is asked where it is

    def build(route: str) -> Model:
        from lamina.models.choose import model_for

        absent = _absent(route, env, address(route))
        if absent:
            raise errors.ModelFailed(absent)
        folder = Layout(opened.root).state / "models"
        return model_for(route, env=env, base_url=address(route), folder=folder)

    wishes = json.dumps([named, routes], ensure_ascii=False)
    return Permitted(named, others, build, wishes, _pricing(opened, address), may)


def _base_url(opened: Opened, route: str) -> str:
    """Return `model_base_url` if it speaks of this route, else "".

    It is the address of `model`, whichever route a command names: a vendor's key must not go to a server that
    was meant for another model. Where no model is set it can only mean a server of the person's own.
    """
    from lamina.models.routes import PROVIDERS

    base_url, model = opened.own["model_base_url"], opened.own["model"].strip()
    if model:
        return base_url if route == canonical(model) else ""
    provider = PROVIDERS.get(route.partition("/")[0])
    return base_url if provider is not None and provider.local else ""


def lent(opened: Opened, lender: Function | Model) -> Climber:
    """Return who asks what was lent, and nothing else."""
    from lamina.models.lent import lend
    from lamina.pipeline.asking import Permitted

    model = lend(lender)
    price = _pricing(opened, lambda _: "")
    return _climber(opened, Permitted(model.route, tuple, lambda _: model, f"lent {model.route}", price))


def waiting(opened: Opened) -> str:
    """Say why background work should not ask a model now, "" if it may or if there is none to ask."""
    who = opened.asker
    return who.waiting() if who is not None else ""


def caps(opened: Opened) -> Caps:
    """Return what a UTC day may hold."""
    from lamina.store.meter import Caps

    return Caps(opened.own["model_daily_calls"], opened.own["model_daily_tokens"])


def state(opened: Opened) -> Json:
    """Return what the models were used for, what they may be used for, and what keeps them waiting.

    Asks no model and looks for none.
    """
    from lamina.pipeline.status import used

    limits = caps(opened)
    return {
        **used(Layout(opened.root), opened.clock()),
        "named": _named(opened),
        "cap": {"calls": limits.calls, "tokens": limits.tokens},
        "waiting": waiting(opened),
    }


def trouble(opened: Opened) -> list[str]:
    """Return what is wrong with the models that the settings name, and with the person's prices."""
    from lamina.models import prices

    given, routes = permitted(opened), opened.own["model_routes"]
    named = [opened.own["model"].strip(), *([] if routes == "auto" else routes)]
    found = {route: _problem(given, canonical(route)) for route in filter(None, named) if given is not None}
    told = [f"the model {route} can't be asked: {problem}" for route, problem in found.items() if problem]
    return [*told, *prices.load(opened.own.file.with_name("prices.toml")).problems]


def listing(opened: Opened) -> Json:
    """Return the routes that were named and those that are found on this machine now, and how each did."""
    from lamina.formats.dates import render_time
    from lamina.store import standing

    now, here = opened.clock(), standing.load(Layout(opened.root))
    given = permitted(opened)
    wishes = given.wishes if given else ""
    model, routes = opened.own["model"].strip(), opened.own["model_routes"]
    listed = [canonical(each) for each in ([model] if model else []) + ([] if routes == "auto" else routes)]
    why = {each.route: each.why for each in _look(opened.env)}
    rows = [
        {
            "route": route,
            "found": why.get(route, ""),
            "permitted": route in listed or routes == "auto",
            "benched_until": render_time(here.benched[route].until) if here.is_benched(route, now) else None,
            "won": given is not None and here.first(wishes, now) == route,
            "problem": _problem(given, route) if given and route in listed else "",
        }
        for route in dict.fromkeys((*listed, *why))
    ]
    return {"model": model, "model_routes": routes, "routes": rows, "waiting": waiting(opened)}


def check(key: str, value: str, *, project: bool = False) -> None:
    """Raise BadSetting for what can't be set, before it is written: a name that no model can have.

    A project's file says nothing of models: it travels with its repository.
    """
    from lamina.settings import SETTINGS, parse_value

    if project and key in SETTINGS:
        raise errors.BadSetting(f"{key} is a person's own setting", "set it without --project")
    if key not in ("model", "model_routes"):
        return
    given = parse_value(SETTINGS[key], value)
    for route in [given] if isinstance(given, str) else given:
        if route.strip() and (key, route) != ("model_routes", "auto"):
            from lamina.models.routes import parse_route

            parse_route(route)


def canonical(route: str) -> str:
    """Return a route as it is counted; one that names nothing stays, so that it is told when it is asked."""
    from lamina.models.routes import parse_route

    try:
        return parse_route(route).name
    except errors.BadSetting:
        return route


def found(env: Mapping[str, str]) -> tuple[Found, ...]:
    """Return what this machine can ask; it is looked for once in a process."""
    return _found(frozenset(env.items()))


@lru_cache(maxsize=4)
def _found(variables: frozenset[tuple[str, str]]) -> tuple[Found, ...]:
    return _look(dict(variables))


def _look(env: Mapping[str, str], *, local: Sequence[str] | None = None) -> tuple[Found, ...]:
    """Look for routes; `local` names the servers on this machine to ask, None the usual ones."""
    import shutil

    from lamina.models import discover

    path = env.get("PATH", "")
    servers = discover.USUAL if local is None else local
    return discover.found(env, which=lambda name: shutil.which(name, path=path), local=servers)


def _is_findable(route: str, env: Mapping[str, str]) -> bool:
    """Tell whether `auto` may have found a route here; no server is asked, so it may be gone."""
    from lamina.models.discover import USUAL

    provider, _, model = route.partition("/")
    if provider in USUAL:
        return bool(model)
    return any(each.route == route for each in _look(env, local=()))


def _climber(opened: Opened, given: Permitted) -> Climber:
    from lamina.pipeline.asking import Climber

    return Climber(
        Layout(opened.root),
        given,
        caps=caps(opened),
        clock=opened.clock,
        within_s=opened.own["model_timeout_s"],
    )


def _pricing(opened: Opened, base_url: Callable[[str], str]) -> Callable[[str], Price | None]:
    """Return what tells a route's price; the files are read when the first one is asked for."""
    read: list[Prices] = []

    def price(route: str) -> Price | None:
        from lamina.models import prices

        if not read:
            read.append(prices.load(opened.own.file.with_name("prices.toml")))
        return read[0].of(route, address=_elsewhere(route, opened.env, base_url(route)))

    return price


def _elsewhere(route: str, env: Mapping[str, str], base_url: str) -> str:
    """Return where a route is asked if that is not the vendor, "" if it is."""
    from lamina.models.routes import PROVIDERS, address, parse_route

    try:
        provider = PROVIDERS[parse_route(route).provider]
        where = address(provider, env, base_url)
    except errors.BadSetting:
        return base_url
    return where.url if where.source and (not provider.local or provider.name == "custom") else ""


def _absent(route: str, env: Mapping[str, str], base_url: str) -> str:
    """Say what a route lacks on this machine, "" if nothing: then it takes no rung and counts as no call."""
    from lamina.models.routes import PROVIDERS, address, parse_route

    found = parse_route(route)
    provider = PROVIDERS[found.provider]
    if provider.kind == "host":
        return _no_program(found.model, env)
    if provider.local or address(provider, env, base_url).source:
        return ""
    has_key = any(env.get(name, "").strip() for name in provider.keys)
    return "" if has_key else f"there is no key; set {' or '.join(provider.keys)}"


def _no_program(host: str, env: Mapping[str, str]) -> str:
    import shutil

    from lamina.models.programs import PROGRAMS

    program = PROGRAMS.get(host.replace("/", ":").partition(":")[0])
    if program is None:
        return f"no host is called {host}; there are " + ", ".join(PROGRAMS)
    there = shutil.which(program.name, path=env.get("PATH", ""))
    return "" if there else f"the program {program.name} is not on PATH"


def _named(opened: Opened) -> list[str]:
    if opened.lent is not None:
        from lamina.models.lent import lend

        return [lend(opened.lent).route]
    model, routes = opened.own["model"].strip(), opened.own["model_routes"]
    return list(dict.fromkeys([*filter(None, [model]), *(["auto"] if routes == "auto" else routes)]))


def _problem(given: Permitted, route: str) -> str:
    """Say why a named route can't be asked here, "" if it can, as far as that is known without asking."""
    try:
        given.build(route)
    except (errors.ModelFailed, errors.BadSetting) as problem:
        return problem.message
    return ""
