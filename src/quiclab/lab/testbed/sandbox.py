# SPDX-License-Identifier: Apache-2.0
"""The sandbox: everything that measures lives in unnamed user, mount, PID, IPC and network namespaces.

It works in the same way for root and plain users. The runner itself becomes PID 1 of the sandbox, so that whichever
process is killed, even by `kill -9`, the kernel ends every process in it and with them every namespace, device, mount
and address.

    caller ─ fork ─▶ keeper (new namespaces) ─ fork ─▶ PID 1: runs `main`, returns an exit code
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.real_time import Grants
from quiclab.model.errors import ExitCode, HostError

USER_NAMESPACE_HINT = (
    "user namespaces are forbidden here. Ask the administrator for: sysctl -w user.max_user_namespaces=10000 "
    "kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); "
    "in a container: --security-opt seccomp=unconfined"
)


def run_in_sandbox(
    main: Callable[[], int], *, own_network: bool = True, connect: Callable[[int], None] | None = None
) -> int:
    """Run `main` as PID 1 of a new sandbox and return its exit code; Ctrl-C, SIGTERM and SIGHUP reach it as
    KeyboardInterrupt. The code is ExitCode.CRASH if `main` raised anything else.

    `connect` is called in the caller before that, with the id of a process that has the sandbox's network.

    Without `own_network`, `main` begins in the caller's network, may start processes there that end with the sandbox,
    and then calls `leave_network`. Must be called before the process has threads: a thread cannot leave its user
    namespace. Raises HostError when the machine forbids user namespaces.
    """
    if threading.active_count() > 1:
        raise RuntimeError("the sandbox must be entered before any thread is started")
    sys.stdout.flush()
    sys.stderr.flush()
    unshared_read, unshared_write = os.pipe()
    mapped_read, mapped_write = os.pipe()
    grants = Grants()
    ctrl_c = mmap.mmap(-1, 1)
    keeper = os.fork()
    if keeper == 0:
        global _ctrl_c
        _ctrl_c = ctrl_c
        grants.enter_sandbox()
        os.close(unshared_read)
        os.close(mapped_write)
        os._exit(_code_of(lambda: _keep(main, unshared_write, mapped_read, own_network)))
    os.close(unshared_write)
    os.close(mapped_read)
    grants.serve()
    trouble = os.read(unshared_read, 4096).decode()
    if trouble != "ok":
        os.waitpid(keeper, 0)
        grants.close()
        raise HostError(trouble or "the sandbox's first process ended at once", USER_NAMESPACE_HINT)
    _map_ids(keeper)
    try:
        if connect is not None:
            connect(keeper)
        os.write(mapped_write, b"x")
    except BaseException:
        os.kill(keeper, signal.SIGKILL)
        os.waitpid(keeper, 0)
        grants.close()
        raise
    for fd in (unshared_read, mapped_write):
        os.close(fd)
    code = _wait(keeper, forward_to=keeper, ctrl_c=ctrl_c)
    ctrl_c.close()
    grants.close()
    return code


def leave_network() -> None:
    """Exchange the caller's network for an empty one of the sandbox's own. Raises HostError."""
    _libc.unshare(_libc.CLONE_NEWNET, "a network namespace", USER_NAMESPACE_HINT)


def _keep(main: Callable[[], int], unshared: int, mapped: int, own_network: bool) -> int:
    """Run as the keeper: make the namespaces, start PID 1 in them, and hand its exit code on."""
    flags = _libc.CLONE_NEWUSER | _libc.CLONE_NEWNS | _libc.CLONE_NEWPID | _libc.CLONE_NEWIPC
    if own_network:
        flags |= _libc.CLONE_NEWNET
    try:
        _libc.unshare(flags, "user, mount, PID, IPC and network namespaces")
        _libc.die_with_parent(signal.SIGKILL)
        told, code = b"ok", None
    except HostError as error:
        told, code = error.message.encode(), ExitCode.CRASH
    try:
        os.write(unshared, told)
    except BrokenPipeError:  # the caller was killed before this process was to die with it
        code = ExitCode.CRASH
    if code is not None or os.read(mapped, 1) != b"x":
        return ExitCode.CRASH
    for number in forwarded():
        signal.signal(number, _interrupt)  # for the child, which is to end in order even if it is told to at once
    child, _ = _fork_first_process(main)
    return _wait(child, forward_to=child)


def fork_chamber(first: Callable[[], int]) -> int:
    """Fork a chamber of this sandbox, with mount, PID, IPC and network namespaces of its own: `first` is PID 1 of it,
    and what it mounts and starts is its own.

    Returns the id of the chamber's keeper, below whose root (/proc/PID/root) are the chamber's mounts. The chamber ends
    with its keeper, and the keeper with this process.
    """
    return fork_child(lambda: _keep_chamber(first))


def fork_child(main: Callable[[], int]) -> int:
    """Fork a process that does `main` and ends with this one. Returns its id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _libc.die_with_parent(signal.SIGKILL)
        os._exit(_code_of(main))
    return child


