# SPDX-License-Identifier: Apache-2.0
"""Runs a command-line client once and writes down when. Started as a program of its own: `python -I THIS job.json`.

It waits for a line on stdin, starts the command, takes the body from the command's stdout (or from a file that it
leaves), and hashes it after the end. All instants are CLOCK_MONOTONIC in nanoseconds; the first one is before the
command is loaded, which the packets tell apart.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The whole transfer; an account of it with an `error` if it did not end well."""
    chunks: list[bytes] = []
    first_byte_ns = None
    request: dict[str, Any] = {"url": job["url"], "protocol": job["protocol"], "status": None}
    with Path(job["messages"]).open("wb") as messages:
        request["start_ns"] = time.monotonic_ns()
        process = subprocess.Popen(job["argv"], stdout=subprocess.PIPE, stderr=messages, stdin=subprocess.DEVNULL)
        assert process.stdout is not None
        fcntl.fcntl(process.stdout, _F_SETPIPE_SZ, _PIPE_BYTES)
        pipe = process.stdout.raw  # type: ignore[attr-defined]
        while chunk := pipe.read(_PIPE_BYTES):
            first_byte_ns = first_byte_ns or time.monotonic_ns()
            chunks.append(chunk)
        request["last_byte_ns"] = time.monotonic_ns()
        code = process.wait()
        request["close_ns"] = time.monotonic_ns()
    body = Path(job["body"]).read_bytes() if job["body"] and Path(job["body"]).exists() else b"".join(chunks)
    request |= {"first_byte_ns": None if job["body"] else first_byte_ns, "body_bytes": len(body)}
    request["sha256"] = hashlib.sha256(body).hexdigest()
    said = Path(job["messages"]).read_text(errors="replace").strip()
    if job["json"]:
        request |= _curl_account(said)
    elif job["http_version"]:
        request["http_version"] = job["http_version"]
    if code != 0:
        last = said.splitlines()[-1] if said and not job["json"] else job["exit_codes"].get(str(code), "")
        request["error"] = request.get("error") or f"exit code {code}" + (f": {last}" if last else "")
    return request


def _curl_account(said: str) -> dict[str, Any]:
    """curl's `--write-out %{json}` is the last line on its stderr; what stands before are its complaints."""
    complaints, _, line = said.rpartition("\n")
    try:
        account = json.loads(line)
    except json.JSONDecodeError:
        return {"error": said} if said else {}
    names = {"1.1": "HTTP/1.1", "2": "HTTP/2", "3": "HTTP/3"}
    found: dict[str, Any] = {
        "content_type": account["content_type"],
        "status": account["http_code"],
        "http_version": names.get(str(account["http_version"]), "unknown"),
    }
    return found | ({"error": complaints.splitlines()[-1]} if complaints else {})


def main() -> int:
    """Exit code 0 when the command ended well."""
    job = json.loads(Path(sys.argv[1]).read_text())
    sys.stdin.readline()
    request = run(job)
    report = {"version": 1, "versions": {}, "requests": [request], "close_ns": request["close_ns"]}
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    if "error" in request:
        print(request["error"])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
