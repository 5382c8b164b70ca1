#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lint, Rust tests, Python tests; the last line adds up what all Python tests came to. `tools/test.sh code` ends before
# the Python tests, which are all of `tools/test.sh python`.
set -eu
cd "$(dirname "$0")/.."
. tools/stages.sh
results=.venv/test-results failed=
rm -rf "$results"

# Lint, and the tests of Rust and Go. What looks at Python uses one processor, beside the compilers.
code() {
    python_lint=.venv/lint-python.out
    stage "lint of Python" tools/lint.sh python >"$python_lint" 2>&1 &
    linting=$!
    # Where Rust fails, what was found in Python is told, too, and nothing runs on.
    trap 'wait "$linting" || true; cat "$python_lint"' EXIT
    stage "lint of Rust" tools/lint.sh rust
    stage "Rust tests" cargo test --quiet --workspace --exclude py-core --locked
    stage "programs around QUIC libraries" tools/test_programs.sh changed
    linted=0
    wait "$linting" || linted=$?
    trap - EXIT
    cat "$python_lint"
    return $linted
}

# What pytest makes of the tests is kept from step to step, although a user's settings may be against it.
unset PYTHONDONTWRITEBYTECODE

# python_tests NAME EXPRESSION OPTION...: those whose markers make the expression true. A failure does not keep the
# next step away; the last line and the exit code tell of it.
python_tests() {
    tests_name=$1 expression=$2
    shift 2
    stage "Python tests: $tests_name" .venv/bin/python -m pytest -m "$expression" --durations=12 --durations-min=4 \
        --junitxml="$results/$tests_name.xml" "$@" || failed="$failed $tests_name"
}

[ "${1:-}" = python ] || code
[ "${1:-}" != code ] || exit 0
# Files in the order of their folders: what is collected last is short, so that no worker is left with a long file.
python_tests units 'not packets and not alone and not nightly and not matrix' -n auto --maxprocesses 8 --dist loadfile \
    --no-loadscope-reorder
# Folders of the tests that run real programs or are alone: to read the others would take each step a quarter of a minute.
programs="tests/e2e tests/external tests/testbed tests/unit/tools"
python_tests packets 'packets and not alone and not nightly and not matrix' -n 2 --dist loadfile \
    --no-loadscope-reorder $programs
# What a busy machine would make late has it to itself.
python_tests alone 'alone and not nightly and not matrix' $programs
[ -z "$failed" ] || echo "failed:$failed"
.venv/bin/python tools/totals.py "$results"
[ -z "$failed" ]
