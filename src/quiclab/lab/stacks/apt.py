# SPDX-License-Identifier: Apache-2.0
"""apt with folders of its own: it reads any release, needs no root, and leaves the machine's apt as it is.

What apt downloads is checked by apt itself: the archive's key signs the index, the index holds each package's hash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from quiclab.lab.stacks.sources import Source
from quiclab.model.errors import HostError

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_TIME_LIMIT_S = 1800
"""Time limit of one command of apt's, for the slowest of networks."""
_INDEX_BYTES = 100_000_000
MORE_SPACE = "free some space, or set QUICLAB_STACKS to a folder on a larger disk"
_OWN_STATUS = Path("/var/lib/dpkg/status")

# The machine's own settings are read first (a proxy, a certificate); these replace whatever would touch the machine.
_SETTINGS = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Dir::State "{folder}/state";
Dir::State::Lists "{folder}/lists";
Dir::State::status "{status}";
Dir::Cache "{folder}/cache";
Dir::Log "{folder}/log";
Dir::Etc "{folder}/etc";
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::Trusted "{folder}/etc/trusted.gpg";
APT::Architecture "{architecture}";
APT::Architectures "{architecture}";
APT::Install-Recommends "false";
APT::Get::List-Cleanup "false";
APT::Update::Error-Mode "any";
Acquire::GzipIndexes "true";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Dpkg::Use-Pty "false";
"""


class IndexExpiredError(HostError):
    """The index is signed, but its date of expiry has passed: the mirror may have stopped."""


class Apt:
    """apt in a folder of its own."""

    def __init__(self, folder: Path, sources: tuple[Source, ...], *, on_top_of_machine: bool = False) -> None:
        """Set up the folder. The last of several sources is preferred; `on_top_of_machine` takes what is installed as
        given."""
        self._folder = folder
        self._sources = sources
        for each in (
            "dpkg",
            "state",
            "lists/partial",
            "cache/archives/partial",
            "log",
            "etc/preferences.d",
            "etc/trusted.gpg.d",
        ):
            (folder / each).mkdir(parents=True, exist_ok=True)
        # A copy: apt locks the folder that the file lies in.
        status = folder / "dpkg" / "status"
        status.write_text(_OWN_STATUS.read_text() if on_top_of_machine else "")
        settings = _SETTINGS.format(
            folder=folder, status=status, architecture=_run("dpkg", "--print-architecture").stdout.strip()
        )
        if not on_top_of_machine:
            settings += f'APT::Default-Release "{sources[-1].suite}";\n'
        (folder / "apt.conf").write_text(settings)
        lines = [f"deb [signed-by={_KEYRING}] {source.mirror} {source.suite} main\n" for source in sources]
        (folder / "sources.list").write_text("".join(lines))

    def update(self, *, however_old: bool = False) -> None:
        """Fetch the indexes; every signature is verified, and so is the date of expiry unless `however_old`."""
        # apt can wait for ever on a disk that fills up while it reads an index.
        if (free := shutil.disk_usage(self._folder).free) < _INDEX_BYTES:
            raise HostError(f"the disk is full: {self._folder} has {free / 1e6:.0f} MB left", MORE_SPACE)
        done = self._get("update", *(("--option=Acquire::Check-Valid-Until=false",) if however_old else ()))
        if done.returncode != 0:
            raise self._trouble(done.stdout)

    def download(self, packages: tuple[str, ...]) -> list[Path]:
        """Download the packages and all that they depend on, as files whose hashes apt has verified."""
        archives = self._folder / "cache" / "archives"
        self.clean()
        done = self._get("install", "--yes", "--download-only", "--no-upgrade", *packages)
        if done.returncode != 0:
            raise self._trouble(done.stdout)
        return sorted(archives.glob("*.deb"))

    def clean(self) -> None:
        """Remove downloaded packages: what an interrupted download left is not trusted."""
        for file in (self._folder / "cache" / "archives").glob("*.deb"):
            file.unlink()

    def _get(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ("apt-get", "--quiet", f"--config-file={self._folder / 'apt.conf'}", *arguments)
        return _run(*command)

    def _trouble(self, output: str) -> HostError:
        """One sentence from apt's many lines."""
        where = ", ".join(f"{source.suite} at {source.mirror}" for source in self._sources)
        complaints = [line[2:].strip() for line in output.splitlines() if line.startswith(("E:", "W:"))]
        said = complaints[0] if complaints else (output.strip().splitlines() or ["apt-get failed without a word"])[-1]
        for pattern, sentence, hint in _TROUBLES:
            if re.search(pattern, "\n".join(complaints), re.IGNORECASE):
                kind = IndexExpiredError if pattern == _EXPIRED else HostError
                return kind(f"{sentence.format(where=where, folder=self._folder)} (apt: {said})", hint)
        return HostError(f"apt could not get packages of {where}: {said}")


_EXPIRED = r"is expired"
_TROUBLES = (
    (
        r"no space left|enough free space|disk quota",
        "the disk is full: {folder} cannot take the packages",
        MORE_SPACE,
    ),
    (
        r"NO_PUBKEY|not signed|signature|EXPKEYSIG|public key",
        "the signature of {where} could not be verified",
        "renew the keys: apt-get install debian-archive-keyring",
    ),
    (_EXPIRED, "the index of {where} has expired", "try again later, or another mirror"),
    (
        r"does not have a release file|404",
        "the mirror does not have what was asked for: {where}",
        "name another mirror in /etc/apt/sources.list, or try again later",
    ),
    (
        r"resolv|could not connect|unable to connect|timed out|unreachable|connection failed|failed to fetch",
        "{where} cannot be reached",
        "check the network; behind a proxy, apt needs Acquire::http::Proxy in /etc/apt/apt.conf.d",
    ),
)


def require_apt() -> None:
    """Check for the programs that installing needs, all part of any Debian."""
    missing = [name for name in ("apt-get", "dpkg", "dpkg-deb", "tar") if shutil.which(name) is None]
    if missing:
        raise HostError(
            f"{' and '.join(missing)} missing: programs can be installed only on Debian and its relatives",
            "elsewhere, programs on the PATH are used, and `prefix` in a spec names a folder with others",
        )
    if not _KEYRING.is_file():
        raise HostError(f"{_KEYRING} is missing: nothing could be verified", "apt-get install debian-archive-keyring")


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command without input; return output and errors together, in English."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            check=False,
            timeout=_TIME_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"{command[0]} had not ended after {_TIME_LIMIT_S // 60} minutes", "try again later") from None
