"""The tools that are compared: how each is installed, and its commands to index, update and search."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import environments

DRIVERS = Path(__file__).parent / "drivers"
MODEL = "wordllama-256"


class Here(NamedTuple):
    """Where one tool works on one corpus: its programs, its folder there, and the embedding endpoint."""

    programs: Path
    folder: Path
    url: str

    @property
    def pages(self) -> str:
        """The folder of Markdown pages."""
        return str(self.folder / "pages")

    def program(self, name: str, *arguments: str) -> list[str]:
        """Return a command of the tool's own."""
        return [str(self.programs / name), *arguments]

    def driver(self, name: str, *arguments: str) -> list[str]:
        """Return a call of one of our small scripts, in the tool's environment."""
        what, *rest = arguments
        return [str(self.programs / "python"), str(DRIVERS / f"on_{name}.py"), what, str(self.folder), *rest]


Command = Callable[[Here], Sequence[str]]
Asking = Callable[[Here, str], Sequence[str]]


def _nothing(_: Here) -> dict[str, str]:
    return {}


class Tool(NamedTuple):
    """One line of the table. `update` gets the changed page, `cold` the question; `kept` is measured as disk.

    Without an `index` nothing is built, without an `update` a search itself sees what changed. `endpoint`
    says that it asks the embedding endpoint, `resident` starts a process of the tool's own that keeps search
    warm for its command. `note` is printed below the table.
    """

    name: str
    title: str
    install: Callable[[Path], Path]
    driver: str
    cold: Asking
    index: Command | None = None
    update: Asking | None = None
    variables: Callable[[Here], dict[str, str]] = _nothing
    kept: str = "index"
    prepare: bool = False
    endpoint: bool = False
    mcp: Command | None = None
    resident: Command | None = None
    note: str = ""


def _this_python(_: Path) -> Path:
    return Path(sys.executable).parent


def _installed(name: str) -> Callable[[Path], Path]:
    return lambda work: environments.environment(name, work)


def _driven(name: str, what: str) -> Callable[..., list[str]]:
    return lambda here, *rest: here.driver(name, what, *rest)


def _endpoint(here: Here) -> dict[str, str]:
    return {"OPENAI_BASE_URL": here.url, "OPENAI_API_KEY": "unused", "PEERS_MODEL": MODEL}


# --- Lamina ------------------------------------------------------------------------------------------


def _lamina(here: Here, *arguments: str) -> list[str]:
    return here.program("lamina", "--root", str(here.folder / "store"), *arguments)


def _lamina_words(here: Here, question: str) -> list[str]:
    return _lamina(here, "search", "--scope", "all", "--json", "--", question)


def _lamina_hybrid(here: Here, question: str) -> list[str]:
    return _lamina(here, "search", "--scope", "all", "--json", "--vectors", "--", question)


def _lamina_index(here: Here) -> list[str]:
    return _lamina(here, "index", "rebuild")


def _lamina_vectors(here: Here) -> list[str]:
    return _lamina(here, "index", "rebuild", "--vectors")


# --- memsearch ---------------------------------------------------------------------------------------


def _memsearch(here: Here, what: str, *arguments: str) -> list[str]:
    store = str(here.folder / "index" / "milvus.db")
    options = ["--provider", "openai", "--model", MODEL, "--base-url", here.url, "--milvus-uri", store]
    return here.program("memsearch", what, *options, *arguments)


# --- mempalace ---------------------------------------------------------------------------------------


def _mempalace(here: Here, *arguments: str) -> list[str]:
    return here.program("mempalace", "--palace", str(here.folder / "index"), *arguments)


def _palace_variables(here: Here) -> dict[str, str]:
    return {
        "MEMPALACE_EMBEDDING_API_KEY": "unused",
        "MEMPALACE_EMBEDDING_API_MODEL": MODEL,
        "MEMPALACE_EMBEDDING_API_URL": here.url,
        "MEMPALACE_EMBEDDING_MODEL": "openai-compat",
    }


# --- basic-memory ------------------------------------------------------------------------------------


