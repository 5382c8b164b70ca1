#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install speedline, which tests hold our Speed Index against, into .stacks/speedline: from its lock file, with npm.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .stacks/speedline
cp programs/speedline/package.json programs/speedline/package-lock.json .stacks/speedline/
npm ci --prefix .stacks/speedline --ignore-scripts --no-audit --no-fund --silent
