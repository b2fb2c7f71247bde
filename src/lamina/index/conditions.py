"""A query's filters as SQL."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.index import tables
from lamina.index.base import TRUSTS, Query


class Conditions:
    """Days as a range of row numbers, the rest on the table `doc d`."""

    def __init__(self, query: Query) -> None:
        self.days, self.rest = "", ""
        self.day_values: list[object] = []
        self.rest_values: list[object] = []
        if query.since or query.until:
            self.days += " AND rowid >= ?"
            self.day_values.append(max(tables.row_of(query.since), tables.FIRST_DAY))
        if query.until:
            self.days += " AND rowid < ?"
            self.day_values.append(tables.row_of(query.until) + tables.FIRST_DAY)
        if query.scopes:
            self._within("scope", query.scopes)
        if query.layers:
            self._within("layer", query.layers)
        if not query.trust >= TRUSTS:
            self._within("trust", query.trust)
        if query.branches is not None:
            self._within("branch", {"", *query.branches})
        if query.topic:
            self.rest += " AND (d.topic = ? OR d.file IN (SELECT id FROM file WHERE rel LIKE ? ESCAPE '\\'))"
            self.rest_values += [tables.topic_key(query.topic), f"%/{literal(query.topic)}.md"]

    @property
    def values(self) -> list[object]:
        """The values of all conditions."""
        return self.day_values + self.rest_values

    def on(self, row: str) -> str:
        """Return all conditions, each with ` AND ` in front, with `row` as the row's number."""
        return self.days.replace("rowid", row) + self.rest

    def _within(self, column: str, allowed: Iterable[str]) -> None:
        chosen = sorted(allowed)
        self.rest += f" AND d.{column} IN ({','.join('?' * len(chosen))})"
        self.rest_values += chosen


def literal(text: str) -> str:
    """Return a text that LIKE takes as it stands."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
