# SPDX-License-Identifier: Apache-2.0
"""`quiclab view` over real HTTP: who gets what, and that nothing of a study is told before it has stopped."""

from __future__ import annotations

import http.client
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import write_study
from unit.study.test_progress import Record, record, study, study_dir

from quiclab.cli.main import main
from quiclab.cli.view_server import ViewServer
from quiclab.model.errors import ExitCode
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.report.page.write import write_report
from quiclab.store.folder_lock import LOCK, held_alone
from quiclab.store.layout import StudyDir

__all__ = ["record", "study", "study_dir"]

_INSTANT = 1_795_000_000_000_000_001
"""An instant in ns, beyond 2^53."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a report, and one trial with a table that has nulls, lists and large numbers."""
    directory = write_study(tmp_path_factory.mktemp("study"))
    write_report(directory)
    trial = min((directory / "tables" / "bytes_acknowledged").glob("*.parquet")).stem
    folder = directory / "tables" / "losses"
    folder.mkdir(exist_ok=True)
    rows = pl.DataFrame(
        {
            "time_ns": [_INSTANT + place for place in range(450)],
            "trigger": ["<script>alert(1)</script>", None, *["time.threshold"] * 448],
            "ranges": [[1, 2]] * 450,
        }
    )
    rows.write_parquet(folder / f"{trial}.parquet")
    return directory


