# SPDX-License-Identifier: Apache-2.0
"""The page of `quiclab view`, served to browsers of this machine.

Whatever is served is of one study and only read. A browser must know a secret word, which is in the page's address:
other accounts reach a port of the loopback as well. It must have asked for this machine by its own name, or a page from
elsewhere whose name leads here could read along (DNS rebinding).
"""

from __future__ import annotations

import json
import mimetypes
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from quiclab.model.errors import QuiclabError, SpecError
from quiclab.store.folder_lock import LOCK, holder_of
from quiclab.store.layout import StudyDir
from quiclab.store.own_files import is_own_file, open_own

if TYPE_CHECKING:
    import polars as pl

    from quiclab.compare.study_tables import OpenedStudy

_FRESH_S = 2.0
"""Time for which a status that was looked at once is shown again: looking takes a processor, for which trials wait."""
_ROWS = 200
"""Rows of a table that are sent at once."""
_MOST_ANSWER = 1_000
"""Rows of a query's answer that are sent."""
_MOST_QUERY = 100_000
_SHOWN = ("trials", "failed", "tables")
"""Folders of a study whose files are served, beside its pages and theirs: not its keys."""
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_BUSY = "a run works in this study: its results are shown when it has stopped"


class ViewServer(ThreadingHTTPServer):
    """Server of one study's page on a port of the loopback. Raises OSError where the port is taken."""

    daemon_threads = True

    def __init__(self, study_dir: StudyDir, port: int = 0, running: Callable[[], list[str]] | None = None) -> None:
        """Listen. `running` returns the trials under way, where that is known."""
        super().__init__(("127.0.0.1", port), _Handler)
        self.study_dir = study_dir
        self.secret = secrets.token_urlsafe(16)
        self.running = running
        self._lock = threading.Lock()
        self._status: tuple[float, dict[str, object]] | None = None

    @property
    def address(self) -> str:
        """The page's address, with its secret word."""
        return f"http://127.0.0.1:{self.server_port}/{self.secret}/"

    @property
    def is_running(self) -> bool:
        """True if a process works on the study."""
        return holder_of(self.study_dir.root / LOCK) is not None

    def state(self) -> dict[str, object]:
        """State as the page shows it: the document of `quiclab status`, trials under way, and the study's pages."""
        with self._lock:
            if self._status is None or time.monotonic() - self._status[0] > _FRESH_S:
                self._status = (time.monotonic(), self._looked())
            found = self._status[1]
        pages = sorted(page.name for page in self.study_dir.root.glob("report*.html"))
        return {
            **found,
            "under_way": self.running() if self.running else None,
            "pages": pages,
            "watch": self.running is not None,
        }

    def _looked(self) -> dict[str, object]:
        from quiclab.cli.as_json import as_json
        from quiclab.cli.status import status_document
        from quiclab.study.progress import progress
        from quiclab.study.specs import load_study

        if not self.study_dir.ledger.exists():  # tables alone, as in an archive for readers
            return {"name": self.study_dir.root.name, "running": self.is_running, "trials": None}
        study = load_study(self.study_dir.spec)
        found = status_document(self.study_dir, progress(study, self.study_dir))
        return {"name": study.name, **as_json(found)}

    def opened(self) -> OpenedStudy:
        """The study's tables. Raises SpecError while a run works in it, since they show results."""
        from quiclab.compare.study_tables import open_study

        if self.is_running:
            raise SpecError(_BUSY)
        return open_study(self.study_dir.root)


def trial_list(study: OpenedStudy) -> list[dict[str, object]]:
    """Every trial by its last attempt: id, cell, arm, block, status and reason, and the tables that it has."""
    import polars as pl

    last = study.trials.sort("attempt").unique("trial_id", keep="last", maintain_order=True)
    names = ("trial_id", "cell_id", "arm", "block", "status", "reason")
    tables = [name for name in study.tables if name not in ("trials", "metrics")]
    have = {name: {file.stem for file in (study.directory / "tables" / name).glob("*.parquet")} for name in tables}
    rows = last.select(*names).with_columns(pl.col("reason").fill_null("")).iter_rows(named=True)
    return [{**row, "tables": [name for name in tables if row["trial_id"] in have[name]]} for row in rows]


def rows_of(study: OpenedStudy, trial_id: str, table: str, search: str, offset: int) -> dict[str, object]:
    """Rows of one table of a trial that hold a text, from a place on. Raises SpecError where there is no such table."""
    import polars as pl

    if table not in study.tables:
        raise SpecError(f"the study has no table {table!r}")
    rows = study.trial_table(table, trial_id) if trial_id.isalnum() else None
    if rows is None:
        raise SpecError(f"the trial {trial_id} has no table {table}")
    texts = rows.select(_text(rows[name]).alias(name) for name in rows.columns)
    numbered = texts.with_row_index("#")
    if search:
        holds = [pl.col(name).str.contains(search, literal=True).fill_null(value=False) for name in rows.columns]
        numbered = numbered.filter(pl.any_horizontal(holds))
    shown = numbered.slice(max(0, offset), _ROWS)
    return {"columns": numbered.columns, "rows": [list(row) for row in shown.rows()], "of": numbered.height}


