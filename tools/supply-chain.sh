#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What other people's packages may be, and what is known against them. What cannot be asked here is said in a line.
set -eu
cd "$(dirname "$0")/.."
skipped() { printf 'lint: not checked: %s\n' "$1"; }

# Licences, bans and sources need nothing but the packages themselves.
rust="Cargo.toml crates/log-decode/fuzz/Cargo.toml crates/stack-quiche/Cargo.toml crates/stack-quinn/Cargo.toml"
# deny NAME...: cargo-deny over every lock file, with our one list of rules.
deny() {
    for manifest in $rust; do
        cargo-deny --log-level error --config "$PWD/deny.toml" --manifest-path "$manifest" "$@"
    done
}
if command -v cargo-deny >/dev/null; then
    deny check --hide-inclusion-graph licenses bans sources >/dev/null
    if timeout 60 cargo-deny --config "$PWD/deny.toml" fetch db >/dev/null 2>&1; then
        deny check --disable-fetch advisories >/dev/null
    else
        skipped "advisories on Rust packages, as their database cannot be reached"
    fi
else
    skipped "Rust packages' licences, sources and advisories, as cargo-deny is not here (cargo install --locked cargo-deny)"
fi

for lock in requirements-dev.lock requirements-stacks.lock requirements-docs.lock; do
    found=.venv/pip-audit.json
    timeout 60 .venv/bin/pip-audit --progress-spinner off --timeout 5 --disable-pip --require-hashes \
        --format json --output "$found" -r "$lock" >/dev/null 2>&1 || true
    .venv/bin/python tools/audited.py "$lock" "$found"
done
