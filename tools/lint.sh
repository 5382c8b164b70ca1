#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that looks at the code without running it; `lint.sh python` leaves Rust and the supply chain out, and
# `lint.sh rust` has only these.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" != rust ]; then
    .venv/bin/ruff check --quiet .
    .venv/bin/ruff format --quiet --check .
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
    grep -qx "version: $version" CITATION.cff || { echo "lint: CITATION.cff is not of version $version" >&2; exit 1; }
    .venv/bin/python tools/english.py
    .venv/bin/python tools/names.py
    .venv/bin/python tools/untyped.py
    .venv/bin/mypy --no-error-summary
    .venv/bin/lint-imports --no-cache >.venv/lint-imports.out 2>&1 || { cat .venv/lint-imports.out; exit 1; }
fi
[ "${1:-}" != python ] || exit 0
cargo fmt --all --check
for program in crates/stack-*; do cargo fmt --manifest-path "$program/Cargo.toml" --check; done
cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
tools/supply-chain.sh
