# SPDX-License-Identifier: Apache-2.0
"""Means that all trials of a study share: a folder in memory, certificates, the server's files, the link's backend."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quiclab.lab.endpoints import Presence, look_for, objections_to
from quiclab.lab.endpoints._api import BoundedRun
from quiclab.lab.runner import films
from quiclab.lab.runner.confined import confined_run, reached_by
from quiclab.lab.runner.cpu import Calibrations, calibrate
from quiclab.lab.runner.pages import ServedPage, place_page
from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.certificates import HOST, Certificates, lend, make_certificates
from quiclab.lab.testbed.confinement import Confinement, confine, mount_work_dir
from quiclab.lab.testbed.link import SERVER_ADDRESSES, Backend, node_addresses
from quiclab.lab.testbed.link_process import SharedLinkProcess
from quiclab.lab.testbed.turn import Turn
from quiclab.lab.workloads import build_site
from quiclab.model.errors import HostError, SpecError
from quiclab.model.study import Certificate, Study
from quiclab.store.left_files import remove_tree

WARM_UP_OBJECT = "warm-up"
_LEAST_ARMS = 2
"""To compare."""


@dataclass(frozen=True)
class Laboratory:
    """Everything that trials of a study need, made ready once."""

    study: Study
    backend: Backend
    work_dir: Path
    """Folder for a running trial, in memory (tmpfs), so that its logs never wait for a disk."""
    certificates: Mapping[Certificate, Certificates]
    """Certificates of servers, all issued by the study's one CA."""
    root: Path
    """Root of the files that servers serve."""
    uploads: Path
    """Folder of the objects that clients send."""
    expected: dict[str, tuple[int, str]]
    """Object → bytes and SHA-256."""
    confinement: Confinement
    """Confinement that programs under test run in."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Every program of the arms → its version."""
    cannot_run: Mapping[str, str] = field(default_factory=dict)
    """Arm → why none of its trials can run here: they fail for this reason."""
    calibrations: Calibrations = field(default_factory=dict)
    """Share of a core that competitors really leave, by the share that was asked for."""
    spin_ns: int | None = None
    links: SharedLinkProcess | None = None
    """Process that moves the packets of all trials that run side by side; None where each has one of its own."""
    starts: Turn | None = None
    """Turn of the one trial at a time that gets ready; None where one trial runs at a time anyway."""
    pages: Mapping[str, ServedPage] = field(default_factory=dict)
    """Workload → its page."""

    @property
    def kept(self) -> Path:
        """Folder in which clients keep what they make once."""
        return self.work_dir / "kept"

    def name_front(self, address: str) -> None:
        """Have the server's name stand for this address, in the file where names are looked up."""
        (self.work_dir / "hosts").write_text(_hosts(address))

    def trial_dir(self, trial_id: str) -> Path:
        """An empty folder in memory for one trial, while that runs closed to other users: there are keys in it."""
        folder = self.work_dir / trial_id
        remove_tree(folder)
        folder.mkdir(mode=0o700)
        return folder


def open_laboratory(study: Study, study_dir: Path, backend: Backend) -> Laboratory:
    """Prepare everything that is made once. Must run inside the sandbox.

    Raises SpecError for what an endpoint cannot do, HostError for a program that is not here and when there is no
    memory file system.
    """
    check_supported(study)
    work_dir = study_dir / ".work"
    mount_work_dir(work_dir)
    with confine(None, reached_by(study)) as looking:
        present = check_present(study, confined_run(looking))
    films.check_players(study.workloads)
    _small_tcp_tables()
    kinds = {arm.certificate for arm in study.arms}
    nodes = range(1, max(len(path.links) for path in study.paths))
    addresses = [*SERVER_ADDRESSES.values(), *(each for node in nodes for each in node_addresses(node).values())]
    made = make_certificates(study_dir / "tls", tuple(addresses), kinds)
    certificates = {kind: lend(each, work_dir / "tls") for kind, each in made.items()}
    hosts = work_dir / "hosts"
    hosts.write_text(_hosts(SERVER_ADDRESSES[4]))
    _libc.mount(str(hosts), "/etc/hosts", None, _libc.MS_BIND)
    root, uploads = work_dir / "www", work_dir / "uploads"
    root.mkdir()
    uploads.mkdir()
    (work_dir / "kept").mkdir()
    warm_up = os.urandom(1024)
    (root / WARM_UP_OBJECT).write_bytes(warm_up)
    expected = {}
    pages = {}
    for workload in study.workloads:
        site = build_site(workload, study.seed)
        if workload.page is not None:
            pages[workload.name] = place_page(
                work_dir, study_dir / "tls", kinds, workload, site, (WARM_UP_OBJECT, warm_up)
            )
            continue
        if site.film is not None:
            films.lend(site.film, root / workload.name)
        for name, content in site.files.items():
            ((uploads if workload.upload else root) / name).write_bytes(content)
            expected[name] = (len(content), hashlib.sha256(content).hexdigest())
    # After everything is mounted: programs see the mounts that were there then.
    confinement = confine(work_dir, reached_by(study))
    for folder in ("tls", "kept"):
        confinement.give(work_dir / folder)
    return Laboratory(
        study,
        backend,
        work_dir,
        certificates,
        root,
        uploads,
        expected,
        confinement,
        present.versions,
        present.cannot_run,
        calibrate(study),
        pages=pages,
    )


def _hosts(address: str) -> str:
    """Names that are known during a trial: `server` is for people, in the shell of `quiclab trial`."""
    return f"127.0.0.1 localhost\n::1 localhost\n{address} {HOST} server\n"


def check_supported(study: Study) -> None:
    """Ask every endpoint about every arm, before anything runs. Raises SpecError with all objections."""
    if found := objections_to(study):
        raise SpecError("an arm asks for what its programs cannot do", "`quiclab doctor` lists what each can", found)


def check_present(study: Study, run: BoundedRun) -> Presence:
    """Look for every program of every arm.

    Raises HostError with all that is missing where nothing is left to compare; else the other arms go on.
    """
    presence = look_for(study.arms, run)
    able = [arm for arm in study.measured_arms if arm.name not in presence.cannot_run]
    if presence.missing and len(able) < _LEAST_ARMS:
        told = "an arm asks for a program, or for a version of it, that is not here"
        raise HostError(told, "`quiclab doctor` lists what is here, with versions", presence.missing)
    return presence


def _small_tcp_tables() -> None:
    """Namespaces made from here on get tables of connections of their own, not a share of the machine's: a look for a
    trial's connections then need not walk through hundreds of thousands of empty places."""
    with contextlib.suppress(OSError):  # Linux before 6.1 has no such setting
        Path("/proc/sys/net/ipv4/tcp_child_ehash_entries").write_text("4096")
