# SPDX-License-Identifier: Apache-2.0
"""What a program under test can reach of the machine: of root's as little as any other user, of a plain user's all."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from by_night import by_night
from plain_user import PLAIN_ID, as_plain_user, open_folder
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

_TRIES = """\
id
grep -E 'NoNewPrivs|CapEff' /proc/self/status
head -1 /etc/shadow
cat /etc/hosts
cat {open}/private/secret
echo pwned >/root/quiclab-pwned
echo pwned >{open}/spec.toml
echo core >/proc/sys/kernel/core_pattern
echo mine >{open}/mine
rm -f {qlog_dir}/../client.out
ln -s {open}/victim {qlog_dir}/../client.out
ln -s /etc/passwd {qlog_dir}/passwd
echo written >{qlog_dir}/log
echo done
"""


def _try(folder: Path, before: list[str]) -> tuple[str, Path]:
    """What the server of a study printed, and the study; beside it lie `private/secret`, `victim`, and what it made."""
    (folder / "private").mkdir(mode=0o700)
    (folder / "private" / "secret").write_text("of the caller\n")
    (folder / "victim").write_text("whole")
    if "env" not in before:
        for path in (folder / "private", folder / "private" / "secret", folder / "victim"):
            os.chown(path, PLAIN_ID, PLAIN_ID)
    script = _TRIES.replace("{open}", str(folder))
    server = f'{{ argv = ["/bin/sh", "-c", """{script}"""], ready = "tcp" }}'
    spec = main_only(write_spec(folder, server=server))
    done = quiclab("run", spec, "--out", folder / "study", before=before)
    failed = [trial for trial in trials(folder / "study") if trial["protocol"] == "h2"]
    assert {trial["status"] for trial in failed} == {"failed"}, done.stdout + done.stderr
    outputs = [file.read_text() for file in folder.glob("study/failed/*/raw/server.out")]
    assert outputs
    assert all("done\n" in text for text in outputs)
    return outputs[0], folder / "study"


def _owners(study: Path) -> set[int]:
    return {path.lstat().st_uid for path in (study, *study.rglob("*"))}


@as_root
@pytest.mark.parametrize(
    ("uid", "environment"),
    [
        (65534, ["SUDO_UID=0", "SUDO_GID=0"]),
        *by_night((4321, ["SUDO_UID=4321", "SUDO_GID=4321"]), (65534, ["-u", "SUDO_UID", "-u", "SUDO_GID"])),
    ],
)
def test_of_roots_files_it_reaches_none(uid: int, environment: list[str]) -> None:
    """To the kernel it is an unprivileged user: root's files stay closed, and no link of its making is followed."""
    core_pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    with open_folder() as folder:
        said, study = _try(folder, ["env", *environment])
        assert "uid=1000" in said
        assert "NoNewPrivs:\t1" in said
        assert "CapEff:\t0000000000000000" in said
        assert "10.77.0.2 server.test" in said, "names are the laboratory's"
        assert "root:" not in said
        assert "of the caller" not in said
        assert not Path("/root/quiclab-pwned").exists()
        assert "[study]" in (folder / "spec.toml").read_text()
        assert Path("/proc/sys/kernel/core_pattern").read_text() == core_pattern
        assert (folder / "mine").stat().st_uid == uid
        assert (folder / "victim").read_text() == "whole"
        assert _owners(study) == {0}
        assert not [path for path in study.rglob("*") if path.is_symlink()]
        assert {file.read_text() for file in study.glob("failed/*/raw/server-qlog/log")} == {"written\n"}


@as_root
def test_of_a_plain_users_files_it_reaches_all() -> None:
    """It acts as that user, as any program that the user starts, and gains nothing beyond."""
    with open_folder() as folder, as_plain_user() as before:
        said, study = _try(folder, before)
        assert "uid=1000" in said
        assert "NoNewPrivs:\t1" in said
        assert "root:" not in said
        assert "of the caller" in said
        assert (folder / "mine").stat().st_uid == PLAIN_ID
        assert _owners(study) == {PLAIN_ID}
        assert not [path for path in study.rglob("*") if path.is_symlink()]


