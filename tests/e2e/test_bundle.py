# SPDX-License-Identifier: Apache-2.0
"""`quiclab bundle` of a real study: no key in it unless asked, it opens elsewhere, and replays."""

from __future__ import annotations

import json
import shutil
import struct
import tarfile
from pathlib import Path

import polars
import pytest
from by_night import by_night
from small_study import main_only, quiclab, trials, write_spec

import quiclab as package
from quiclab.store.packed_captures import SUFFIX, packed_against, read_capture
from quiclab.store.packed_logs import read_plain
from quiclab.store.secrets import secrets_in, written

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one block, whose captures hold their decryption secrets, as some programs write them."""
    folder = tmp_path_factory.mktemp("bundle")
    done = quiclab("run", main_only(write_spec(folder)), "--out", folder / "study", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    for raw in (folder / "study").glob("trials/*/raw"):
        server = raw / f"server.pcapng{SUFFIX}"
        of_server = read_capture(server)
        _put_secrets_into(raw / "client.pcapng", (raw / "keys.log").read_bytes())
        server.write_bytes(packed_against((raw / "client.pcapng").read_bytes(), of_server))
        document = json.loads((raw.parent / "trial.json").read_text())
        for item in document["artefacts"]:
            item["bytes"] = (raw.parent / item["path"]).stat().st_size
        (raw.parent / "trial.json").write_text(json.dumps(document))
    return folder / "study"


def _put_secrets_into(capture: Path, keys: bytes) -> None:
    """A decryption secrets block (TLS key log) behind the section header."""
    content = capture.read_bytes()
    header = struct.unpack("<I", content[4:8])[0]
    padded = keys + b"\0" * (-len(keys) % 4)
    length = 20 + len(padded)
    block = struct.pack("<IIII", 10, length, 0x544C534B, len(keys)) + padded + struct.pack("<I", length)
    capture.write_bytes(content[:header] + block + content[header:])


def _bundle(study: Path, target: Path, *options: str) -> Path:
    done = quiclab("bundle", study, "object/plain:0", "--out", target, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


def _keys(study: Path) -> set[bytes]:
    found = {secret for log in study.glob("trials/*/raw/keys.log") for secret in secrets_in(log.read_bytes())}
    assert len(found) >= 8
    return found


def _found(folder: Path, keys: set[bytes]) -> set[str]:
    """Files that hold a key in any way it may be written; of tables also what their columns hold."""
    found = set()
    for file in folder.rglob("*"):
        if file.is_file():
            content = read_plain(file)
            if file.suffix == ".parquet":
                content += repr(polars.read_parquet(file).rows()).encode()
            if any(form in content for key in keys for form in written(key)):
                found.add(file.name)
    return found


def test_no_key_is_in_it_unless_asked(study: Path, tmp_path: Path) -> None:
    """Every byte of every file is searched for every secret; with `--with-keys` they are where they were."""
    keys = _keys(study)
    plain = _unpack(_bundle(study, tmp_path / "plain.tar.gz"), tmp_path / "plain")
    assert _found(plain, keys) == set()
    assert not [file for file in plain.rglob("*") if file.name in ("keys.log", "ca.key") or file.suffix == ".key"]
    assert len(list(plain.glob("trials/*/raw/client.pcapng"))) == 2
    assert len(list(plain.glob("trials/*/raw/server.pcapng"))) == 2
    open_ = _unpack(_bundle(study, tmp_path / "open.tar.gz", "--with-keys"), tmp_path / "open")
    assert _found(open_, keys) == {"keys.log", "client.pcapng"}


@pytest.mark.nightly
def test_the_same_block_makes_the_same_bytes(study: Path, tmp_path: Path) -> None:
    """Neither the time nor the place of packing is in the archive."""
    first, second = (_bundle(study, tmp_path / f"{name}.tar.gz").read_bytes() for name in ("a", "b"))
    assert first == second


def test_it_opens_and_replays_elsewhere(study: Path, tmp_path: Path) -> None:
    """Report and tables without the study; the spec inside runs that block, and only that, with its seed."""
    folder = _unpack(_bundle(study, tmp_path / "one.tar.gz"), tmp_path / "elsewhere")
    before = package.open(folder).metrics.sort("trial_id", "name")
    assert "ttlb_ms" in before["name"].to_list()
    assert (folder / "report.html").stat().st_size > 0
    again = quiclab("report", folder)
    assert again.returncode == 0, again.stdout + again.stderr
    assert package.open(folder).metrics.sort("trial_id", "name").equals(before)
    run = quiclab("run", folder / "spec.toml", "--out", tmp_path / "again", "--no-report")
    assert run.returncode == 0, run.stdout + run.stderr
    old, new = (
        sorted((trial["trial_id"], trial["row"]["arm"], trial["row"]["seed"]) for trial in trials(each))
        for each in (folder, tmp_path / "again")
    )
    assert len(new) == 2
    assert new == old


@pytest.mark.parametrize("block", ["object/plain:9", *by_night("nothing", "object/plane:0")])
def test_a_block_that_is_not_there(block: str, study: Path, tmp_path: Path) -> None:
    """One sentence that names the cells."""
    done = quiclab("bundle", study, block, "--out", tmp_path / "x.tar.gz")
    assert done.returncode == 2
    assert "object/plain" in done.stderr
    assert not (tmp_path / "x.tar.gz").exists()


@pytest.mark.parametrize("spec", [b"[1, 2]", b"[study]\nseed = " + b"1" * 5000, b'a = "\xff"'])
def test_a_spec_that_cannot_be_read_is_named(spec: bytes, study: Path, tmp_path: Path) -> None:
    """As every other verb names it, and nothing is packed."""
    copy = tmp_path / "study"
    shutil.copytree(study, copy)
    (copy / "spec.toml").write_bytes(spec)
    done = quiclab("bundle", copy, "object/plain:0", "--out", tmp_path / "x.tar.gz")
    assert (done.returncode, "Traceback" in done.stderr, "spec.toml" in done.stderr) == (2, False, True), done.stderr
    assert not (tmp_path / "x.tar.gz").exists()
