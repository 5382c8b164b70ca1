#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Put small logs of every format, as the tests have them, where the fuzz target `whole_file` starts from.
set -eu
cd "$(dirname "$0")"
to=corpus/whole_file
mkdir -p $to
logs=../../../tests/decoders

# The first byte of an input is the number of its format in `FORMATS`.
seed() {
    printf "\\$1" >"$to/$2"
    head -c 6000 >>"$to/$2"
}

for packed in $logs/netlog/*.json.gz; do zcat "$packed" | seed 001 "$(basename "$packed")"; done
for packed in $logs/pcapng/*.pcapng.gz; do zcat "$packed" | seed 004 "$(basename "$packed")"; done
for packed in $logs/quic/*.pcapng.xz; do xzcat "$packed" | seed 004 "$(basename "$packed")"; done
for packed in $logs/qlog/*.gz; do zcat "$packed" | seed 005 "$(basename "$packed")"; done
for packed in $logs/page/*.json.gz; do zcat "$packed" | seed 006 "$(basename "$packed")"; done
