#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write requirements.lock and requirements-dev.lock anew from pyproject.toml: versions and hashes, no download addresses.
# Needs pip-compile (pip-tools) on the PATH.
set -eu
cd "$(dirname "$0")/.."
compile() { # compile OUTPUT ARGUMENT...
    output=$1; shift
    CUSTOM_COMPILE_COMMAND="tools/lock.sh" pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host \
        --no-emit-find-links --strip-extras --allow-unsafe --extra build "$@" --output-file "$output" pyproject.toml
}
compile requirements.lock
compile requirements-dev.lock --extra dev --constraint requirements.lock
