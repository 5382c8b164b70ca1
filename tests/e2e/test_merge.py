# SPDX-License-Identifier: Apache-2.0
"""A study run in shards, as on two machines, and merged into one: as if it had run at once."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from by_night import by_night
from small_study import quiclab, trials, write_spec

from quiclab.store.layout import StudyDir

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The spec, and both halves of its study: blocks 0 and 2 with the A/A control's, and block 1."""
    folder = tmp_path_factory.mktemp("shards")
    spec = write_spec(folder, blocks=3)
    for number in (1, 2):
        done = quiclab("run", spec, "--shard", f"{number}/2", "--out", folder / f"part-{number}", "--no-report")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "quiclab merge STUDY" in done.stdout
    return spec, folder / "part-1", folder / "part-2"


def test_the_whole_is_the_plan(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """Each block ran in one shard; the merged study has all, and nothing is left for a run."""
    _, one, two = shards
    assert {trial["row"]["block"] for trial in trials(one)} == {0, 2}
    assert {trial["row"]["block"] for trial in trials(two)} == {1}
    assert (one / "part.json").exists()
    whole = tmp_path / "whole"
    done = quiclab("merge", whole, two, one, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["trials"]["verified"], document["trials"]["not_run"]) == (10, 0)
    (comparison,) = document["result"]["analysis"]["comparisons"]
    assert comparison["pairs"] == 3
    before = {trial["trial_id"]: trial["started_utc"] for shard in (one, two) for trial in trials(shard)}
    assert {trial["trial_id"]: trial["started_utc"] for trial in trials(whole)} == before
    assert sorted(file.stem for file in (whole / "hosts").iterdir()) == ["part-1", "part-2"]
    again = quiclab("run", whole, "--no-report")
    assert again.returncode == 0, again.stderr
    assert {trial["trial_id"]: trial["started_utc"] for trial in trials(whole)} == before


def test_parts_stay_as_they_are(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """Byte by byte, also where the disk they are on cannot be written; so does a study of which a block is packed."""
    _, one, two = shards
    before = {file: file.read_bytes() for part in (one, two) for file in part.rglob("*") if file.is_file()}
    read_only = f'mount --bind -o ro {one} {one} && mount --bind -o ro {two} {two} && ! touch {one}/x; exec "$@"'
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", read_only, "sh")
    merged = quiclab("merge", tmp_path / "whole", one, two, "--no-report", before=inside)
    assert merged.returncode == 0, merged.stdout + merged.stderr
    assert len(trials(tmp_path / "whole")) == 10
    block = trials(two)[0]["trial_id"]
    packed = quiclab("bundle", two, block, "-o", tmp_path / "block.tar.gz", before=inside)
    assert packed.returncode == 0, packed.stdout + packed.stderr
    assert {file: file.read_bytes() for part in (one, two) for file in part.rglob("*") if file.is_file()} == before


def test_system_calls_come_with_their_trials(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """Counts that a part has beside a trial are the whole's."""
    part = StudyDir(shutil.copytree(shards[1], tmp_path / "part"))
    counted = trials(part.root)[0]["trial_id"]
    kept = part.system_calls_beside(counted)
    kept.parent.mkdir(parents=True)
    kept.write_text('{"roles": {}}')
    done = quiclab("merge", tmp_path / "whole", part.root, "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert StudyDir(tmp_path / "whole").system_calls_beside(counted).read_text() == '{"roles": {}}'


def test_again_and_one_after_the_other(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """What is there stays; the parts may come when they are ready, and a part of the whole may be merged again."""
    _, one, two = shards
    whole = tmp_path / "whole"
    first = quiclab("merge", whole, one, "--no-report")
    assert (first.returncode, "2 of 10 planned trials are not there" in first.stdout) == (0, True), first.stderr
    second = quiclab("merge", whole, one, two, "--no-report")
    assert "2 trials brought into" in second.stdout
    assert "8 were there already" in second.stdout


def test_a_damaged_trial_is_mended_by_a_whole_one(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """And told by name where no part has it whole."""
    _, one, two = shards
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    shutil.copytree(one, broken)
    victim = next(iter(broken.glob("trials/*/raw/client.pcapng")))
    size = victim.stat().st_size
    os.truncate(victim, 100)
    first = quiclab("merge", whole, two, broken, "--no-report")
    assert first.returncode == 1, first.stderr
    told = f"trial {victim.parent.parent.name} is damaged: raw/client.pcapng has 100 bytes instead of {size}"
    assert told in first.stdout
    second = quiclab("merge", whole, broken, one, "--no-report")
    assert second.returncode == 0, second.stderr
    assert "Whole again, of those that were damaged: 1 trial." in second.stdout
    assert (whole / victim.relative_to(broken)).stat().st_size == size
    trial = whole / "trials" / victim.parent.parent.name
    for damage in (lambda: (trial / "trial.json").unlink(), lambda: shutil.rmtree(trial)):
        damage()
        again = quiclab("merge", whole, one, "--no-report")
        assert again.returncode == 0, again.stderr
        assert "Whole again, of those that were damaged: 1 trial." in again.stdout
    assert quiclab("run", whole, "--no-report").returncode == 0


def test_a_block_that_is_not_over_stays_where_it_is(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """It may run again as a whole, and is merged then."""
    _, one, two = shards
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    shutil.copytree(two, begun)
    with sqlite3.connect(begun / "ledger.sqlite") as ledger:
        (trial,) = (each for each in trials(begun) if each["row"]["arm"] == "h3")
        ledger.execute("DELETE FROM attempts WHERE trial_id = ?", [trial["trial_id"]])
    shutil.rmtree(begun / "trials" / trial["trial_id"])
    first = quiclab("merge", whole, begun, one, "--no-report")
    assert first.returncode == 0, first.stderr
    assert "Left out: 1 trial of blocks that are not over" in first.stdout
    assert "2 of 10 planned trials are not there" in first.stdout
    second = quiclab("merge", whole, two, "--no-report")
    assert (second.returncode, "2 trials brought into" in second.stdout) == (0, True), second.stderr
    assert len(trials(whole)) == 10


def test_what_was_void_and_has_run_again_is_brought(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """The same command merges a shard again, whose void block ran later."""
    _, one, two = shards
    void, later, whole = tmp_path / "void", tmp_path / "later", tmp_path / "whole"
    for copy in (void, later):
        shutil.copytree(two, copy)
        with sqlite3.connect(copy / "ledger.sqlite") as ledger:
            for trial in trials(two):
                counting, first = copy / "trials" / trial["trial_id"], copy / "failed" / f"{trial['trial_id']}-attempt1"
                shutil.copytree(counting, first)
                (first / "trial.json").write_text(json.dumps(trial | {"status": "void", "reason": "busy"}))
                ledger.execute(
                    "UPDATE attempts SET status = 'void', reason = 'busy' WHERE trial_id = ?", [trial["trial_id"]]
                )
                if copy == void:
                    shutil.rmtree(counting)
                else:
                    (counting / "trial.json").write_text(json.dumps(trial | {"attempt": 2}))
                    ledger.execute("INSERT INTO attempts VALUES (?, 2, 'verified', '')", [trial["trial_id"]])
    first = quiclab("merge", whole, void, one, "--no-report")
    assert (first.returncode, "10 trials brought into" in first.stdout) == (8, True), first.stdout + first.stderr
    again = quiclab("merge", whole, later, "--no-report")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "2 trials brought into" in again.stdout
    assert "Whole again" not in again.stdout


@pytest.mark.nightly
def test_looks_at_the_parts_are_looks_at_the_whole(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """Else blocks that were added after a look would count as planned before it."""
    _, one, two = shards
    seen, whole = tmp_path / "seen", tmp_path / "whole"
    shutil.copytree(one, seen)
    assert quiclab("report", seen, "-q").returncode == 0
    looks = (seen / "looks.jsonl").read_text()
    assert looks
    assert quiclab("merge", whole, seen, two, "--no-report").returncode == 0
    assert (whole / "looks.jsonl").read_text() == looks


@pytest.mark.nightly
def test_a_trial_that_ran_by_itself_is_no_part(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """What `quiclab trial` ran counts in no study: another one, or nobody, ran beside it."""
    spec, one, _ = shards
    alone, whole = tmp_path / "alone", tmp_path / "whole"
    done = quiclab("trial", spec, "--arm", "h3", "--block", "1", "--out", alone)
    assert done.returncode == 0, done.stderr
    refused = quiclab("merge", whole, one, alone)
    assert refused.returncode == 2, refused.stderr
    assert "has trials of blocks without the other 1 of these blocks" in refused.stderr
    assert "quiclab trial" in refused.stderr


@pytest.mark.nightly
def test_a_part_that_ran_by_other_limits_is_told(tmp_path: Path, shards: tuple[Path, Path, Path]) -> None:
    """A study may change its limits; the merged one keeps those of all its parts."""
    _, one, two = shards
    other = Path(shutil.copytree(two, tmp_path / "other"))
    resolved = json.loads((other / "resolved.json").read_text())
    resolved["limits"]["disturbance_pct"] = 77.0
    (other / "resolved.json").write_text(json.dumps(resolved))
    done = quiclab("merge", tmp_path / "whole", one, other, "--no-report")
    assert done.returncode == 0, done.stderr
    assert f"{other} ran by other limits than {one / 'spec.toml'} has (limits.disturbance was 77 %" in done.stdout
    kept = json.loads((tmp_path / "whole" / "resolved.json").read_text())
    assert [each["disturbance_pct"] for each in kept["earlier_limits"]] == [77.0]
    alike = quiclab("merge", tmp_path / "alike", one, two, "--no-report")
    assert "limits" not in alike.stdout


@pytest.mark.parametrize("what", ["spec", "itself", "ledger", "row", *by_night("twice", "program", "none", "rows")])
def test_what_is_no_part_of_the_study_is_refused(tmp_path: Path, shards: tuple[Path, Path, Path], what: str) -> None:
    """One clear error, and nothing is brought in."""
    spec, one, two = shards
    other, whole = tmp_path / "other", tmp_path / "whole"
    if what == "twice":
        done = quiclab("run", spec, "--shard", "2/2", "--out", other, "--no-report")
        assert done.returncode == 0, done.stderr
    elif what != "none":
        shutil.copytree(two, other)
    if what == "ledger":
        (other / "ledger.sqlite").write_bytes(b"")
    if what == "rows":
        with contextlib.closing(sqlite3.connect(other / "ledger.sqlite")) as ledger:
            ledger.execute("DELETE FROM trials")
            ledger.commit()
    if what == "row":
        with contextlib.closing(sqlite3.connect(other / "ledger.sqlite")) as ledger:
            ledger.execute('UPDATE trials SET row = replace(row, \'"arm_name": "h2"\', \'"arm_name": "h3"\')')
            ledger.commit()
    if what == "spec":
        resolved = json.loads((other / "resolved.json").read_text())
        (other / "resolved.json").write_text(json.dumps(resolved | {"seed": resolved["seed"] + 1}))
    if what == "program":
        host = json.loads((other / "host.json").read_text())
        (other / "host.json").write_text(json.dumps(host | {"quiclab": "0.0"}))
    asked = {"twice": (whole, one, two, other), "itself": (other, one, other)}.get(what, (whole, one, other))
    done = quiclab("merge", *asked)
    told, code = {
        "twice": ("have both run the trial", 2),
        "spec": ("seed: was", 2),
        "program": ("quiclab is 0.0, elsewhere", 2),
        "itself": ("is to be merged into itself", 2),
        "none": ("does not exist", 4),
        "row": ("its arm_name is 'h3', which its spec does not", 4),
        "ledger": ("ledger.sqlite is damaged", 4),
        "rows": ("lacks 2 of the trials whose folders are there", 4),
    }[what]
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert not whole.exists()


@pytest.mark.parametrize("shard", ["4/3", "x", *by_night("0/2", "1/4", "1/")])
def test_a_shard_that_is_none(tmp_path: Path, shard: str) -> None:
    """Of three blocks three shards are the most."""
    done = quiclab("run", write_spec(tmp_path, blocks=3), "--shard", shard, "--out", tmp_path / "s")
    assert done.returncode == 2
    assert shard in done.stderr
