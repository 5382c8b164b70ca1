#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lint, Rust tests, Python tests; the last line adds up what all Python tests came to.
set -eu
cd "$(dirname "$0")/.."
. tools/stages.sh
results=.venv/test-results failed=
rm -rf "$results"
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

stage "lint" tools/lint.sh
stage "Rust tests" cargo test --quiet --workspace --exclude py-core --locked
stage "programs around QUIC libraries" tools/test_programs.sh changed
python_tests units 'not packets and not alone and not nightly and not matrix' -n auto --maxprocesses 8 --dist loadfile
python_tests packets 'packets and not alone and not nightly and not matrix' -n 2 --dist loadfile
# What a busy machine would make late has it to itself.
python_tests alone 'alone and not nightly and not matrix'
[ -z "$failed" ] || echo "failed:$failed"
.venv/bin/python tools/totals.py "$results"
[ -z "$failed" ]
