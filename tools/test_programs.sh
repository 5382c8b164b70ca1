#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lint and test the small programs around QUIC libraries, each with its own lock file. The one around quiche is left to
# `tools/test_programs.sh all`: its library builds a C library first, which takes minutes.
set -eu
cd "$(dirname "$0")/.."
programs=stack-quinn
[ "${1:-}" = all ] && programs="stack-quinn stack-quiche"
for program in $programs; do
    (
        cd "crates/$program"
        export CARGO_TARGET_DIR="$OLDPWD/target/$program"
        cargo clippy --quiet --all-targets --locked -- -D warnings
        cargo test --quiet --locked
    )
done
needed=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' programs/quic-go/go.mod)
found=$(go env GOVERSION 2>/dev/null | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/')
if [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n1)" = "$needed" ]; then
    (
        cd programs/quic-go
        unformatted=$(gofmt -l .)
        [ -z "$unformatted" ] || { echo "gofmt: $unformatted"; exit 1; }
        go vet ./... && go test ./... >/dev/null
    )
else
    echo "programs/quic-go is not tested: it needs Go $needed"
fi
