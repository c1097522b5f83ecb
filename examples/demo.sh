#!/bin/sh
# The main job, end to end, in a folder of its own that is gone afterwards:
# a task in the ledger, a recorded session, its compaction, and what the agent reads after it.
set -eu
case $1 in
    /*) spindle=$1 ;;
    *) spindle=$PWD/$1 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cd "$project"
CONTEXTSPINDLE_WORKSPACE=$project
export CONTEXTSPINDLE_WORKSPACE

say() {
    if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi
}
show() {
    printf '$ contextspindle'
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9./_-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$spindle" "$@"
}

say "1. A workspace: one folder in the project, private, ignored by git."
show init

say "2. A task: the goal, what done means, and the next action, kept outside of any session."
show task create "Never show a gauge reading that is stale" \
    --criterion "a regression test for each fix passes" \
    --criterion "readings served since 14 October are backfilled" \
    --next "find out why GaugeCache keeps old readings" --status active
id=$("$spindle" task list --quiet)

say "3. A decision is recorded for good, and the next action moves; every version stays readable."
show task update "$id" --decision "No schema change: the harbour authority reads that table" \
    --next "backfill, as a one-off script that first prints what it would change"

say "4. The agent's context is full. Before it is compacted, the harness runs this as a hook:"
show fuse save --transcript "$here/fuse/session.jsonl" --session demo

say "5. The context is gone. After compaction the hook hands the agent this, in at most 6,000 bytes:"
show fuse restore --plain --session demo

say "6. Done is not a word: without evidence for each criterion the ledger refuses it."
show task update "$id" --evidence "python -m pytest -q: 40 passed" --for 1 --status done || true

say "7. With fresh evidence for both it is done, and any agent can read the task in 1,024 bytes."
show task update "$id" --evidence "python -m pytest -q: 40 passed" --for 1
show task update "$id" --evidence "backfill: 1,204 readings corrected" --for 2 --status done
show task context "$id" 1024