def answer_of(study: OpenedStudy, query: str) -> dict[str, object]:
    """The answer of a query in SQL; that one of results was asked is kept, as `quiclab sql` does it."""
    from quiclab.compare.interim_analyses import note_look
    from quiclab.compare.study_tables import shows_results

    found = study.sql(query)
    if shows_results(query):
        note_look(study.directory)
    shown = found.head(_MOST_ANSWER)
    texts = shown.select(_text(shown[name]).alias(name) for name in shown.columns)
    return {"columns": found.columns, "rows": [list(row) for row in texts.rows()], "of": found.height}


def _text(column: pl.Series) -> pl.Series:
    """A column as text: JavaScript has no whole numbers beyond 2^53, and instants in ns are some."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return pl.Series([None if each is None else str(each) for each in column.to_list()], dtype=pl.String)
    return column.cast(pl.String)


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    server_version, sys_version = "quiclab", ""
    timeout = 60
    """Seconds after which a browser that says nothing is left."""

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal shows the address alone."""

    def do_GET(self) -> None:
        """Answer for the page, a file of the study, or a piece of JSON."""
        place = self._path_asked()
        if place is None:
            return
        path, asked = place
        if path == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self._page())
        elif path.startswith("study/"):
            self._file(path.removeprefix("study/"))
        elif path == "state":
            self._json(self.server.state)
        elif path == "trials":
            self._json(lambda: trial_list(self.server.opened()))
        elif path == "rows":
            words = asked.get("trial", ""), asked.get("table", ""), asked.get("search", "")
            offset = asked.get("offset", "0")
            self._json(lambda: rows_of(self.server.opened(), *words, int(offset) if offset.isdecimal() else 0))
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a query."""
        place = self._path_asked()
        if place is None:
            return
        length = self.headers.get("Content-Length", "")
        if place[0] != "sql" or self.headers.get("Content-Type") != "application/json" or not length.isdecimal():
            self._refuse(HTTPStatus.NOT_FOUND)
        elif int(length) > _MOST_QUERY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            try:
                query = str(json.loads(self.rfile.read(int(length)))["query"])
            except (ValueError, KeyError, TypeError):
                self._refuse(HTTPStatus.BAD_REQUEST)
                return
            self._json(lambda: answer_of(self.server.opened(), query))

    def _path_asked(self) -> tuple[str, Mapping[str, str]] | None:
        """The path behind the secret word and what is asked; None where the request was refused."""
        parts = urlsplit(self.path)
        _, word, *rest = [*parts.path.split("/", 2), ""]
        own = {f"{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")}
        known = secrets.compare_digest(word.encode(), self.server.secret.encode())
        if self.headers.get("Host") not in own or not known or parts.path.count("/") < 2:
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return unquote(rest[0]), {name: values[-1] for name, values in parse_qs(parts.query).items()}

    def _page(self) -> bytes:
        from quiclab.report.page.rendering import render

        return render("view.html.j2").encode()

    def _file(self, path: str) -> None:
        root = self.server.study_dir.root
        words = path.split("/")
        # The folder of a page is called like the page.
        is_page = re.fullmatch(r"report(-[a-z0-9_]+)?(\.html)?", words[0]) is not None
        shown = is_page or (len(words) > 1 and words[0] in _SHOWN)
        file = root / path
        if self.server.is_running or not shown or any(word in ("", ".", "..") for word in words):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        try:
            if "\0" in path or not is_own_file(file, root):
                raise FileNotFoundError(path)
            opened = open_own(file)
        except OSError:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        if file.suffix not in (".html", ".js", ".json", ".csv"):
            kind = "application/octet-stream" if file.suffix in (".pcapng", ".zst", ".gz", ".parquet") else "text/plain"
        with opened:
            size = opened.seek(0, 2)
            opened.seek(0)
            self._head(HTTPStatus.OK, f"{kind}; charset=utf-8" if kind.startswith("text/") else kind, size)
            shutil.copyfileobj(opened, self.wfile)

    def _json(self, work: Callable[[], Any]) -> None:
        try:
            code, found = HTTPStatus.OK, work()
        except QuiclabError as error:
            code, found = HTTPStatus.CONFLICT, {"error": error.message, "hint": error.hint}
        self._send(code, "application/json", json.dumps(found, allow_nan=False, default=str).encode())

    def _refuse(self, code: HTTPStatus) -> None:
        self._send(code, "text/plain; charset=utf-8", f"{code.phrase}\n".encode())

    def _send(self, code: HTTPStatus, kind: str, body: bytes) -> None:
        self._head(code, kind, len(body))
        self.wfile.write(body)

    def _head(self, code: HTTPStatus, kind: str, size: int) -> None:
        self.send_response(code)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(size)),
            ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
