# SPDX-License-Identifier: Apache-2.0
"""Resources of the operating system, one a file.

**The sandbox.** `sandbox.py` puts a whole run into unnamed user, mount, PID, IPC and network namespaces and becomes PID
1 in them. Nothing needs to be undone: when any of its three processes dies, the kernel ends all. The exceptions are
files: half-copied folders, and as root the CPU quotas of a spec with `cpu` (`cpu_limit.py`), which the next `quiclab
run` or `quiclab clean` removes. With `--jobs` each worker has a chamber of it (`sandbox.fork_chamber`).

Endpoints run one user namespace deeper (`confinement.py`), as uid 1000 without capabilities and without a way to gain
any. To the kernel they are the caller; of root they are an unprivileged user, in a mount namespace in which root's
private folders hold only what `lab/runner/confined.py` names. Each role has a jail (`jail.py`): of the trial's folder
it sees its own files alone, and each of its programs is PID 1 of a namespace. SECURITY.md says what that protects.

Outside stays only the caller: it waits, hands signals on, and, if it is root, grants the link real-time scheduling and
processors that stay awake (`real_time.py`). `quiclab exec --internet` starts a user-mode stack before it leaves the
caller's network (`way_out.py`). `quiclab probe` alone changes the caller's network, by `host_nat.py` in the caller, and
records the change in the study before it makes it; `forwarded.py` is the way there inside the sandbox.

**The rest.** Namespaces and the link's process (`namespace.py`, `link.py`, `link_process.py`; one process for all links
of trials that run side by side is `link_process.SharedLinkProcess`), turns and slices between trials (`turn.py`,
`patience.py`), sockets (`listening.py`), costs, pressure and stops (`process_cost.py`, `pressure.py`, `run_delay.py`),
other quiclab processes that measure on this machine (`neighbours.py`), a test of the machine (`timekeeping.py`,
`processor_use.py`), pinned TCP settings (`tcp_settings.py`, `tcp_pacing.py`).
"""
