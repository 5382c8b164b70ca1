# SPDX-License-Identifier: Apache-2.0
"""Programs that are missing, die, hang or lie: a reason in the trial, the study goes on, nothing is left."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from by_night import by_night
from small_study import lab_processes, main_only, quiclab, trials, write_spec

from quiclab.lab.endpoints.servers import aioquic

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_HTTP_SERVER = """
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"short"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer((sys.argv[1], 443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""

_HALF_A_FILE = """
import json, pathlib, runpy, sys
address, cert, key, root, work = sys.argv[1:]
files = pathlib.Path(work, "half")
files.mkdir()
for file in pathlib.Path(root).iterdir():
    content = file.read_bytes()
    (files / file.name).write_bytes(content if file.name == "warm-up" else content[: len(content) // 2])
job = pathlib.Path(work, "job.json")
job.write_text(json.dumps({{"address": address, "port": 443, "root": str(files), "certificate": cert, "key": key,
                            "library": {{}}, "qlog_dir": None, "implicit_ack_sample": False,
                            "content_type": "text/plain"}}))
sys.argv = ["server", str(job)]
runpy.run_path({program!r}, run_name="__main__")
"""
AIOQUIC_SERVER = str(Path(aioquic.__file__).with_name("_aioquic_program.py"))


def _own(argv: list[str], ready: str = "tcp") -> str:
    return f"{{ argv = {argv!r}, ready = {ready!r} }}".replace("'", '"')


def _h2_reason(tmp_path: Path, *, report: bool = False, **changes: str) -> str:
    """Run with a changed H2 arm; its trials fail for one reason, the H3 arm's are verified."""
    study = tmp_path / "study"
    options = () if report else ("--no-report",)
    done = quiclab("run", main_only(write_spec(tmp_path, **changes)), "--out", study, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    found = trials(study)
    assert {trial["status"] for trial in found if trial["row"]["arm_name"] == "h3"} == {"verified"}
    failed = [trial for trial in found if trial["row"]["arm_name"] == "h2"]
    assert {trial["status"] for trial in failed} == {"failed"}
    assert lab_processes(study) == []
    assert (study / "report.html").exists() is report
    reasons = {trial["reason"] for trial in failed}
    assert reasons
    return min(reasons)


def test_server_binary_missing(tmp_path: Path) -> None:
    """The name of the program is in the reason."""
    assert "no-such-server" in _h2_reason(tmp_path, server=_own(["/no-such-server"]))


@pytest.mark.nightly
def test_server_dies_at_start(tmp_path: Path) -> None:
    """Its exit code and its last words are in the reason."""
    reason = _h2_reason(tmp_path, server=_own(["sh", "-c", "echo cannot open the map; exit 7"]))
    assert "exit code 7" in reason
    assert "cannot open the map" in reason


def test_server_never_ready(tmp_path: Path) -> None:
    """The laboratory says what it waited for and how long."""
    reason = _h2_reason(tmp_path, server=_own(["sleep", "100"]), ready_limit="1 s")
    assert "did not open tcp port 443 within 1 s" in reason


def test_client_hangs(tmp_path: Path) -> None:
    """The limit that ended it is named."""
    reason = _h2_reason(tmp_path, client=_own(["sleep", "100"]), trial_limit="2 s")
    assert "did not end within 2 s" in reason


def test_client_fails(tmp_path: Path) -> None:
    """Exit code and last words."""
    reason = _h2_reason(tmp_path, report=True, client=_own(["sh", "-c", "echo [/no] [b]route; exit 9"]))
    assert "exit code 9" in reason
    assert "[/no] [b]route" in reason, "a program's words are no markup"


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("mkfifo x; mv x client.json; mkfifo link.json; mkdir ../trial.json; exit 4", "exit code 4"),
        *by_night(
            ("rm client.out; mkfifo client.out; exit 3", "exit code 3"),
            ("cd ..; mv raw other; ln -s home raw; exit 5", "exit code 5"),
        ),
    ],
)
def test_client_that_replaces_what_the_laboratory_reads_and_writes(tmp_path: Path, harm: str, told: str) -> None:
    """Nothing waits for the other end of a FIFO, nothing is written elsewhere, and the study goes on."""
    reason = _h2_reason(tmp_path, client=_own(["sh", "-c", f"cd ${{0%/*}}; {harm}", "{output}"]))
    assert told in reason


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("truncate -s 100G $1", "the client left files of more than 2 GiB in all"),
        *by_night(("touch $(printf '$0/\\\\377.sqlog')", "the client left a file whose name is not UTF-8")),
        *by_night(
            ("cd $0; for i in $(seq 40); do mkdir d; cd d; done", "the client left folders nested deeper than 16")
        ),
        *by_night(("cd $0; seq 3000 | xargs touch", "the client left more than 2000 files and folders")),
    ],
)
def test_client_that_leaves_too_much(tmp_path: Path, harm: str, told: str) -> None:
    """Its attempts fail, none of it is kept, and the study goes on."""
    reason = _h2_reason(tmp_path, client=_own(["sh", "-c", harm, "{qlog_dir}", "{keylog}"]))
    assert told in reason
    kept = sum(path.stat().st_size for path in (tmp_path / "study").rglob("*") if path.is_file())
    assert kept < 100_000_000


