"""`lamina semantic`: the records behind a digest, for programs: one JSON object in, one out."""

from __future__ import annotations

import sys

from lamina.errors import BadInput, UsageError
from lamina.interfaces.cli import project
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output

VERBS = ("ingest", "refine", "query", "rebuild")
HELP = (
    "Store, refine and query the records of a project's knowledge (vectors.db). ingest, refine and query "
    "read one JSON object from standard input and print one: "
    'ingest {"dbPath", "content", "sourceRef", "itemId"?, "kind"?, "contentHash"?, "confidence"?} or '
    '{"dbPath", "items": […]}; refine {"dbPath", "operations": [{"type": "promote", "hash", "confidence"} | '
    '{"type": "update", "oldHash", "content", "sourceRef"} | {"type": "supersede", "hash", "by"?, "reason"?} '
    '| {"type": "purge", "hash"}]}; '
    'query {"dbPath", "query", "limit"?, "minScore"?, "includeCandidates"?}. rebuild makes the records of '
    "the current project anew from its digest. Exit codes: 0 done, 1 an operation failed, 2 bad input, 3 no "
    "vector could be made, 4 busy or damaged."
)


def run(name: str, arguments: list[str], out: Output) -> int:
    """Answer one request."""
    parser = command(
        name,
        HELP,
        examples=(
            'echo \'{"dbPath": "memory/vectors.db", "query": "retries"}\' | lamina semantic query',
            "lamina semantic rebuild",
        ),
    )
    parser.add_argument("verb", metavar="VERB", help="ingest, refine, query or rebuild")
    project.add_place(parser)
    options = parser.options(arguments)
    if options.verb not in VERBS:
        raise UsageError(f"lamina semantic: there is no {options.verb!r}", f"use one of: {', '.join(VERBS)}")
    memory = open_memory(options, out)
    if options.verb == "rebuild":
        done = memory.semantic_rebuild(project=options.project, memory_path=options.memory_path)
        failed = f", {len(done['failed'])} failed" if done["failed"] else ""
        out.result(done, f"{done['records']} records in {done['vectors']}{failed}")
        return 1 if done["failed"] else 0
    out.json = True  # what programs read is JSON, also where something goes wrong
    code, reply = memory.semantic(options.verb, _request())
    out.line(reply)
    return code


def _request() -> object:
    """Return the JSON on standard input. Raises BadInput."""
    import json

    data = sys.stdin.buffer.read(project.MOST_BYTES + 1) if sys.stdin else b""
    if len(data) > project.MOST_BYTES:
        raise BadInput(f"the request is larger than {project.MOST_BYTES >> 20} MB", "send it in parts")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise BadInput("standard input: is no JSON (nested too deep)", "send it flatter") from None
    except ValueError as problem:
        raise BadInput(
            f"standard input: is no JSON ({problem})", "`lamina semantic --help` shows what is asked for"
        ) from None
