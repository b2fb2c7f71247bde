#!/bin/sh
# What Lamina does, on the sessions in this folder and a store that is thrown away. Run it with `make demo`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
LAMINA_ROOT=$(mktemp -d)/store
LAMINA_WORKSPACE=harbor
export LAMINA_ROOT LAMINA_WORKSPACE
trap 'rm -rf "$(dirname "$LAMINA_ROOT")"' EXIT INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$1"; shift; for line; do printf '%s\n' "$line"; done; }
run() { printf '\n$ %s\n' "$*"; "$@"; }

say "1. Your agents already left memory behind" \
    "Claude Code and Codex keep a transcript of every session. Lamina reads them and keeps what lasts:" \
    "decisions with their reasons, corrections, preferences, fixes that worked. No model, no network."
unset LAMINA_WORKSPACE
run lamina import "$here/sessions"

say "2. The memory is Markdown that you can read, edit and diff" \
    "One folder a project, one file a topic. The store is a git repository of its own."
(cd "$LAMINA_ROOT" && run find global workspaces -name '*.md' -size +0 | sort)

export LAMINA_WORKSPACE=harbor
first=$(lamina list --layer decisions --limit 1 --json | sed -n 's/.*"file": "\([^"]*\)".*/\1/p')
say "3. This is what one topic looks like" \
    "Each entry says when it was learnt, from which lines of which session, and quotes its evidence."
(cd "$LAMINA_ROOT" && run cat "$first")

say "4. Find it again, in any words and any language"
run lamina search "why did we choose sqlite" --limit 3

id=$(lamina search "why did we choose sqlite" --limit 1 --json | sed -n 's/.*"id": "\([^"]*\)".*/\1/p')
say "5. Ask why: every memory leads back to the lines it came from"
run lamina why "$id"

say "6. The card: what the next session is given at its start" \
    "It is deterministic and has a budget, and it says that it is recalled data, not instructions."
run lamina card --budget 2500

say "7. Yours now" \
    "lamina import             reads your own sessions into ~/.lamina" \
    "lamina search WORDS       finds things in them" \
    "lamina --help             lists the rest"
