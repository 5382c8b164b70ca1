# SPDX-License-Identifier: Apache-2.0
"""The page of `quiclab view` in a real Chromium."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from chromium import DESKTOP, PHONE, needs_chromium, sync_api
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

from quiclab.cli.view_server import ViewServer
from quiclab.report.page.write import write_report
from quiclab.store.folder_lock import LOCK, held_alone
from quiclab.store.layout import StudyDir

pytestmark = needs_chromium

SMALL = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=2, aa_blocks=0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewServer]:
    """A study of four trials with packets, served."""
    directory = write_study(tmp_path_factory.mktemp("study"), SMALL)
    for seed, trial in enumerate(sorted((directory / "trials").iterdir())):
        write_logs(directory, trial.name, 300, seed)
    write_report(directory)
    server = ViewServer(StudyDir(directory), running=None)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.matrix)], ids=["desktop", "phone"])
def test_a_finished_study(server: ViewServer, browser: Any, size: tuple[int, int]) -> None:
    """Counts, the report behind a link, rows of a trial by a search, an answer to a query; a clean console."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.goto(server.address)
    page.wait_for_selector("#results:not([hidden]) option[value=link_packets]", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.select_option("#table", "link_packets")
    page.fill("#search", "down")
    page.click("#choose button")
    page.wait_for_selector("#rows tbody tr")
    assert all("down" in row for row in page.locator("#rows tbody tr").all_inner_texts())
    page.fill("#query", "SELECT count(*) AS trials FROM trials WHERE status = 'verified'")
    page.click("#ask button")
    page.wait_for_selector("#answer td")
    assert page.locator("#answer td").inner_text() == "4"
    page.fill("#query", "SELECT nothing FROM trials")
    page.click("#ask button")
    page.wait_for_selector("#answer .caution")
    assert [text for text in console if "409" not in text] == []  # the browser notes the refused query
    page.click("#pages a")
    page.wait_for_selector("[data-figure][data-drawn]")
    page.close()


def test_a_run_in_progress(server: ViewServer, browser: Any) -> None:
    """Results are hidden while a run works in the study, and come when it has stopped."""
    page = browser.new_page()
    with held_alone(server.study_dir.root / LOCK):
        page.goto(server.address)
        sync_api.expect(page.locator("#told")).to_contain_text("A run begins")
        assert page.locator("#results").is_hidden()
    page.wait_for_selector("#results:not([hidden])")
    page.close()
