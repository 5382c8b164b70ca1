# SPDX-License-Identifier: Apache-2.0
"""The few system calls that Python 3.11 does not offer. Every failure says what was attempted."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

from quiclab.model.errors import HostError

CLONE_NEWNS = 0x0002_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_REMOUNT = 0x20
MS_NOSYMFOLLOW = 0x100
"""Flag of mount(2), which has no effect before Linux 5.10."""
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000

_PR_SET_PDEATHSIG = 1
_CAPABILITY_VERSION_3 = 0x2008_0522

_PIDFD_GETFD = 438
"""Number of the system call, the same on every architecture, like that of all calls since Linux 5.1."""
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
_SCHED_DEADLINE = 6
_SCHED_FLAG_RESET_ON_FORK = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _call(attempt: str, result: int, hint: str = "") -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise HostError(f"{attempt}: {os.strerror(number)}", hint)


def unshare(flags: int, what: str, hint: str = "") -> None:
    """Move the calling thread into new namespaces."""
    _call(f"cannot make {what}", _libc.unshare(flags), hint)


def setns(fd: int, kind: int) -> None:
    """Move the calling thread into the namespace behind `fd`."""
    _call("cannot enter a namespace", _libc.setns(fd, kind))


def mount(source: str, target: str, fstype: str | None, flags: int = 0, data: str = "") -> None:
    """Mount a file system, or change a mount (mount(2))."""
    _call(
        f"cannot mount {fstype or source} on {target}",
        _libc.mount(
            source.encode(), target.encode(), fstype.encode() if fstype else None, ctypes.c_ulong(flags), data.encode()
        ),
    )


def unmount(target: str) -> None:
    """Unmount a file system (umount(2))."""
    _call(f"cannot unmount {target}", _libc.umount2(target.encode(), 0))


def die_with_parent(signal_number: int) -> None:
    """Ask the kernel for a signal when the parent ends (PR_SET_PDEATHSIG)."""
    _call("cannot ask for a signal at the parent's end", _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0))


def drop_capabilities() -> None:
    """Leave the calling thread without any capability (capset(2)): processes with fewer of them may then look at it."""
    header, nothing = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _call("cannot drop capabilities", _libc.capset(header, nothing))


def set_deadline(pid: int, *, runtime_ns: int, period_ns: int) -> None:
    """Put a thread, and none that it starts, under SCHED_DEADLINE (sched_setattr(2)). Raises OSError."""
    _set_attributes(pid, _SCHED_DEADLINE, _SCHED_FLAG_RESET_ON_FORK, 0, (runtime_ns, period_ns, period_ns))


def set_slice(thread: int, slice_ns: int, *, inherited: bool = True) -> None:
    """Set the slice of an ordinary thread, and of those that it starts if `inherited`; 0 is the system's own. A thread
    that wakes up need not wait for one with a longer slice (Linux 6.12). Raises OSError."""
    nice, flags = os.getpriority(os.PRIO_PROCESS, thread), 0 if inherited else _SCHED_FLAG_RESET_ON_FORK
    _set_attributes(thread, os.SCHED_OTHER, flags, nice, (slice_ns, 0, 0))


def _set_attributes(thread: int, policy: int, flags: int, nice: int, times_ns: tuple[int, int, int]) -> None:
    call = _SCHED_SETATTR.get(platform.machine())
    if call is None:
        raise OSError(f"the number of sched_setattr is not known on {platform.machine()}")
    attributes = struct.Struct("IIQiIQQQ")
    # Size, policy, flags, nice, priority, runtime, deadline, period.
    packed = attributes.pack(attributes.size, policy, flags, nice, 0, *times_ns)
    if _libc.syscall(call, thread, packed, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def pidfd_getfd(pidfd: int, fd: int) -> int:
    """A copy of another process's file descriptor (pidfd_getfd(2)). Raises OSError."""
    copy = int(_libc.syscall(_PIDFD_GETFD, pidfd, fd, 0))
    if copy < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return copy
