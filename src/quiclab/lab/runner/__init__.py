# SPDX-License-Identifier: Apache-2.0
"""One trial, from its namespaces to its raw files.

`trial.py` is a trial's life, whose steps are in `transfer.py`; `topology.py` and `places.py` make its network, also
of several links in a row, between which namespaces forward IP. `competition.py` has the flows beside it,
`address_change.py` the client's new address, `first_visit.py` and `probe.py` the special cases, `films.py` the
videos; `onlooker.py` lets somebody look on, `observation.py` watches what the programs cost, TCP_INFO of both legs,
and sockets that drop. `jails.py` shows each program its own files, and brings what all left to `raw/` when they have
ended. `document.py` is what trial.json says.
"""
