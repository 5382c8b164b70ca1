# SPDX-License-Identifier: Apache-2.0
"""Real clients, servers and proxies, installed into a folder of the project's own; nothing on the machine is replaced.

`catalogue.py` says where programs come from: wheels, the machine, or Debian packages that are unpacked beside the
machine's own (`apt.py`). An older release, which a spec names by `version`, is built or installed into a folder of its
own from the lock in `programs/releases` (`build.py`, `environment.py`). `build.py` compiles the small programs around
QUIC libraries (`crates/stack-quiche`, `crates/stack-quinn`, `programs/quic-go`), each from its own lock file, and anew
where a crate that it uses by path has changed (`crates/stack-common`). An older release of such a library goes into the
same program: files beside its lock, and in folders such as `before-0.53` beside it, take the place of those that are
written for the current one.

Whose turn it is among responses of quic-go: `programs/quic-go/schedule.go`; why a server does not send:
`programs/quic-go/reasons.go`, and the module `reasons` of both crates.
"""