@contextmanager
def _served(study: Path) -> Iterator[ViewServer]:
    server = ViewServer(StudyDir(study))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _ask(server: ViewServer, path: str, **more: Any) -> tuple[int, dict[str, str], bytes]:
    """The answer to a request; `path` follows the secret word."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    secret = more.pop("secret", server.secret)
    method, body = more.pop("method", "GET"), more.pop("body", None)
    connection.request(method, f"/{secret}/{path}", body, more.pop("headers", {}))
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def _told(server: ViewServer, path: str, **more: Any) -> Any:
    status, _, body = _ask(server, path, **more)
    assert status == 200, body
    return json.loads(body)


def _sql(server: ViewServer, query: str) -> tuple[int, Any]:
    body, headers = json.dumps({"query": query}), {"Content-Type": "application/json"}
    status, _, answer = _ask(server, "sql", method="POST", body=body, headers=headers)
    return status, json.loads(answer)


@pytest.mark.parametrize("path", ["", "state", "trials", "study/report.html"])
def test_without_the_secret_word_there_is_nothing(finished: Path, path: str) -> None:
    """Another account of this machine reaches the port; a page from elsewhere may lead here by a name of its own."""
    with _served(finished) as server:
        assert _ask(server, path)[0] == 200
        assert _ask(server, path, secret="guessed")[0] == 404
        assert _ask(server, path, secret="")[0] == 404
        assert _ask(server, path, headers={"Host": f"evil.example:{server.server_port}"})[0] == 404
        assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    [
        "study/tls/key.pem",
        "study/ledger.sqlite",
        "study/looks.jsonl",
        "study/../secret.txt",
        "study/report/../../secret.txt",
        "study/report/%2e%2e/%2e%2e/secret.txt",
        "study//etc/passwd",
        "study/report/link.csv",
        "study/report/%00",
        "study/tables",
        "nothing",
    ],
)
def test_only_pages_and_files_of_trials_are_served(finished: Path, path: str) -> None:
    """No key, no ledger, nothing outside the study, and no link out of it."""
    (finished / "tls").mkdir(exist_ok=True)
    (finished / "tls" / "key.pem").write_text("secret")
    (finished.parent / "secret.txt").write_text("secret")
    (finished / "report").mkdir(exist_ok=True)
    (finished / "report" / "link.csv").unlink(missing_ok=True)
    (finished / "report" / "link.csv").symlink_to(finished.parent / "secret.txt")
    with _served(finished) as server:
        status, _, body = _ask(server, path)
    (finished / "report" / "link.csv").unlink()
    assert status == 404
    assert b"secret" not in body


def test_files_keep_to_themselves(finished: Path) -> None:
    """A page may load nothing from elsewhere, and no other page may show it; a log is text, whatever it holds."""
    trial = next(each for each in (finished / "trials").iterdir())
    (trial / "raw").mkdir(exist_ok=True)
    (trial / "raw" / "client.out").write_text("<script>")
    with _served(finished) as server:
        _, page, _ = _ask(server, "study/report.html")
        _, log, body = _ask(server, f"study/trials/{trial.name}/raw/client.out")
    assert page["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert log["Content-Type"].startswith("text/plain")
    assert log["X-Content-Type-Options"] == "nosniff"
    assert body == b"<script>"


@pytest.fixture
def begun(study: Study, study_dir: StudyDir, record: Record, tmp_path: Path) -> Path:
    """A study that has failed once, and stopped."""
    study_dir.spec.write_bytes((tmp_path / "spec.toml").read_bytes())
    record(grow_plan(study, {})[0], 1, "failed", "no answer")
    return study_dir.root


def test_the_state_is_that_of_status(begun: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts and troubles; nothing is known of what runs."""
    assert main(["status", str(begun), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    with _served(begun) as server:
        state = _told(server, "state")
    assert (state["trials"], state["cells"], state["trouble"]) == (status["trials"], status["cells"], status["trouble"])
    assert (state["running"], state["under_way"], state["watch"], state["pages"]) == (False, None, False, [])


def test_tables_alone_have_a_page_too(finished: Path) -> None:
    """A study without its ledger, as an archive for readers has it."""
    with _served(finished) as server:
        state = _told(server, "state")
    assert (state["trials"], state["running"], state["pages"]) == (None, False, ["report.html"])


def test_rows_of_a_trial(finished: Path) -> None:
    """Two hundred at a time, with search in every column; numbers are whole, and text is text."""
    with _served(finished) as server:
        listed = _told(server, "trials")
        trial = next(each["trial_id"] for each in listed if "losses" in each["tables"])
        asked = f"rows?trial={trial}&table=losses"
        first, last = _told(server, asked), _told(server, f"{asked}&offset=400")
        found = _told(server, f"{asked}&search=%3Cscript")
        assert _ask(server, f"rows?trial={trial}&table=nothing")[0] == 409
        assert _ask(server, f"rows?trial=../{trial}&table=losses")[0] == 409
    known = pl.read_parquet(finished / "tables" / "trials.parquet")["trial_id"]
    assert {each["trial_id"] for each in listed} == set(known)
    assert first["columns"] == ["#", "time_ns", "trigger", "ranges"]
    assert (first["of"], len(first["rows"]), len(last["rows"])) == (450, 200, 50)
    assert first["rows"][0] == [0, str(_INSTANT), "<script>alert(1)</script>", "[1, 2]"]
    assert first["rows"][1][2] is None
    assert (found["of"], found["rows"][0][0]) == (1, 0)


def test_a_query_is_only_read_and_kept_as_a_look(finished: Path) -> None:
    """The rules of `quiclab sql` hold: no file system, a hint for a wrong query, results count as seen."""
    looks = finished / "looks.jsonl"
    looks.unlink(missing_ok=True)
    with _served(finished) as server:
        assert _sql(server, "SELECT count(*) AS trials FROM trials")[1]["columns"] == ["trials"]
        assert not looks.exists()
        assert _sql(server, "SELECT median(value) FROM metrics")[0] == 200
        assert looks.exists()
        for wrong in ("SELECT * FROM nothing", "SELECT * FROM read_csv('/etc/passwd')", "COPY trials TO '/tmp/x'", ""):
            status, told = _sql(server, wrong)
            assert (status, bool(told["error"])) == (409, True), wrong
        assert _ask(server, "sql", method="POST", body="query=1", headers={"Content-Type": "text/plain"})[0] == 404
        headers = {"Content-Type": "application/json"}
        assert _ask(server, "sql", method="POST", body="[]", headers=headers)[0] == 400
        assert _ask(server, "sql", method="POST", body='"x"' * 50_000, headers=headers)[0] == 413


def test_a_run_in_progress_shows_no_result(finished: Path) -> None:
    """The server refuses report and tables while a run works: a look before the end costs certainty."""
    with _served(finished) as server, held_alone(finished / LOCK):
        assert _told(server, "state")["running"]
        assert _ask(server, "study/report.html")[0] == 404
        for path in ("trials", "rows?trial=0&table=losses"):
            assert _ask(server, path)[0] == 409
        assert _sql(server, "SELECT count(*) FROM trials")[0] == 409


def test_mistakes_of_the_command_line(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No study, no port, a port that is taken."""
    assert main(["view", str(tmp_path)]) == ExitCode.DECODE
    assert main(["view", str(finished), "--port", "70000"]) == ExitCode.SPEC
    with _served(finished) as server:
        assert main(["view", str(finished), "--port", str(server.server_port)]) == ExitCode.HOST
    told = capsys.readouterr().err
    assert "is no study with tables" in told
    assert "70000 is no port" in told
    assert os.strerror(98) in told
