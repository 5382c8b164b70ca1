# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts of several steps.

# stage NAME COMMAND ARGUMENT...: run a step, and tell how long it took. Its exit code is the command's.
stage() {
    stage_name=$1 stage_began=$(date +%s) stage_code=0
    shift
    printf '== %s\n' "$stage_name"
    "$@" || stage_code=$?
    stage_took=$(($(date +%s) - stage_began))
    printf '== %s: %d min %02d s\n' "$stage_name" $((stage_took / 60)) $((stage_took % 60))
    return $stage_code
}
