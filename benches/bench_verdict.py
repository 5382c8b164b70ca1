# SPDX-License-Identifier: Apache-2.0
"""Cost of a trial's verdict when the trial ends: all of its logs decoded, and what they prove, in one process.

The alternative is tshark, which opens the client's capture alone with the same keys, and prints the suites, frames and
lengths that the verdict rests on; it puts no clocks together and keeps no tables.

    python benches/bench_verdict.py [--quick]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from _bench import Row, child_cpu_seconds, is_quick, paired_ratio, print_table
from _real_logs import Trial, run_trials

_MEASURED = """
import json, resource, sys, time
from pathlib import Path
from quiclab.logs.decoders import decode_trial
from quiclab.evidence.verify.trial import judge
folder = Path(sys.argv[1])
idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
times = [time.process_time()]
tables = decode_trial(folder).tables
times.append(time.process_time())
verdict = judge(folder, tables)
times.append(time.process_time())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"decode": times[1] - times[0], "judge": times[2] - times[1], "MiB": (peak - idle) / 1024,
                  "verdict": verdict.status}))
"""
_FIELDS = {
    "h2": ("tls.handshake.ciphersuite", "http2.type", "http2.streamid", "http2.length", "http2.headers.status"),
    "h3": ("tls.handshake.ciphersuite", "quic.frame_type", "quic.stream.stream_id", "quic.stream.length"),
}


def bench(protocol: str, captures: str, trial: Trial, rounds: int) -> list[Row]:
    """Seconds of a processor for one trial, in turns with tshark where that is installed."""
    asked = [part for field in _FIELDS[protocol] for part in ("-e", field)]
    keys = ("-o", f"tls.keylog_file:{trial.keys}")
    tshark = ["tshark", "-n", "-r", trial.capture, *keys, "-T", "fields", *asked]
    ours, theirs = [], []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, trial.raw.parent], capture_output=True, text=True, check=True
        )
        ours.append(json.loads(done.stdout))
        if ours[-1]["verdict"] != "verified":
            raise RuntimeError(f"the trial was to be verified, and is {ours[-1]['verdict']}")
        if shutil.which("tshark"):
            theirs.append(child_cpu_seconds(tshark))
    sums = [each["decode"] + each["judge"] for each in ours]
    name = f"{protocol}, {captures}, captures of {trial.capture.stat().st_size / 1e6:.0f} MB"
    return [
        Row(name, sums, "s", "tshark", paired_ratio(theirs, sums)) if theirs else Row(name, sums, "s"),
        Row("  of these the verdict", [each["judge"] for each in ours], "s"),
        Row("  peak memory beside the program's", [each["MiB"] for each in ours], "MiB"),
    ]


def main() -> None:
    """Trials of one large object each, captured whole and in headers."""
    rounds, size = (1, "5 MB") if is_quick(__doc__) else (3, "100 MB")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for captures in ("whole", "headers"):
            for protocol, trial in run_trials(Path(name), size, captures=captures).items():
                rows += bench(protocol, captures, trial, rounds)
    print_table(f"Decoding and judging a trial of {size} (CPU time; ratio: how many times as long tshark takes)", rows)


if __name__ == "__main__":
    main()