def _keep_chamber(first: Callable[[], int]) -> int:
    flags = _libc.CLONE_NEWNS | _libc.CLONE_NEWPID | _libc.CLONE_NEWIPC | _libc.CLONE_NEWNET
    _libc.unshare(flags, "mount, PID, IPC and network namespaces in the sandbox")
    # A copy of a pipe or socket that is kept here would hide from one side that the other is gone. They are listed
    # before the first process mounts a /proc in which this one is not.
    inherited = {int(each.name) for each in Path("/proc/self/fd").iterdir()} - {0, 1, 2}
    child, _ = _fork_first_process(first)
    for fd in inherited:
        with contextlib.suppress(OSError):  # the one of the list itself
            os.close(fd)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _fork_first_process(main: Callable[[], int]) -> tuple[int, int]:
    """PID 1 of the namespaces that were made, and a descriptor that has to stay open as long as this process lives."""
    alive_read, alive_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(alive_write)
        os._exit(_code_of(lambda: _first_process(main, alive_read)))
    os.close(alive_read)
    return child, alive_write


def _first_process(main: Callable[[], int], keeper_alive: int) -> int:
    _libc.die_with_parent(signal.SIGKILL)
    # If the keeper was gone before that call, the signal is never sent; its end of the pipe is closed then.
    watch = select.poll()
    watch.register(keeper_alive, 0)
    if watch.poll(0):
        return ExitCode.CRASH
    _libc.mount("none", "/", None, _libc.MS_REC | _libc.MS_PRIVATE)
    _libc.mount("proc", "/proc", "proc", _libc.MS_NOSUID | _libc.MS_NODEV)
    return main()


def _code_of(work: Callable[[], int]) -> int:
    """Run `work` in a forked process, and return its code: the stack below is a copy of the caller's, none of which may
    run."""
    code: int = ExitCode.CRASH
    try:
        code = work()
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def forwarded() -> list[signal.Signals]:
    """Signals that end a run in order; SIGHUP is left alone where nohup wants it to be."""
    hang_up = [] if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGTERM, signal.SIGINT, *hang_up]


_interrupted = False


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt where this process was asked to end and goes on all the same.

    Python drops an exception that is raised in a finalizer or in the callback of a weak reference. Loops in a sandbox
    call this before each step that takes long.
    """
    if _interrupted:
        raise KeyboardInterrupt


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt once: Ctrl-C comes from the terminal and again from the caller, and clearing up must not
    be interrupted."""
    global _interrupted
    _interrupted = True
    sys.unraisablehook = _without_interruptions
    for number in forwarded():
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _without_interruptions(dropped: sys.UnraisableHookArgs) -> None:
    """Show the user no traceback of an interruption that Python drops: it is raised again by `raise_if_interrupted`."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


_ctrl_c: mmap.mmap | None = None
"""The byte in which the caller counts, in the sandbox. There signals cannot be counted: the terminal sends one to every
process of the group, the caller and the keeper hand it on, and those that arrive together are one."""


def ctrl_c_count() -> int | None:
    """Number of times that the sandbox's caller was sent SIGINT (at most 255), or None outside a sandbox."""
    return None if _ctrl_c is None else _ctrl_c[0]


def _wait(child: int, forward_to: int, ctrl_c: mmap.mmap | None = None) -> int:
    """Wait for a child, handing SIGINT and SIGTERM on, and count SIGINT in a byte that it can read; return its exit
    code, or 128 + signal."""

    def forward(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and ctrl_c is not None:
            ctrl_c[0] = min(ctrl_c[0] + 1, 255)
        with contextlib.suppress(ProcessLookupError):
            os.kill(forward_to, number)

    before = {number: signal.signal(number, forward) for number in forwarded()}
    try:
        _, status = os.waitpid(child, 0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _map_ids(pid: int) -> None:
    """Map ids into the new user namespace: all of them for root (files of any owner stay usable), else the caller."""
    proc = Path("/proc", str(pid))
    if os.geteuid() == 0:
        for kind in ("uid", "gid"):
            extents = [line.split() for line in Path(f"/proc/self/{kind}_map").read_text().splitlines()]
            identity = "".join(f"{inside} {inside} {count}\n" for inside, _, count in extents)
            (proc / f"{kind}_map").write_text(identity)
    else:
        (proc / "setgroups").write_text("deny")
        (proc / "uid_map").write_text(f"0 {os.geteuid()} 1\n")
        (proc / "gid_map").write_text(f"0 {os.getegid()} 1\n")
