#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a commit needs: format, ruff, english, types, import rules, and the unit tests of the rooms that changed.
set -eu
cd "$(dirname "$0")/.."
. tools/stages.sh
stage "lint" tools/lint.sh python
stage "unit tests of what changed" .venv/bin/python tools/unit_tests.py --changed
