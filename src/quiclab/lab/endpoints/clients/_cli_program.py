# SPDX-License-Identifier: Apache-2.0
"""Run a command-line client once, and write down when. Started as a program of its own: `python -I THIS job.json`.

It waits for a line on stdin, starts the command, takes the body from the command's stdout (or from a file that it
leaves), and hashes it after the end. All instants are CLOCK_MONOTONIC in nanoseconds; the first one is before the
command is loaded, which the packets tell apart. For several objects, each in a file of its own, curl tells when each
was complete; another command's are each said to have taken as long as all of them.
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
_HTTP_VERSIONS = {"1.1": "HTTP/1.1", "2": "HTTP/2", "3": "HTTP/3"}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the whole transfer; return an account of it, with an `error` if it did not end well."""
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


def run_several(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one command for several objects; return their accounts in the order in which they were requested."""
    start_ns = time.monotonic_ns()
    to_realtime_ns = time.time_ns() - start_ns
    with Path(job["messages"]).open("wb") as messages:
        # curl writes the accounts to stdout, which it buffers: unbuffered, each would cost it milliseconds between two
        # packets.
        process = subprocess.run(
            job["argv"], stdout=subprocess.PIPE, stderr=messages, stdin=subprocess.DEVNULL, check=False
        )
    close_ns = time.monotonic_ns()
    if job["http_version"]:
        return _all_alike(job, start_ns, close_ns, process.returncode)
    complaints = Path(job["messages"]).read_text(errors="replace").strip().splitlines()
    told: dict[str, dict[str, Any]] = {}
    for line in process.stdout.decode(errors="replace").splitlines():
        time_s, _, account = line.partition(" ")
        try:
            seconds, _, fraction = time_s.partition(".")
            end_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0")) - to_realtime_ns
            found = json.loads(account)
        except ValueError:
            complaints.append(line)
        else:
            told[found["url"]] = _object_account(found, end_ns)
    last = complaints[-1] if complaints else ""
    untold = {"status": None, "start_ns": close_ns, "first_byte_ns": None, "last_byte_ns": close_ns}
    requests = []
    for url, file in zip(job["urls"], job["bodies"], strict=True):
        body = Path(file).read_bytes() if Path(file).exists() else b""
        request = {"url": url, "protocol": job["protocol"], **told.get(url, untold), "close_ns": close_ns}
        if url not in told:
            request["error"] = f"exit code {process.returncode}" + (f": {last}" if last else "")
        requests.append(request | {"body_bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()})
    return requests


def _all_alike(job: dict[str, Any], start_ns: int, close_ns: int, code: int) -> list[dict[str, Any]]:
    """Accounts of objects where only the begin and end of the whole command are known."""
    said = Path(job["messages"]).read_text(errors="replace").strip().splitlines()
    requests = []
    for url, file in zip(job["urls"], job["bodies"], strict=True):
        body = Path(file).read_bytes() if Path(file).exists() else b""
        request: dict[str, Any] = {"url": url, "protocol": job["protocol"], "status": None}
        request |= {"start_ns": start_ns, "first_byte_ns": None, "last_byte_ns": close_ns, "close_ns": close_ns}
        request |= {"http_version": job["http_version"], "body_bytes": len(body)}
        request["sha256"] = hashlib.sha256(body).hexdigest()
        if code != 0:
            request["error"] = f"exit code {code}" + (f": {said[-1]}" if said else "")
        requests.append(request)
    return requests


def _object_account(account: dict[str, Any], end_ns: int) -> dict[str, Any]:
    """Account of one of several objects, from curl's own and the instant of that: as soon as it had the last byte."""
    start_ns = end_ns - round(account["time_total"] * 1e9)
    first_ns = start_ns + round(account["time_starttransfer"] * 1e9)
    found = {
        "start_ns": start_ns,
        "first_byte_ns": first_ns if account["size_download"] else None,
        "last_byte_ns": end_ns,
        "content_type": account["content_type"],
        "status": account["http_code"],
        "http_version": _HTTP_VERSIONS.get(str(account["http_version"]), "unknown"),
    }
    return found | ({"error": account["errormsg"]} if account["errormsg"] else {})


def _curl_account(said: str) -> dict[str, object]:
    """Account from curl's `--write-out %{json}`, the last line on its stderr; before that come its complaints."""
    complaints, _, line = said.rpartition("\n")
    try:
        account = json.loads(line)
    except json.JSONDecodeError:
        return {"error": said} if said else {}
    found: dict[str, object] = {
        "content_type": account["content_type"],
        "status": account["http_code"],
        "http_version": _HTTP_VERSIONS.get(str(account["http_version"]), "unknown"),
    }
    return found | ({"error": complaints.splitlines()[-1]} if complaints else {})


def main() -> int:
    """Exit code 0 when the command ended well."""
    job = json.loads(Path(sys.argv[1]).read_text())
    sys.stdin.readline()
    requests = run_several(job) if job["bodies"] else [run(job)]
    report = {"version": 1, "versions": {}, "requests": requests, "close_ns": requests[-1]["close_ns"]}
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    errors = [request["error"] for request in requests if "error" in request]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
