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
    head -c 5999 >>"$to/$2"
}

entry='{"startedDateTime":"2026-01-02T03:04:05.678Z","time":9.5,"timings":{"blocked":1,"dns":-1,"send":0,"wait":5,"receive":3.5},
"request":{"method":"GET","url":"https://server.test/a","httpVersion":"h3","headersSize":-1,"bodySize":0,"headers":[]},
"response":{"status":200,"httpVersion":"h3","headers":[{"name":"alt-svc","value":"h3"}],"headersSize":-1,"bodySize":7,
"content":{"size":9,"mimeType":"text/html"}},"_transferSize":99,"_priority":"High","connection":"443"}'
printf '{"log":{"version":"1.2","creator":{"name":"x"},"pages":[],"entries":[%s]}}' "$entry" | seed 000 made.har
# A header (microseconds, IP without a link layer) and one UDP datagram to port 443.
{
    printf '\324\303\262\241\2\0\4\0\0\0\0\0\0\0\0\0\377\377\0\0\145\0\0\0'
    printf '\0\0\0\0\1\0\0\0\40\0\0\0\40\0\0\0'
    printf '\105\0\0\40\0\0\0\0\100\21\0\0\12\0\0\1\12\0\0\2\377\377\1\273\0\14\0\0\100\1\2\3'
} | seed 003 made.pcap
for packed in $logs/trials/*.tar.xz; do
    tar -xJOf "$packed" --wildcards '*.qplog' | seed 002 "$(basename "$packed" .tar.xz).qplog"
done
for packed in $logs/netlog/*.json.gz; do zcat "$packed" | seed 001 "$(basename "$packed")"; done
for packed in $logs/pcapng/*.pcapng.gz; do zcat "$packed" | seed 004 "$(basename "$packed")"; done
for packed in $logs/quic/*.pcapng.xz $logs/tcp/*.pcapng.xz $logs/tls/*.pcapng.xz; do xzcat "$packed" | seed 004 "$(basename "$packed")"; done
for packed in $logs/qlog/*.gz; do zcat "$packed" | seed 005 "$(basename "$packed")"; done
for packed in $logs/page/*.json.gz; do zcat "$packed" | seed 006 "$(basename "$packed")"; done
