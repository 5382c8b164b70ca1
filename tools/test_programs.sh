#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lint and test the small programs around QUIC libraries, each with its own lock file: `tools/test_programs.sh` those
# that take a minute, `all` also the one around quiche, whose library builds a C library first, `changed` those whose
# sources or compiler differ from what was tested on this machine before.
set -eu
cd "$(dirname "$0")/.."
which=${1:-}
tested=${XDG_CACHE_HOME:-$HOME/.cache}/quiclab/tested

# once PROGRAM FOLDERS COMPILER COMMAND: the command, unless all of that was tested already. The stamp is written last.
once() {
    digest=$( (find $2 -type d -name target -prune -o -type f -print | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum
        cat tools/test_programs.sh tests/golden/*.json
        echo "$3") | sha256sum | cut -c1-32)
    if [ "$which" = changed ] && [ -f "$tested/$1-$digest" ]; then
        echo "$1: tested on this machine before, from the same sources with the same compiler"
        return
    fi
    "$4" "$1"
    mkdir -p "$tested" && find "$tested" -name "$1-*" -mtime +30 -delete && : >"$tested/$1-$digest" || true
}

rust() {
    (
        cd "crates/$1"
        export CARGO_TARGET_DIR="$OLDPWD/target/$1"
        cargo clippy --quiet --all-targets --locked -- -D warnings
        cargo test --quiet --locked
    )
}

go_program() {
    (
        cd "programs/$1"
        unformatted=$(gofmt -l .)
        [ -z "$unformatted" ] || { echo "gofmt: $unformatted"; exit 1; }
        go vet ./...
        go test ./... >/dev/null
    )
}

compiler=$(rustc --version && cargo --version)
once stack-quinn "crates/stack-quinn crates/stack-common" "$compiler" rust
[ "$which" != all ] || once stack-quiche "crates/stack-quiche crates/stack-common" "$compiler" rust
needed=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' programs/quic-go/go.mod)
found=$(go env GOVERSION 2>/dev/null | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/')
if [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n1)" = "$needed" ]; then
    once quic-go programs/quic-go "$(go version)" go_program
else
    echo "programs/quic-go is not tested: it needs Go $needed"
fi
