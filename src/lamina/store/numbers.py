"""The numbers of ids: unique per scope and layer, and never given out twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from lamina import errors
from lamina.formats.layers import LAYERS
from lamina.store import files
from lamina.store.ledger import Ledger, prefix_of
from lamina.store.record import TOO_HIGH, highest
from lamina.store.store import Store

_SUPPRESSED_ID = re.compile(r'"id"\s*:\s*"([^"\\]{1,120})"')


class Numbers:
    """The highest number given out under each `<key>-<abbreviation>`.

    `state/ids.json` remembers the numbers of entries that are gone; without it, what the files and the
    tombstones hold is the measure. Use it under the store's lock.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._high: dict[str, int] | None = None
        self._saved: dict[str, int] | None = None

    def next(self, ledger: Ledger) -> int:
        """Take the next free number of a layer whose held numbers are reserved."""
        prefix = prefix_of(ledger.scope, ledger.layer)
        high = self._numbers()
        high[prefix] = high.get(prefix, 0) + 1
        while high[prefix] >= TOO_HIGH and ledger.files_with(f"{prefix}-{high[prefix]}"):
            high[prefix] += 1  # numbers that high are not counted, so they are looked up
        return high[prefix]

    def reserve(self, ids: Iterable[str]) -> None:
        """Never give out these ids."""
        self._raise(highest(ids))

    def reserve_held(self, ledger: Ledger) -> None:
        """Never give out the ids that stand in a layer's files."""
        for record in ledger.records.values():
            self._raise(record.numbers)

    def save(self) -> None:
        """Remember the numbers. Not synced: after a power cut the files are the measure."""
        if self._high is not None and self._high != self._saved:
            text = json.dumps(self._high, sort_keys=True, separators=(",", ":"))
            files.overwrite(self._store.layout.ids, text)
            self._saved = dict(self._high)

    def _raise(self, numbers: dict[str, int]) -> None:
        high = self._numbers()
        for prefix, number in numbers.items():
            if number > high.get(prefix, 0):
                high[prefix] = number

    def _numbers(self) -> dict[str, int]:
        if self._high is None:
            self._high = self._load()
            if self._high is None:
                self._high = {}
                self._count_everything()
        return self._high

    def _load(self) -> dict[str, int] | None:
        try:
            data = files.parse_json(files.read_bytes(self._store.layout.ids))
        except (errors.LaminaError, ValueError):
            return None
        if not isinstance(data, dict) or not all(map(_is_number, data.values())):
            return None
        self._saved = dict(data)
        return data

    def _count_everything(self) -> None:
        for scope in self._store.scopes():
            for name, layer in LAYERS.items():
                if not layer.many:
                    continue
                for record in self._store.ledger(scope, name).records.values():
                    self._raise(record.numbers)
                if legacy := self._store.legacy(scope, name):
                    self.reserve(entry.id or "" for entry in legacy.entries)
            try:
                text = files.read_optional(self._store.layout.suppressed(scope)) or ""
            except errors.LaminaError:
                continue  # whoever reads the tombstones reports it
            self.reserve(_SUPPRESSED_ID.findall(text))


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= TOO_HIGH
