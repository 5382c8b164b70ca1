#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the docs as a site into FOLDER (`site`, where none is named): an environment of its own, .venv-site, Sphinx, and
# a look at what it made. Neither .venv nor Rust is needed.
#
# usage: site.sh [FOLDER]
set -eu
cd "$(dirname "$0")/.."
out=${1:-site}

fail() { printf 'quiclab site: %s\n' "$1" >&2; exit 3; }
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "needs Python 3.11 or newer as $python (Debian 12: apt-get install -y python3 python3-venv)"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "needs Python's venv module (Debian: apt-get install -y python3-venv)"

wanted=$(sha256sum <requirements-docs.lock)
if [ ! -f .venv-site/.stamp ] || [ "$(cat .venv-site/.stamp)" != "$wanted" ]; then
    echo "site: installing Sphinx (requirements-docs.lock)"
    rm -rf .venv-site
    "$python" -m venv .venv-site
    .venv-site/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
    printf '%s' "$wanted" >.venv-site/.stamp
fi
.venv-site/bin/python tools/build_site.py "$out"
