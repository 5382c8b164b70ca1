#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write requirements*.lock anew from pyproject.toml, requirements-stacks.in and requirements-docs.in: versions and hashes,
# no download addresses.
# Needs pip-compile (pip-tools) on the PATH.
set -eu
cd "$(dirname "$0")/.."
compile() { # compile OUTPUT INPUT ARGUMENT...
    output=$1 input=$2; shift 2
    CUSTOM_COMPILE_COMMAND="tools/lock.sh" pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-trusted-host \
        --no-emit-find-links --strip-extras --allow-unsafe "$@" --output-file "$output" "$input"
}
compile requirements.lock pyproject.toml --extra build
compile requirements-dev.lock pyproject.toml --extra build --extra dask --extra dev --constraint requirements.lock
compile requirements-stacks.lock requirements-stacks.in
compile requirements-docs.lock requirements-docs.in