@as_root
def test_the_laboratory_follows_no_link_of_its_making() -> None:
    """A program that puts a link where the laboratory is about to write spoils its own trial, and no file elsewhere."""
    with open_folder() as folder:
        (folder / "victim").write_text("whole")
        script = f"ln -s {folder}/victim {{qlog_dir}}/../link.json"
        server = f'{{ argv = ["/bin/sh", "-c", "{script}"], ready = "tcp" }}'
        spec = main_only(write_spec(folder, server=server))
        done = quiclab("run", spec, "--out", folder / "study", "--no-report")
        assert done.returncode == 1
        assert "Traceback" not in done.stdout + done.stderr
        assert {trial["protocol"]: trial["status"] for trial in trials(folder / "study")}["h2"] == "failed"
        assert not [path for path in (folder / "study").rglob("*") if path.is_symlink()]
        assert (folder / "victim").read_text() == "whole"


@as_root
def test_a_plan_asks_a_specs_own_programs_in_the_sandbox() -> None:
    """For their versions, after it has said whose they are: as an unprivileged user, and with no network."""
    with open_folder() as folder:
        (folder / "private").mkdir(mode=0o700)
        program = folder / "private" / "own" / "bin" / "caddy"
        program.parent.mkdir(parents=True)
        program.write_text(
            f"#!/bin/sh\ncp /proc/net/dev {folder}/net\necho pwned >/root/quiclab-pwned\necho v2.99.1 h1:x=\n"
        )
        program.chmod(0o755)
        for each in (program.parent.parent, program.parent):
            each.chmod(0o755)
        prefix = program.parent.parent
        spec = write_spec(folder, server=f'{{ name = "caddy", prefix = "{prefix}", version = "2.98" }}')
        planned = quiclab("plan", spec, before=["env", "-u", "SUDO_UID"])
        said = " ".join((planned.stdout + planned.stderr).split())
        assert planned.returncode == 3, "that is not the version that is asked for"
        assert f"The spec brings programs of its own: caddy of {prefix}." in said
        assert "2.99.1" in said
        assert (folder / "net").stat().st_uid == 65534
        assert [line.split(":")[0].strip() for line in (folder / "net").read_text().splitlines()[2:]] == ["lo"]
        assert not Path("/root/quiclab-pwned").exists()


@as_root
def test_programs_in_private_folders_run_nonetheless() -> None:
    """A study, its client and Python's packages below a folder that only root may enter."""
    with open_folder() as folder:
        private = folder / "private"
        private.mkdir(mode=0o700)
        (private / "secret").write_text("of the caller")
        script = private / "client.py"
        script.write_text(
            "import pathlib, subprocess, sys\n"
            "print(pathlib.Path(sys.argv[2]).parent.joinpath('secret').exists(), flush=True)\n"
            "raise SystemExit(subprocess.run(['sh', '-c', 'exit 0']).returncode)\n"
        )
        argv = [sys.executable, str(script), "{url}", str(script)]
        spec = write_spec(private, client=f"{{ argv = {argv!r} }}".replace("'", '"'))
        quiclab("run", spec, "--out", private / "study")
        said = {file.read_text() for file in private.glob("study/*/*/raw/client.out") if file.stat().st_size}
        assert said == {"False\n"}
        assert {trial["status"] for trial in trials(private / "study") if trial["protocol"] == "h3"} == {"verified"}


def test_the_namespaces_cover_no_more_than_needed() -> None:
    """Which folders are emptied for whom: a file in a private folder is reached alone, a tree in an open one whole."""
    from quiclab.lab.testbed.confinement import Owner, barriers_before

    stranger = Owner(os.geteuid() + 4321, os.getegid() + 4321)
    with open_folder() as folder:
        top = folder / "top"
        (top / "inner").mkdir(parents=True)
        shutil.copy("/bin/true", top / "inner" / "program")
        shutil.copy("/bin/true", top / "program")
        (top / "inner").chmod(0o755)
        top.chmod(0o755)
        assert barriers_before([top / "inner" / "program"], stranger) == {}
        top.chmod(0o700)
        found = barriers_before([top / "inner" / "program", top / "program", top / "missing"], stranger)
        assert found == {top / "inner": top, top / "program": top}
        assert barriers_before([top / "program"], Owner(os.geteuid(), os.getegid())) == {}