def _notes_variables(here: Here) -> dict[str, str]:
    prefix = "BASIC_MEMORY_"
    embedding = f"{prefix}SEMANTIC_EMBEDDING_"
    return {
        f"{prefix}CONFIG_DIR": str(here.folder / "index"),
        f"{prefix}HOME": str(here.folder / "main"),
        f"{prefix}SEMANTIC_MIN_SIMILARITY": "0",
        f"{embedding}API_BASE": here.url,
        f"{embedding}API_KEY": "unused",
        f"{embedding}DIMENSIONS": "256",
        f"{embedding}MODEL": MODEL,
        f"{embedding}PROVIDER": "openai",
    }


TOOLS = (
    Tool(
        "lamina",
        "Lamina",
        environments.own_environment,
        "lamina",
        _lamina_hybrid,
        _lamina_vectors,
        variables=lambda _: {"PEERS_VECTORS": "1"},
        kept="store/index",
        prepare=True,
        mcp=lambda here: _lamina(here, "mcp"),
        resident=lambda here: _lamina(here, "serve", "--json"),
        note="words and its built-in embedder, which is better than the one that all others share.",
    ),
    Tool(
        "lamina-wordllama",
        "Lamina, same embedding",
        environments.own_environment,
        "lamina",
        _lamina_hybrid,
        _lamina_vectors,
        variables=lambda _: {"PEERS_VECTORS": "1", "LAMINA_EMBEDDER": "wordllama"},
        kept="store/index",
        prepare=True,
        note="words and wordllama, as the others have it.",
    ),
    Tool(
        "lamina-words",
        "Lamina, words only",
        environments.own_environment,
        "lamina",
        _lamina_words,
        _lamina_index,
        kept="store/index",
        prepare=True,
    ),
    Tool(
        "fts5",
        "FTS5 script",
        _this_python,
        "fts5",
        _driven("fts5", "search"),
        _driven("fts5", "index"),
        _driven("fts5", "update"),
        note="one SQLite FTS5 table with a row per turn, the words of the question joined by OR, 40 lines.",
    ),
    Tool(
        "ripgrep",
        "ripgrep" if shutil.which("rg") else "grep",
        _this_python,
        "grep",
        _driven("grep", "search"),
        note="the question's words but the commonest English ones; the sections with most of them, whole."
        + ("" if shutil.which("rg") else " ripgrep is not installed here."),
    ),
    Tool(
        "basic-memory",
        "basic-memory",
        _installed("basic-memory"),
        "basic_memory",
        lambda here, question: here.program(
            "bm", "tool", "search-notes", question, "--json", "--project", "turns"
        ),
        lambda here: here.program("bm", "project", "add", "turns", here.pages, "--default"),
        lambda here, _: here.program("bm", "reindex", "--project", "turns"),
        _notes_variables,
        endpoint=True,
        mcp=lambda here: here.program("basic-memory", "mcp"),
        note="hybrid search, its default. A result is a note (one session) with several pieces of it, which "
        "all count as shown. Its least similarity, chosen for another model, is off.",
    ),
    Tool(
        "memsearch",
        "memsearch",
        _installed("memsearch"),
        "memsearch",
        lambda here, question: _memsearch(here, "search", "--top-k", "10", "--json-output", "--", question),
        lambda here: _memsearch(here, "index", here.pages),
        lambda here, _: _memsearch(here, "index", here.pages),
        _endpoint,
        endpoint=True,
        note="dense and BM25 in Milvus Lite, its default. It ships no MCP server.",
    ),
    Tool(
        "mempalace",
        "mempalace",
        _installed("mempalace"),
        "mempalace",
        lambda here, question: _mempalace(here, "search", "--results", "10", "--", question),
        lambda here: _mempalace(here, "mine", here.pages, "--direct"),
        lambda here, _: _mempalace(here, "mine", here.pages, "--direct"),
        _palace_variables,
        prepare=True,
        endpoint=True,
        mcp=lambda here: here.program("mempalace-mcp", "--palace", str(here.folder / "index")),
        note="its default search over the pages, which it cuts into drawers of several turns.",
    ),
    Tool(
        "mem0ai",
        "mem0",
        _installed("mem0ai"),
        "mem0",
        _driven("mem0", "search"),
        _driven("mem0", "index"),
        _driven("mem0", "update"),
        _endpoint,
        endpoint=True,
        note="`infer=False`, each turn a memory, no language model. Vectors only: its BM25 encoder is on "
        "a model hub. Having no command line, its smallest script is timed; the update changes one memory."
        " It ships no MCP server.",
    ),
)
