#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install real clients, servers and proxies into .stacks (or $QUICLAB_STACKS); arguments: names, none for all.
set -eu
cd "$(dirname "$0")/.."
exec .venv/bin/quiclab doctor --install "$@"
