# SPDX-License-Identifier: Apache-2.0
"""The time of one transfer, shared out without a remainder: each nanosecond to the last byte belongs to one part.

`transfer.py` puts the account together, `account_tables.py` has the table `account` that is made of it;
docs/explanation/account.md defines the labels.

**The path.** `hop.py` is one direction of one link as a queue, `forward_path.py` puts links in a row, `links.py` makes
both ways, `stretches.py` says which link is the bottleneck when. `behind_proxy.py` follows a proxy's wait to its origin
and says why that had not sent, `second_network.py` and `after_a_change.py` follow a client to its new address.
`contents.py` says what packets carry, `critical_path.py` goes back along tight predecessors; `set_up.py` and
`response.py` use it, the latter for each time in which the bottleneck had nothing to serve. All read the direction of
the bodies, `Evidence.way`, and their sender.

**The reason.** `sender_cause.py` decides *why*, by evidence in this order: `objects.py` (was anything left that had
been asked for), `timers.py`, `blocked_log.py` (the sender says so), `amplification.py`, `credit.py`, `buffer.py` and
`window.py` (its packets and its log), `kernel.py` (samples of TCP_INFO), the captures (`header_captures.py`), and over
several packets the rate of its pacer. `processor.py` names programs that got no processor; `disturbance.py` adds up
what the laboratory itself added on that path.

**Several connections.** `dependency_chain.py` leads from each object to what its request had waited for: the browser's
initiators are edges of it; it accounts for one object on its connection, and `loads.py` finds them all. Of a video,
`player.py` has the times in which a viewer waits, `media_requests.py` what the player asked for and when it had come,
`playback.py` the connection that its requests went over, and the walk back.

**One end.** `levels.py` has the parts that each level of evidence tells, as data; `recorded.py` finds the one transfer
in a recording or refuses it; `one_recording.py` and `from_server.py` say what was seen of a client and of a server,
`arrivals.py` reads the path's rate from it, `one_end.py` makes the account.

**Both ends, without a link's log.** `crossings.py` finds the packets of one capture in the other, and `lost_between.py`
says what lost those that did not come.

The truth that all this is held against comes from `crates/twin`, which runs downloads in virtual time
(docs/explanation/golden-twin.md).
"""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import UNIONS, Why
from quiclab.model.metric_scope import MAIN, PLAYING, MetricScope, laid_out, rows_for, with_of
from quiclab.why.account.account_tables import account_table, account_totals, accounts_of
from quiclab.why.account.disturbance import Disturbance, disturbance_of
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason
from quiclab.why.account.reason_runs import spells
from quiclab.why.account.transfer import account_of_transfer

__all__ = [
    "MAIN",
    "PLAYING",
    "PROMPT_NS",
    "UNIONS",
    "Disturbance",
    "Edge",
    "MetricScope",
    "Reason",
    "What",
    "Why",
    "account_of_transfer",
    "account_table",
    "account_totals",
    "accounts_of",
    "disturbance_of",
    "laid_out",
    "rows_for",
    "spells",
    "with_of",
]
