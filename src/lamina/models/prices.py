"""What a call costs, estimated from list prices: the package's `prices.toml`, below the person's own.

A model without a price costs an unknown sum, never nothing.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lamina.models.base import Reply

_SHIPPED = Path(__file__).with_name("prices.toml")
_VERSION = re.compile(r"(?:-latest|[-@]\d{4}-?\d{2}-?\d{2})$")
_HERE = re.compile(r"^https?://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?:[:/]|$)", re.IGNORECASE)
_MAX_PRICE = 1_000_000.0
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens. `note` says why a price is 0."""

    into: float
    out: float
    note: str = ""

    def of(self, reply: Reply) -> float:
        """Return what a reply cost, in dollars."""
        return (reply.tokens_in * self.into + reply.tokens_out * self.out) / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by route or by a pattern of routes; the person's own come first.

    `problems` tells what of the person's file could not be used.
    """

    shipped: Mapping[str, Price] = field(default_factory=dict)
    own: Mapping[str, Price] = field(default_factory=dict)
    as_of: date | None = None
    problems: tuple[str, ...] = ()

    def of(self, route: str, *, address: str = "") -> Price | None:
        """Return a route's price, None if it is not known.

        At an `address` that is not the vendor's, the vendor's price says nothing: this machine costs
        nothing, any other has a price only in the person's own file.
        """
        own = _match(self.own, route)
        if own is not None or not address:
            return own or _match(self.shipped, route)
        return Price(0.0, 0.0, "on your own machine") if _HERE.match(address) else None


def load(own: Path | None = None) -> Prices:
    """Read the prices of the package and those of the person's own file, if there is one."""
    shipped = _read(_SHIPPED)
    problems: list[str] = []
    mine = _checked(_mine(own, problems), f"{own}", problems) if own is not None else {}
    return Prices(_checked(shipped, str(_SHIPPED), []), mine, _day(shipped.get("as_of")), tuple(problems))


def _mine(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return _read(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        problems.append(f"{path}: {problem}; the prices that came with Lamina count")
        return {}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def _checked(data: Mapping[str, Any], place: str, problems: list[str]) -> dict[str, Price]:
    found: dict[str, Price] = {}
    routes = data.get("routes")
    for pattern, said in (routes if isinstance(routes, dict) else {}).items():
        into, out = (_number(said.get(key)) if isinstance(said, dict) else None for key in ("in", "out"))
        if into is None or out is None:
            problems.append(f'{place}: "{pattern}" needs `in` and `out`, dollars for a million tokens')
        else:
            found[pattern] = Price(into, out, str(said.get("note", "")))
    return found


def _match(prices: Mapping[str, Price], route: str) -> Price | None:
    """Return the price of the route itself, of the model without its date, or of the longest pattern."""
    for name in (route, _VERSION.sub("", route)):
        if name in prices:
            return prices[name]
    fitting = [pattern for pattern in prices if fnmatchcase(route, pattern)]
    return prices[max(fitting, key=len)] if fitting else None


def _number(said: Any) -> float | None:
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    return float(said) if math.isfinite(said) and 0 <= said <= _MAX_PRICE else None


def _day(said: Any) -> date | None:
    return said if isinstance(said, date) else None