_REACHES_OUT = """
import json, os, pathlib, signal, sys
seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
for kind in (signal.SIGSTOP, signal.SIGKILL):
    os.kill(os.getpid(), kind)
    try:
        os.kill(-1, kind)
    except ProcessLookupError:
        pass
raw = pathlib.Path(sys.argv[1]).parent
there = sorted(str(path.relative_to(raw)) for path in raw.rglob("*"))
try:
    (raw.parent / "other").mkdir()
    made = True
except OSError:
    made = False
print(json.dumps([seen, there, made]))
sys.exit(6)
"""


def test_client_that_reaches_out(tmp_path: Path) -> None:
    """It sees neither captures nor programs, and stops nobody, itself included: what it gets is its own failure."""
    script = tmp_path / "reaches.py"
    script.write_text(_REACHES_OUT)
    reason = _h2_reason(tmp_path, client=_own([sys.executable, str(script), "{output}"]))
    assert reason.startswith("the client ended with exit code 6: "), reason
    seen, there, made = json.loads(reason.partition("6: ")[2])
    assert seen == [1]
    assert there == ["client-qlog", "keys.log", "warm-up.json"] or set(there) <= {"client-qlog", "warm-up.json"}
    assert not made


@pytest.mark.nightly
def test_server_that_speaks_only_http11(tmp_path: Path) -> None:
    """A trial that fell back is a failure with that reason, not a slow success."""
    script = tmp_path / "server.py"
    script.write_text(_HTTP_SERVER)
    reason = _h2_reason(tmp_path, server=_own([sys.executable, str(script), "{address}", "{cert}", "{key}"]))
    assert reason == "asked for HTTP/2, got HTTP/1.0"


@pytest.mark.nightly
def test_body_of_the_wrong_length(tmp_path: Path) -> None:
    """A server that sends half of the object is found out, although HTTP was satisfied."""
    script = tmp_path / "half.py"
    script.write_text(_HALF_A_FILE.format(program=AIOQUIC_SERVER))
    own = _own([sys.executable, str(script), "{address}", "{cert}", "{key}", "{root}", "{work}"], ready="udp")
    study = tmp_path / "study"
    done = quiclab("run", main_only(write_spec(tmp_path, server_h3=own)), "--out", study, "--no-report")
    assert done.returncode == 1, done.stdout + done.stderr
    reasons = {trial["reason"] for trial in trials(study) if trial["row"]["arm_name"] == "h3"}
    assert reasons == {"the body has 15000 bytes instead of 30000"}


def test_unsupported_knob_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """What an endpoint cannot do is said when the plan is made."""
    study = tmp_path / "study"
    spec = write_spec(tmp_path, server_h3='{ name = "caddy", congestion_control = "bbr" }')
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 2, done.stdout
    assert "New Reno only" in done.stderr
    assert trials(study) == []


def test_a_version_that_is_not_here_is_refused_with_what_was_found(tmp_path: Path) -> None:
    """Before anything runs: the version that is here, the one that was asked for, and exit code 3."""
    study = tmp_path / "study"
    spec = write_spec(tmp_path, server='{ name = "caddy", version = "1.30" }')
    done = quiclab("run", spec, "--out", study)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "arm 'h2': the server caddy is 2." in done.stderr
    assert "not 1.30: " in done.stderr
    assert trials(study) == []
    planned = quiclab("plan", spec)
    assert planned.returncode == 3
    assert "caddy is 2." in planned.stderr


def test_an_arm_whose_program_is_not_here_fails_and_the_others_go_on(tmp_path: Path) -> None:
    """With two arms left to compare: the third's trials have failed, for a reason that stands in the table."""
    spec = write_spec(tmp_path)
    extra = '\n[[arm]]\nname = "yesterday"\nprotocol = "h3"\nclient = "curl-cffi"\n'
    spec.write_text(spec.read_text() + extra + 'server = { name = "caddy", version = "1.30" }\n')
    study = tmp_path / "study"
    refused = quiclab("run", main_only(spec), "--out", study)
    assert refused.returncode == 3, refused.stdout + refused.stderr
    assert "1 of 3 arms cannot run: their programs are not here" in refused.stderr
    assert "arm 'yesterday': the server caddy is 2." in refused.stderr
    assert trials(study) == []
    done = quiclab("run", spec, "--out", study, "--anyway")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "arm yesterday: its trials will fail: the server caddy is 2." in " ".join(done.stdout.split())
    by_arm = {trial["row"]["arm"]: trial for trial in trials(study)}
    assert {name: trial["status"] for name, trial in by_arm.items()} == {
        "h2": "verified",
        "h3": "verified",
        "yesterday": "failed",
    }
    assert "not 1.30: " in by_arm["yesterday"]["reason"]
    assert "not 1.30" in (study / "report.html").read_text()


def test_a_prefix_without_the_program_is_refused(tmp_path: Path) -> None:
    """The folder is named: nothing else is looked through in its place."""
    empty = tmp_path / "yesterday"
    empty.mkdir()
    spec = write_spec(tmp_path, server_h3=f'{{ name = "caddy", prefix = "{empty}" }}')
    done = quiclab("run", spec, "--out", tmp_path / "study")
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"arm 'h3': the server caddy is not below {empty}" in done.stderr
    assert "Traceback" not in done.stderr
