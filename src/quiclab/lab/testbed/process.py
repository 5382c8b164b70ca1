# SPDX-License-Identifier: Apache-2.0
"""An endpoint's process: in a network namespace, as an ordinary user, with an environment of its own."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed._process_tree import everybody, signals_heard, tree
from quiclab.lab.testbed._socket_owners import holds, strangers
from quiclab.lab.testbed.confinement import ORDINARY_ID
from quiclab.lab.testbed.jail import Jail
from quiclab.lab.testbed.listening import Kind, ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process_cost import reap
from quiclab.lab.testbed.run_delay import Waited, waits
from quiclab.model.errors import TrialError
from quiclab.model.terminal_escape import visible
from quiclab.store.own_files import append_to_own, read_own

_LONGEST_WORDS = 500
_LAST_BYTES = 1 << 16
_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
"""Signals that no program in a jail can send itself or have from its children: it is the first process of its PID
namespace. Crashes have others: SIGSEGV, SIGBUS, SIGILL, SIGFPE. The kernel's out-of-memory killer sends SIGKILL."""


class Process:
    """A program inside `namespace`. Leaving the `with` block ends it: interrupt, grace, kill."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        namespace: NetworkNamespace,
        *,
        work_dir: Path,
        output: Path | None,
        jail: Jail | None = None,
        ordinary_id: int | None = ORDINARY_ID,
        waits_for_go: bool = False,
    ) -> None:
        """Describe the process. `output` takes stdout and stderr; None leaves the caller's own. Programs under test
        have a `jail`, begin in its home, and are the first process of a PID namespace. Without it the program is the
        caller, and `ordinary_id` the uid and gid that it sees; None leaves it root of the sandbox. `waits_for_go` gives
        it a pipe on stdin."""
        self.name = name
        self.argv = tuple(argv)
        self._env = dict(env)
        self._namespace = namespace
        self._work_dir = work_dir
        self._output = output
        self._jail = jail
        self._ordinary_id = ordinary_id
        self._waits_for_go = waits_for_go
        self._process: subprocess.Popen[bytes] | None = None
        self.usage: resource.struct_rusage | None = None
        """Resources that the program and its children have used, once it has ended."""
        self.waited: Waited | None = None
        """Time that its first thread was ready and had no processor, once it has ended; None where the kernel does not
        count."""

    def __enter__(self) -> Self:
        stdin = subprocess.PIPE if self._waits_for_go else (subprocess.DEVNULL if self._output else None)
        with contextlib.ExitStack() as stack:
            sink = stack.enter_context(self._opened(self._output)) if self._output else None
            if self._jail is not None:
                if sink is not None:
                    self._jail.give(sink.fileno())  # else it could not open /dev/stdout
                stack.enter_context(_new_pid_namespace())
            self._process = subprocess.Popen(
                [*self._entry(), *self.argv],
                env=self._env,
                cwd=None if self._jail else self._work_dir,
                stdin=stdin,
                stdout=sink,
                stderr=sink,
                pass_fds=(self._namespace.fd, *(self._jail.fds if self._jail else ())),
                start_new_session=self._output is not None,
            )
        return self

    def _opened(self, output: Path) -> BufferedWriter:
        """The file that takes what the program prints, which another program under test may have replaced."""
        try:
            return append_to_own(output)
        except OSError as error:
            raise TrialError(f"{self.name} cannot print into {output.name}: {error.strerror or error}") from None

    def _entry(self) -> tuple[str, ...]:
        """Programs that take the process into its namespaces, and then become the program itself."""
        network = ("nsenter", f"--net=/proc/self/fd/{self._namespace.fd}")
        if self._jail is not None:
            return (*network, *self._jail.entry())
        if self._ordinary_id is None:
            return (*network, "--")
        ids = (f"--map-user={self._ordinary_id}", f"--map-group={self._ordinary_id}")
        return (*network, "--", "unshare", "--user", *ids, "--")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(grace_s=0.0 if kind else 0.5)

    @property
    def pid(self) -> int:
        """Process id of the program itself: nsenter and what follows it become it."""
        return self._require().pid

    def go(self) -> None:
        """Tell a client that was started early to begin."""
        self.say(b"go\n")

    def say(self, line: bytes) -> None:
        """Write a line to the standard input of a client that was started early."""
        pipe = self._require().stdin
        if pipe is None:
            raise RuntimeError(f"{self.name} does not wait for a word to begin")
        with contextlib.suppress(BrokenPipeError):
            pipe.write(line)
            pipe.flush()

    def wait(self, timeout_s: float | None) -> int | None:
        """Exit code, or None when it still runs after `timeout_s`; None waits for ever."""
        process = self._require()
        if process.returncode is None:
            # Popen.wait(timeout) looks every 50 ms; a pidfd says at once.
            pidfd = os.pidfd_open(process.pid)
            try:
                if not select.select([pidfd], [], [], timeout_s)[0]:
                    return None
            finally:
                os.close(pidfd)
            self.waited = waits(process.pid).get(process.pid)
            self.usage = reap(process)
        return process.returncode

    def killed_from_outside(self) -> str | None:
        """Describe how the program was killed, if by a signal that programs do not send themselves. To be called before
        it is told to end."""
        code = None if self._process is None else self.poll()
        if code is None or -code not in _FROM_OUTSIDE:
            return None
        return f"{self.name} was killed from outside ({signal.Signals(-code).name})"

    def poll(self) -> int | None:
        """Exit code if it has ended."""
        return self.wait(0)

    def end(self, grace_s: float) -> int:
        """Send SIGTERM to its process group, then SIGKILL after `grace_s`; return the exit code."""
        process = self._require()
        for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
            if self.poll() is not None:
                break
            if number == signal.SIGTERM and (grace_s == 0 or self._leaves_its_end_to_others()):
                continue
            with contextlib.suppress(ProcessLookupError):
                if self._output is not None:
                    os.killpg(process.pid, number)
                else:
                    process.send_signal(number)
            self.wait(patience)
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        code = self.wait(None)
        assert code is not None
        return code

    def _leaves_its_end_to_others(self) -> bool:
        """True if the program neither takes SIGTERM itself nor has children. Elsewhere that signal would end it, but
        not the first process of a PID namespace: there is nothing to wait for."""
        if self._jail is None or signal.SIGTERM in signals_heard(self.pid):
            return False
        return len(tree(everybody(), self.pid, frozenset())) <= 1

    def last_words(self, lines: int = 3) -> str:
        """The end of what the program printed, for error messages."""
        if self._output is None:
            return ""
        try:
            printed = read_own(self._output, last_bytes=_LAST_BYTES)
        except OSError:
            return ""
        text = printed.decode(errors="replace").strip().splitlines()
        words = visible(" | ".join(line.strip() for line in text[-lines:]))
        return words if len(words) <= _LONGEST_WORDS else f"… {words[-_LONGEST_WORDS:]}"

    def wait_for_sockets(self, port: int, kinds: Sequence[Kind], timeout_s: float) -> None:
        """Wait until the program listens on `port` for each kind, with as many sockets as the kind is listed; no packet
        is sent.

        Raises TrialError when the program ends before, is not ready in time, or has the port together with another.
        """
        deadline = time.monotonic() + timeout_s
        with ListeningPorts(self._namespace) as listening:

            def there(kind: Kind) -> set[int]:
                return listening.sockets(kind).get(port, set())

            wanted = Counter(kinds)
            while missing := [
                kind
                for kind, number in wanted.items()
                if len(found := there(kind)) < number or not holds(self.pid, found)
            ]:
                code = self.poll()
                if code is None and time.monotonic() <= deadline:
                    time.sleep(0.002)
                    continue
                taken = {kind: ", ".join(strangers(self.pid, there(kind))) for kind in missing}
                others = "".join(f" ({kind} port {port} is held by {taken[kind]})" for kind in missing if taken[kind])
                if code is not None:
                    last_words = self.last_words() or "it printed nothing"
                    raise TrialError(f"{self.name} ended at start with exit code {code}{others}: {last_words}")
                unopened = " and ".join(missing)
                raise TrialError(f"{self.name} did not open {unopened} port {port} within {timeout_s:g} s{others}")
            for kind in wanted:
                if shared := strangers(self.pid, there(kind)):
                    raise TrialError(f"{self.name} shares {kind} port {port} with {', '.join(shared)}")

    def wait_for_file(self, file: Path, timeout_s: float) -> None:
        """Wait until `file` is there. Raises TrialError when the program ends before, or is not ready in time."""
        deadline = time.monotonic() + timeout_s
        while not file.exists():
            code = self.poll()
            if code is not None:
                raise TrialError(f"{self.name} ended at start with exit code {code}: {self.last_words()}")
            if time.monotonic() > deadline:
                raise TrialError(f"{self.name} was not ready to begin within {timeout_s:g} s")
            time.sleep(0.01)

    def _require(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process


@contextlib.contextmanager
def _new_pid_namespace() -> Iterator[None]:
    """Context in which the next process that this thread starts is the first one of a new PID namespace."""
    own = os.open("/proc/thread-self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _libc.unshare(_libc.CLONE_NEWPID, "a PID namespace")
        try:
            yield
        finally:
            _libc.setns(own, _libc.CLONE_NEWPID)
    finally:
        os.close(own)


def kill_everything_else() -> None:
    """End every other process of the sandbox, of which this one must be PID 1."""
    if os.getpid() != 1:
        raise RuntimeError("only the first process of a sandbox may do this")
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def collect() -> None:
    """Reap children that have ended. A link takes 40 ms to end: the kernel unregisters its devices meanwhile."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
