#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make .venv with everything that quiclab needs; quick when there is nothing to do. `tools/setup.sh dev` adds the tools
# of `make test`. Nothing outside this folder is changed.
set -eu
cd "$(dirname "$0")/.."
kind=${1:-run}

fail() { printf 'quiclab setup: %s\n' "$1" >&2; exit 3; }
say() { printf 'setup: %s\n' "$1"; }

# What cannot be installed from here is named with the one line that installs it.
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "needs Python 3.11 or newer as $python (Debian 12: apt-get install -y python3 python3-venv)"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "needs Python's venv module (Debian: apt-get install -y python3-venv)"
command -v cc >/dev/null || fail "needs a C compiler as linker (Debian: apt-get install -y gcc libc6-dev)"
command -v cargo >/dev/null ||
    fail "needs Rust 1.85 or newer (Debian 12: apt-get install -y rustc-web cargo-web)"
rust=$(rustc --version | sed -n 's/^rustc \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
[ -n "$rust" ] || fail "needs Rust 1.85 or newer, and rustc --version does not work (with rustup: rustup default stable)"
set -- $rust
[ "$1" -gt 1 ] || [ "$2" -ge 85 ] ||
    fail "needs Rust 1.85 or newer, found $1.$2 (Debian 12: apt-get install -y rustc-web cargo-web)"
for program in nsenter unshare; do
    command -v $program >/dev/null || fail "needs $program (Debian: apt-get install -y util-linux)"
done

# A stamp holds what it was made from; it is written only after the step succeeded.
fresh() { [ -f ".venv/.stamp-$1" ] && [ "$(cat ".venv/.stamp-$1")" = "$2" ]; }
done_with() { printf '%s' "$2" >".venv/.stamp-$1"; }
hash_of() { cat "$@" | sha256sum | cut -c1-32; }

[ -x .venv/bin/python ] || { say "making .venv"; rm -rf .venv; "$python" -m venv .venv; }

lock=requirements.lock
[ "$kind" = dev ] && lock=requirements-dev.lock
wanted=$(hash_of $lock)
sources=$(hash_of Cargo.toml Cargo.lock pyproject.toml $(find crates -path 'crates/stack-*' -prune -o \
    \( -name '*.rs' -o -name Cargo.toml \) -print | sort))

# The link needs nothing of Python: it is compiled while packages are on their way.
compiling=
trap '[ -z "$compiling" ] || kill "$compiling" 2>/dev/null || true' EXIT
if ! fresh native "$sources"; then
    say "building the link emulator"
    cargo build --quiet --release --locked --package link-run &
    compiling=$!
fi

if ! fresh packages "$wanted" && ! { [ "$kind" = run ] && fresh packages "$(hash_of requirements-dev.lock)"; }; then
    say "installing Python packages ($lock)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $lock
    done_with packages "$wanted"
fi

if [ -n "$compiling" ]; then
    wait "$compiling" || fail "the link emulator could not be built: see above"
    compiling=
    for program in quiclab-link quiclab-tcp-info; do
        install -m 755 "${CARGO_TARGET_DIR:-target}/release/$program" ".venv/bin/$program"
    done
    say "building the decoders"
    VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --release --locked --skip-install >.venv/maturin.log 2>&1 ||
        { cat .venv/maturin.log >&2; fail "the decoders could not be built: see above"; }
    # The package itself: its folder on the path, and one command.
    .venv/bin/python - <<'PYTHON'
import pathlib, site, sys
root = pathlib.Path.cwd()
pathlib.Path(site.getsitepackages()[0], "quiclab.pth").write_text(f"{root / 'src'}\n")
command = pathlib.Path(sys.executable).with_name("quiclab")
command.write_text(f"#!{sys.executable}\nimport sys\nfrom quiclab.cli.main import main\nsys.exit(main())\n")
command.chmod(0o755)
PYTHON
    done_with native "$sources"
fi
# Each command of a study starts Python anew, and a user's settings may keep it from writing this down.
.venv/bin/python -m compileall -q src
say "ready: .venv/bin/quiclab"
