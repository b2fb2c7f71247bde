"""The built-in core as other programs use it: one JSON object in, one out, and an exit code.

0 done, 1 an operation failed, 2 bad input, 3 no vector could be made where one was wanted, 4 busy or damaged.
Bad input and a core that can't be used are errors; everything else is a reply (SPEC section 13).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.formats.digest import is_hash
from lamina.formats.hashing import content_hash
from lamina.index import core
from lamina.pipeline import builtin
from lamina.pipeline.builtin import Embedders
from lamina.pipeline.semantic import Fact, Operation, Outcome, Promote, Purge, Supersede, Update

if TYPE_CHECKING:
    from lamina.embed.base import Embedder

Json = dict[str, Any]
MOST_ITEMS = 50_000
MOST_RESULTS = 1_000
_LONGEST_WORD = 2_000
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
        else [_fact(said, "the item")]
    )
    wanted = _flag(said, "requireEmbedding")
    if not path.parent.is_dir():
        raise errors.BadInput(f"{path.parent}: is no folder", "make it, or correct dbPath")
    with core.opened(path, at=clock()) as records, records.change():
        results = [_ingested(records, fact) for fact in facts]
    bare, failed = _vectors(path, embedders, clock)
    for each in results:
        each["embedded"] = not each.get("error") and bare is not None and each["content_hash"] not in bare
    if not _ok(results):
        return 1, {"ok": False, "results": results}
    lacking = wanted and not all(each["embedded"] for each in results)
    return (3 if failed or lacking else 0), {"ok": True, "results": results}


def refine(request: object, embedders: Embedders, clock: Callable[[], datetime]) -> tuple[int, Json]:
    """Do `operations` in one transaction. Raises BadInput, CoreUnavailable, NoSuchFile, UnwritableStore."""
    said = _object(request)
    path = _path(said)
    listed = said.get("operations")
    if not isinstance(listed, list) or not listed or len(listed) > MOST_ITEMS:
        raise errors.BadInput(f'"operations" is no list of 1 to {MOST_ITEMS}', _FORM)
    operations = [_operation(each, f"operation {n}") for n, each in enumerate(listed)]
    wanted = _flag(said, "requireEmbedding")
    with core.opened(path, at=clock(), make=False):
        pass  # without records there is nothing to refine
    done = builtin.operate(path, operations, clock())
    results = [_refined(each["type"], outcome) for each, outcome in zip(listed, done, strict=True)]
    if not _ok(results):
        return 1, {"ok": False, "results": results}
    new = {outcome.hash for each, outcome in zip(operations, done, strict=True) if isinstance(each, Update)}
    if not new and not wanted:
        return 0, {"ok": True, "results": results}
    bare, failed = _vectors(path, embedders, clock)
    lacking = wanted and (bare is None or bool(new & bare))
    return (3 if failed or lacking else 0), {"ok": True, "results": results}


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
    candidates, wanted = _flag(said, "includeCandidates"), _flag(said, "requireEmbedding")

    def ask(by: Embedder | None) -> tuple[str, list[core.Scored]]:
        with core.opened(path, at=clock(), make=False) as records:
            return records.query(text, limit=limit, candidates=candidates, embedder=by, least=float(least))

    embedder, failed = _embedder(embedders)
    try:
        if embedder is not None:
            builtin.fill(path, embedder, clock, within_s=builtin.EMBED_S)
        mode, found = ask(embedder)
    except errors.NoSuchFile:
        mode, found = "hybrid" if embedder else "fts", []
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
    return (3 if failed or (wanted and mode == "fts") else 0), {"ok": True, "mode": mode, "results": results}


def _ingested(records: core.Records, fact: Fact) -> Json:
    wrong = builtin.checked(fact)
    if wrong:
        told = {"content_hash": content_hash(fact.content), "status": None, "created": False}
        return told | {"embedded": False, "error": wrong}
    row = builtin.row_of(fact)
    status, created = records.ingest(row)
    return {"content_hash": row.hash, "status": status, "created": created, "embedded": False}


def _refined(kind: str, outcome: Outcome) -> Json:
    told: Json = {"type": kind, "content_hash": outcome.hash, "ok": outcome.ok}
    told["status"] = outcome.status or None
    return told | ({"error": outcome.error} if outcome.error else {})


def _vectors(
    path: Path, embedders: Embedders, clock: Callable[[], datetime]
) -> tuple[frozenset[str] | None, bool]:
    """Make the vectors that are missing; returns what has none (None: nothing has), and if one failed."""
    embedder, failed = _embedder(embedders)
    if embedder is None:
        return None, failed
    failed = bool(builtin.fill(path, embedder, clock, within_s=_EMBED_S))
    return builtin.without_vector(path, embedder.name, clock), failed


def _embedder(embedders: Embedders) -> tuple[Embedder | None, bool]:
    try:
        return embedders(), False
    except errors.EmbedderUnavailable:
        return None, True


def _ok(results: list[Json]) -> bool:
    return not any(each.get("error") for each in results)


def _fact(value: object, name: str) -> Fact:
    said = _object(value, name)
    content, source = said.get("content"), _text(said, "sourceRef", name)
    if not isinstance(content, str) or not content.strip():
        raise errors.BadInput(f"{name} has no content", _FORM)
    if not _is_clean(content):
        raise errors.BadInput(f"{name}: its content holds what is no text", "remove control characters")
    if len(content.encode()) > builtin.LONGEST:
        raise errors.BadInput(
            f"{name}: its content is longer than {builtin.LONGEST} bytes", "store less at once"
        )
    if not source.strip():
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
            fact = _fact(said, name)
            found = fact.hash or content_hash(fact.content)
            return Update(_hash(said, "oldHash", name), fact._replace(hash=found))
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
    if not isinstance(value, str) or not is_hash(value):
        raise errors.BadInput(f"{name}: its {key} is no content hash", "64 lower-case hex digits")
    return value


def _text(said: Mapping[str, Any], key: str, name: str) -> str:
    value = said.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST_WORD or not _is_clean(value):
        raise errors.BadInput(f"{name}: its {key} is no text of at most {_LONGEST_WORD} characters", _FORM)
    return value


def _flag(said: Mapping[str, Any], key: str) -> bool:
    value = said.get(key, False)
    if not isinstance(value, bool):
        raise errors.BadInput(f'"{key}" is neither true nor false', _FORM)
    return value


def _is_clean(text: str) -> bool:
    """Tell whether a text holds no control characters but tabs and line ends, and is fit for UTF-8."""
    return builtin.is_text(text) and not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)


def _object(value: object, name: str = "the request") -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise errors.BadInput(f"{name} is no JSON object", _FORM)
    return value


def _path(said: Mapping[str, Any]) -> Path:
    value = said.get("dbPath")
    if not isinstance(value, str) or not value.strip() or not _is_clean(value):
        raise errors.BadInput('"dbPath" names no file', "give the path of vectors.db")
    return Path(value)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
