"""The built-in core as other programs use it: one JSON object in, one out, and an exit code.

0 done, 1 an operation failed, 2 bad input, 3 no vector could be made where one was wanted, 4 busy or damaged.
Bad input and a core that can't be used are errors; everything else is a reply (SPEC section 13).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.hashing import content_hash
from lamina.index import core
from lamina.pipeline import builtin
from lamina.pipeline.builtin import Builtin
from lamina.pipeline.semantic import Fact, Operation, Promote, Purge, Supersede, Update

if TYPE_CHECKING:
    from lamina.embed.base import Embedder

Json = dict[str, Any]
Embedders = Callable[[], "Embedder | None"]

LONGEST = 64 << 10
"""Bytes of one content."""
MOST_ITEMS = 50_000
MOST_RESULTS = 1_000
_EMBED_S = 600.0  # whoever stores by hand waits for all vectors
_FORM = "`lamina semantic --help` shows what is asked for"


def ingest(request: object, embedders: Embedders, clock: Callable[[], datetime]) -> tuple[int, Json]:
    """Store one item, or `items`, as candidates. Raises BadInput, CoreUnavailable, UnwritableStore."""
    said = _object(request)
    path = _path(said)
    listed = said.get("items")
    if listed is not None and (not isinstance(listed, list) or len(listed) > MOST_ITEMS):
        raise errors.BadInput(f'"items" is no list of at most {MOST_ITEMS}', _FORM)
    facts = (
        [_fact(each, f"item {n}") for n, each in enumerate(listed)]
        if listed is not None
        else [_fact(said, "it")]
    )
    results: list[Json] = []
    with core.opened(path, at=clock()) as records, records.change():
        for fact in facts:
            wrong = builtin.checked(fact)
            if wrong:
                results.append({"content_hash": content_hash(fact.content), "status": None, "created": False,
                                "embedded": False, "error": wrong})  # fmt: skip
                continue
            row = builtin.row_of(fact)
            status, created = records.ingest(row)
            results.append({"content_hash": row.hash, "status": status, "created": created})
    failed = _embedded(path, results, embedders, clock)
    wanted = said.get("requireEmbedding") is True
    return _code(results, embedder_failed=failed, wanted=wanted), {"ok": _ok(results), "results": results}


def refine(request: object, embedders: Embedders, clock: Callable[[], datetime]) -> tuple[int, Json]:
    """Do `operations` in one transaction. Raises BadInput, CoreUnavailable, NoSuchFile, UnwritableStore."""
    said = _object(request)
    path = _path(said)
    listed = said.get("operations")
    if not isinstance(listed, list) or not listed or len(listed) > MOST_ITEMS:
        raise errors.BadInput(f'"operations" is no list of 1 to {MOST_ITEMS}', _FORM)
    operations = [_operation(each, f"operation {n}") for n, each in enumerate(listed)]
    with core.opened(path, at=clock(), make=False):
        pass  # without records there is nothing to refine, and busy or damaged ones are an error of their own
    done = Builtin(path, embedders, clock).refine(operations)
    results: list[Json] = [
        {
            "type": each["type"],
            "content_hash": outcome.hash,
            "ok": outcome.ok,
            "status": outcome.status or None,
        }
        | ({"error": outcome.error} if outcome.error else {})
        for each, outcome in zip(listed, done, strict=True)
    ]
    good = all(each.ok for each in done)
    failed = good and _embedder(embedders)[1]
    wanted = said.get("requireEmbedding") is True
    code = 0 if good else 1
    return (3 if good and (failed or (wanted and _embedder(embedders)[0] is None)) else code), {
        "ok": good,
        "results": results,
    }


def query(request: object, embedders: Embedders, clock: Callable[[], datetime]) -> tuple[int, Json]:
    """Find approved records, and candidates if they are asked for. Raises BadInput, CoreUnavailable."""
    said = _object(request)
    path = _path(said)
    text = said.get("query")
    if not isinstance(text, str) or not text.strip():
        raise errors.BadInput('"query" has no text', _FORM)
    limit, least = said.get("limit", 5), said.get("minScore", 0.0)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MOST_RESULTS:
        raise errors.BadInput(f'"limit" is no number from 1 to {MOST_RESULTS}', _FORM)
    if not _is_share(least):
        raise errors.BadInput('"minScore" is no number from 0 to 1', _FORM)
    candidates = said.get("includeCandidates", False)
    if not isinstance(candidates, bool):
        raise errors.BadInput('"includeCandidates" is neither true nor false', _FORM)

    def ask(by: Embedder | None) -> tuple[str, list[core.Scored]]:
        with core.opened(path, at=clock(), make=False) as records:
            return records.query(text, limit=limit, candidates=candidates, embedder=by, least=float(least))

    embedder, failed = _embedder(embedders)
    try:
        if embedder is not None:
            builtin.fill(path, embedder, clock, within_s=builtin.EMBED_S)
        mode, found = ask(embedder)
    except errors.NoSuchFile:
        mode, found = "fts", []
    except errors.EmbedderUnavailable:
        failed = True
        mode, found = ask(None)
    results = [
        {
            "content_hash": row.hash,
            "content": row.content,
            "source_ref": row.source,
            "item_id": row.item,
            "kind": row.kind,
            "status": row.status,
            "confidence": row.confidence,
            "score": score,
        }
        for row, score in found
    ]
    none = said.get("requireEmbedding") is True and mode != "hybrid"
    return (3 if failed or none else 0), {"ok": True, "mode": mode, "results": results}


def _embedded(path: Path, results: list[Json], embedders: Embedders, clock: Callable[[], datetime]) -> bool:
    """Make vectors and say of each result whether it has one; tells whether an embedder failed."""
    embedder, failed = _embedder(embedders)
    held: frozenset[str] = frozenset()
    good = [each for each in results if not each.get("error")]
    if embedder is not None:
        failed = bool(builtin.fill(path, embedder, clock, within_s=_EMBED_S))
        with core.opened(path, at=clock(), make=False) as records:
            held = records.embedded([each["content_hash"] for each in good], embedder.name)
    for each in good:
        each["embedded"] = each["content_hash"] in held
    return failed


def _embedder(embedders: Embedders) -> tuple[Embedder | None, bool]:
    try:
        return embedders(), False
    except errors.EmbedderUnavailable:
        return None, True


def _code(results: list[Json], *, embedder_failed: bool, wanted: bool) -> int:
    if not _ok(results):
        return 1
    bare = any(not each.get("embedded") for each in results)
    return 3 if embedder_failed or (wanted and bare) else 0


def _ok(results: list[Json]) -> bool:
    return not any(each.get("error") for each in results)


def _fact(value: object, name: str) -> Fact:
    said = _object(value, name)
    content, source = said.get("content"), said.get("sourceRef")
    if not isinstance(content, str) or not content.strip():
        raise errors.BadInput(f"{name} has no content", _FORM)
    if len(content.encode("utf-8", "replace")) > LONGEST:
        raise errors.BadInput(f"{name}: its content is longer than {LONGEST} bytes", "store less at once")
    if any("\ud800" <= char <= "\udfff" or (char < " " and char not in "\t\n\r") for char in content):
        raise errors.BadInput(f"{name}: its content holds what is no text", "remove control characters")
    if not isinstance(source, str) or not source.strip():
        raise errors.BadInput(f"{name} has no sourceRef", "say where it comes from: file#session-ID")
    more = [_text(said, key, name) for key in ("contentHash", "itemId", "kind")]
    confidence = said.get("confidence")
    if confidence is not None and not _is_share(confidence):
        raise errors.BadInput(f"{name}: its confidence is no number from 0 to 1", _FORM)
    return Fact(content, more[0], source, more[1], more[2], None if confidence is None else float(confidence))


def _operation(value: object, name: str) -> Operation:
    said = _object(value, name)
    match said.get("type"):
        case "promote":
            confidence = said.get("confidence", builtin.CONFIDENCE)
            if not _is_share(confidence):
                raise errors.BadInput(f"{name}: its confidence is no number from 0 to 1", _FORM)
            return Promote(_hash(said, "hash", name), float(confidence))
        case "update":
            return Update(_hash(said, "oldHash", name), _fact(said, name))
        case "supersede":
            return Supersede(_hash(said, "hash", name), _text(said, "by", name), _text(said, "reason", name))
        case "purge":
            return Purge(_hash(said, "hash", name))
        case other:
            raise errors.BadInput(
                f"{name}: there is no type {str(other)[:40]!r}", "promote, update, supersede or purge"
            )


def _hash(said: Mapping[str, Any], key: str, name: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or len(value) != 64 or not set(value) <= set("0123456789abcdef"):
        raise errors.BadInput(f"{name}: its {key} is no content hash", "64 lower-case hex digits")
    return value


def _text(said: Mapping[str, Any], key: str, name: str) -> str:
    value = said.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 2_000:
        raise errors.BadInput(f"{name}: its {key} is no text", _FORM)
    return value


def _object(value: object, name: str = "the request") -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise errors.BadInput(f"{name} is no JSON object", _FORM)
    return value


def _path(said: Mapping[str, Any]) -> Path:
    value = said.get("dbPath")
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise errors.BadInput('"dbPath" names no file', "give the path of vectors.db")
    path = Path(value).expanduser()
    if not path.parent.is_dir():
        raise errors.BadInput(f"{path.parent}: is no folder", "make it, or correct dbPath")
    return path


def _is_share(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= 1  # type: ignore[arg-type, operator]
