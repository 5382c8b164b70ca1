#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lint, Rust tests, Python tests; the last line is pytest's own.
set -eu
cd "$(dirname "$0")/.."
tools/lint.sh
cargo test --quiet --release --workspace --exclude py-core --locked
tools/test_programs.sh
.venv/bin/python -m pytest
