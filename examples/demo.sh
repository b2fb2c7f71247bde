#!/bin/sh
# What Lamina does, on the sessions in this folder and a store that is thrown away. Run it with `make demo`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
unset LAMINA_WORKSPACE LAMINA_OFF || true
export LAMINA_ROOT="$scratch/store" XDG_CONFIG_HOME="$scratch/config"

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; shift; for line; do printf '%s\n' "$line"; done; }
shown() {
    printf '\n$'
    for word; do
        case $word in *[\ \*]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
}
run() { shown "$@"; "$@"; }
may() { shown "$@"; "$@" || true; } # a refusal is shown, not the end
the() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p"; } # a value of a JSON answer

say "1. Your agents leave a transcript of every session. Lamina reads them" \
    "and keeps what lasts: decisions with their reasons, corrections, preferences, fixes that worked." \
    "Six invented sessions from two projects, harbor and lanternfish. No model, no network."
run lamina import "$here/sessions"

say "   What was read is known. The next run reads only what is new:"
run lamina import "$here/sessions"

say "2. The memory is a folder of Markdown, in a git repository of its own" \
    "One folder a project, one a kind of memory, one file a topic. Read it, edit it, diff it."
(cd "$LAMINA_ROOT" && run find workspaces -path '*/*/*/*.md' | sort)

export LAMINA_WORKSPACE=harbor # as if we stood in that project's folder
decision="mail provider like a cloud API"
file=$(lamina search "$decision" --layer decisions --limit 1 --json | the file)
say "3. One topic of harbor" \
    "Each entry has an id, its day, the records of the session it comes from, and a quote as evidence."
(cd "$LAMINA_ROOT" && run cat "$file")

say "4. Find it when you need it: the error that was solved months ago" \
    "Behind each hit: how far it may be trusted, how fresh it is, and its place in the files."
run lamina search "database is locked" --limit 2

say "   Any language works, two characters are enough. And projects are kept apart:" \
    "the last search is about the other project, so it is found with --scope all only."
run lamina search "西暦" --limit 1
run lamina search "JPEG header" --limit 1 --scope all

id=$(lamina search "$decision" --layer decisions --limit 1 --json | the id)
say "5. Why is this there? Every memory leads back to the lines it came from" \
    "From the entry to the quote, to the note of its session, to file and lines of the transcript."
run lamina why "$id"

say "6. You have the last word. What you forget stays forgotten, whoever says it again;" \
    "every write can be taken back."
run lamina remember "The staging port is 8081"
port=$(lamina search "staging port" --limit 1 --json | the id)
run lamina forget "$port" --reason "it moves every week"
may lamina remember "Our staging port is 8081"
run lamina undo

say "7. The card: what the next session in harbor should know, within a budget" \
    "The same text all day for the same memory. It says of itself that it is data, not instructions."
run lamina card --budget 2500

say "8. Now yours" \
    "lamina import             reads the sessions of your agents into ~/.lamina" \
    "lamina search WORDS       finds things in them" \
    "lamina --help             lists the rest; docs/getting-started/first-hour.md takes you along" \
    "This demo's store is deleted now. Nothing else was touched."
