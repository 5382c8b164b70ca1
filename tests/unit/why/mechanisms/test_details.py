# SPDX-License-Identifier: Apache-2.0
"""What single mechanisms look at beyond the labels of the account, and the numbers that they tell."""

from __future__ import annotations

import pytest
from trial_records import record
from unit.why.mechanisms.cases import AFTER_LOSS, CASES, SET_UP
from unit.why.mechanisms.scenes import Case, busy, edge, facts, full, named, ns

from quiclab.evidence.metrics.evidence import Evidence
from quiclab.why.account import What, Why
from quiclab.why.mechanisms import Trial


def test_a_packet_with_flipped_bits_is_lost_on_the_path() -> None:
    """The link delivered it, and its receiver could not use it."""
    case = Case([SET_UP, busy(), *AFTER_LOSS]).packet("down", 5, 1, corrupted=True)
    assert named(case)["loss_on_the_path"] == 20


def test_an_event_without_a_packet_is_that_of_the_loss_that_was_noticed_then() -> None:
    """The path lost packet 5, the full queue packet 15: three packets behind each show it a round trip later."""
    waits = [*full(Why.WINDOW_AFTER_LOSS, event_ns=ns(28)), *full(Why.WINDOW_AFTER_LOSS, event_ns=ns(128))]
    case = Case([SET_UP, busy(), *waits]).packet("up", 1, 1)
    for index in range(30):
        ms = index if index < 10 else 100 + index - 10
        case.packet("down", index, ms, {5: "loss_entry", 15: "queue_full"}.get(index, ""))
    found = named(case)
    assert (found["loss_on_the_path"], found["overshoot"]) == (20, 20)


def test_edges_are_told_by_any_of_several_reasons() -> None:
    """As `is_in` tells them; without a reason none is."""
    trial = Case([SET_UP, busy(), *AFTER_LOSS]).trial()
    for whys in ((), (Why.LINK_BUSY,), (Why.LINK_BUSY, *(Why(each) for each in trial.account["why"].unique()))):
        wanted = trial.account["why"].is_in([str(each) for each in whys])
        assert trial.why(*whys).to_list() == wanted.to_list()


def test_what_the_queue_dropped_of_others_is_none_of_this_flows_losses() -> None:
    """Packets 5 and 6 were dropped, the second of them of another flow."""
    case = Case([SET_UP, busy(), *AFTER_LOSS]).packet("down", 5, 1, "loss_entry").captured("server", "down", 5, 1)
    case.packet("down", 6, 2, "loss_entry", flow=2)
    alone = case.trial()
    beside = Trial(
        Evidence(alone.evidence.tables, record({"protocol": "h3", "competition": {"flows": []}})), alone.account
    )
    assert (alone.drops("down").height, beside.drops("down")["index"].to_list()) == (2, [5])


def test_a_loss_at_a_later_link_is_one_of_the_path() -> None:
    """Packet 5 of the server's link is packet 2 of the client's, which drops it; both have other numbers there."""
    case = Case([SET_UP, busy(), *AFTER_LOSS])
    links = [{"leg": "client", "packet_log": name} for name in ("link.qplog", "link-2.qplog")]
    case.record = {"links": links}
    for index in (4, 5, 6):
        case.packet("down", index, index, source="raw/link-2.qplog")
        lost = "loss_entry" if index == 5 else ""
        case.packet("down", index - 3, index + 12, lost, source="raw/link.qplog")
    assert named(case)["loss_on_the_path"] == 20


@pytest.mark.parametrize(("marked", "found"), [(True, "active_queue_management"), (False, "")])
def test_a_mark_reduces_a_window_as_a_drop_does(marked: bool, found: str) -> None:
    """The log shows a smaller window at 30 ms and no loss; a packet was marked shortly before, or none was."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW, event_ns=ns(30))]).packet("down", 5, 5, ecn_ce=marked)
    assert named(case)[found] == 20


@pytest.mark.parametrize(("spurious", "found"), [(True, "reordering_taken_for_loss"), (False, "")])
def test_a_loss_that_was_acknowledged_after_all_was_none(spurious: bool, found: str) -> None:
    """The event names no packet, and no link dropped any: the sender's log tells."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW_AFTER_LOSS, event_ns=ns(20))])
    case.add("losses", vantage="server", time_ns=ns(20), spurious=spurious, estimate=False)
    assert named(case)[found] == 20


@pytest.mark.parametrize(("queue_ms", "says"), [(30, "The queue had grown"), (0, "read or acknowledged late")])
def test_slow_start_that_ends_early_is_held_against_the_queue(queue_ms: float, says: str) -> None:
    """Samples rose from 20 to 50 ms before the exit at 100 ms: the queue had grown by that, or stayed empty."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW_AFTER_EXIT, event_ns=ns(100))])
    case.packet("down", 1, 20).packet("up", 1, 20).packet("down", 2, 90, queue_ms=queue_ms)
    for ms, sample in ((30, 20.0), (95, 50.0)):
        row = {"vantage": "server", "transport": "quic", "estimate": False, "cwnd_bytes": 24_000}
        case.add("transport_metrics", time_ns=ns(ms), latest_rtt_ms=sample, **row)
    told = facts(case, "slow_start_left_without_loss")
    assert says in str(told["against"])
    assert (told["queue_before_exit"], told["rise_of_samples"], told["window_at_exit"]) == (queue_ms, 30, 20)


def test_a_window_that_grows_is_at_no_bound() -> None:
    """As the trial of the largest window, but each round trip has a larger one."""
    case = Case([busy(), *(10 * full(Why.SLOW_START)), busy()]).packet("down", 5, 1).packet("up", 5, 1)
    case.window(*((20 * trip, 10 + 5 * trip) for trip in range(10)))
    assert named(case)["slow_start"] == 200


@pytest.mark.parametrize(("trips", "found"), [(3, "largest_window"), (1, "slow_start")])
def test_a_full_window_that_does_not_grow_within_two_round_trips_is_at_its_bound(trips: int, found: str) -> None:
    """Slow start would have made it four times as large; after one round trip it may be about to."""
    case = Case([busy(), *(trips * full(Why.SLOW_START)), busy()]).packet("down", 5, 1).packet("up", 5, 1)
    assert named(case.window((0, 10), (20, 10)))[found] == 20 * trips


@pytest.mark.parametrize(("grown", "found"), [(38, {"largest_window": 20, "loss_on_the_path": 20}), (25, {})])
def test_a_window_that_grows_to_one_value_again_is_at_its_bound(grown: int, found: dict[str, float]) -> None:
    """It was reduced, and reached just 40 packets by small steps again; in one step it took the reduction back."""
    case = Case([SET_UP, busy(), *AFTER_LOSS, *AFTER_LOSS]).packet("down", 5, 1, "loss_entry")
    case.window((0, 39), (1, 40), (9, 20), (15, 25), (31, grown), (31.5, 40), (52, 20))
    both = named(case)
    assert {name: both.get(name) for name in ("largest_window", "loss_on_the_path")} == (
        found or {"largest_window": None, "loss_on_the_path": 40}
    )


@pytest.mark.parametrize(("gain", "found"), [(739, "slow_start"), (320, "bbr_model_limited"), (0, "slow_start")])
def test_a_window_of_bbr_is_slow_start_while_its_start_up_lasts(gain: int, found: str) -> None:
    """Linux tells its gain, or zeros. Nothing reduces BBR's window: the account calls it slow start to the end."""
    case = Case([SET_UP, busy(), *full(Why.SLOW_START)], "h2").packet("down", 5, 1)
    told = {"bbr_bw_bytes_per_s": 500_000, "bbr_pacing_gain_256ths": gain}
    case.add("tcp_info", vantage="server", connection="c", time_ns=ns(5), snd_cwnd=20, **told)
    assert named(case)[found] == 20


@pytest.mark.parametrize(("event_ms", "found"), [(-60, "bbr_model_limited"), (5, "loss_on_the_path")])
def test_a_sender_with_a_model_takes_its_window_back_after_a_loss(event_ms: float, found: str) -> None:
    """A round trip of 20 ms, the wait ends at 31 ms: BBR keeps to what was in flight for a while after a loss alone."""
    waits = full(Why.WINDOW_AFTER_LOSS, event_ns=ns(event_ms), event_packet=5)
    case = Case([SET_UP, busy(), *waits], "h2").packet("down", 5, 1, "loss_entry").packet("up", 1, 1)
    case.packet("down", 6, 1)
    told = {"bbr_bw_bytes_per_s": 500_000, "bbr_pacing_gain_256ths": 256}
    case.add("tcp_info", vantage="server", connection="c", time_ns=ns(5), snd_cwnd=20, **told)
    assert named(case)[found] == 20


@pytest.mark.parametrize(("bit_per_s", "against"), [(4e6, False), (9.8e6, True)])
def test_an_estimate_that_is_right_speaks_against_the_model(bit_per_s: float, against: bool) -> None:
    """The link serves 1,250 bytes in a ms, 10 Mbit/s; the log of a QUIC sender names its state and its estimate."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW)]).packet("down", 5, 1)
    row = {"vantage": "server", "transport": "quic", "estimate": False, "cwnd_bytes": 24_000}
    case.add("transport_metrics", time_ns=ns(5), phase="probe_bw", bandwidth_bit_per_s=bit_per_s, **row)
    told = facts(case, "bbr_model_limited")
    assert (told["estimate"], told["rate_of_the_link"]) == (pytest.approx(bit_per_s / 1e6), pytest.approx(10))
    assert ("against" in told) is against


def test_a_wait_for_a_processor_goes_on_while_the_link_is_busy() -> None:
    """10 ms on the way, the bottleneck serves something, and then the client sends at last."""
    held = edge(Why.PROCESSOR, 10, What.ACK_HELD)
    case = Case([edge(Why.PROCESSOR, 10), busy(), held]).waited("client", 20)
    assert named(case)["client_without_processor"] == 20
    assert facts(case, "client_without_processor")["longest_wait_for_a_processor"] == 20


def test_a_server_that_sends_while_the_client_waits_lacks_no_processor() -> None:
    """It reacts in a moment to what came before; the client's wait goes on behind the bottleneck."""
    before = [edge(Why.PROCESSOR, 10, What.PROPAGATION_UP), edge(Why.PROCESSOR, 0.1, What.SERVER)]
    case = Case([*before, busy(), edge(Why.PROCESSOR, 10, What.ACK_HELD)]).waited("client", 40).waited("server", 0.6)
    found = named(case)
    assert found["client_without_processor"] == pytest.approx(20.1)
    assert "server_without_processor" not in found


def test_a_reduction_that_is_taken_back_is_told() -> None:
    """Twice from 20 packets to 14; once back to 20 in one step, once by growth."""
    case = Case([SET_UP, busy(), *AFTER_LOSS]).packet("down", 5, 1, "loss_entry")
    case.window((0, 20), (9, 14), (30, 20), (40, 14), (50, 15), (60, 16), (70, 17), (80, 18), (90, 19), (100, 20))
    assert facts(case, "loss_on_the_path")["reductions_taken_back"] == 1


@pytest.mark.parametrize(("silent_ms", "found"), [(12, "loss_timer"), (205, "retransmission_timeout")])
def test_racks_timer_is_no_retransmission_timeout(silent_ms: float, found: str) -> None:
    """Neither has a row of timers: the silence before the repeat tells them apart."""
    case = Case([SET_UP, edge(Why.LOSS_TIMER, 8, What.TIMER, prompted_after_ns=int(silent_ms * 1e6))], "h2")
    assert named(case)[found] == 8


def test_repeats_of_what_a_full_queue_dropped_take_no_time_twice() -> None:
    """The bottleneck had not served the first copy: it serves the bytes once, as all others."""
    case = Case([busy(3), busy(5, What.RETRANSMISSION)]).packet("down", 5, 1, "queue_full")
    assert named(case) == {"bytes_on_the_wire": 8}


def test_bytes_on_the_wire_are_this_objects_and_its_companions() -> None:
    """10 ms of 1,250 bytes each, a tenth of them headers of the same packets, beside 8 ms of another flow."""
    told = facts(Case([busy(9), busy(1, What.HEADERS), busy(8, What.OTHER_FLOW)]), "bytes_on_the_wire")
    assert (told["bytes_served"], told["packets_served"], told["header_share"]) == (12_500, 9, pytest.approx(10))


def test_acknowledgments_of_a_burst_are_not_held_back() -> None:
    """3 ms until a second packet comes are no delay of the receiver's own; nor is its time in a set-up."""
    short, hello = edge(Why.SLOW_START, 3, What.ACK_HELD), edge(Why.QUIC_HANDSHAKE, 25, What.ACK_HELD)
    assert named(Case([hello, short])) == {"handshake_round_trips": 25, "slow_start": 3}


def test_what_takes_longer_than_any_policy_is_no_delayed_acknowledgment() -> None:
    """60 ms over QUIC, whose receiver may hold one for 25 ms: without its program's log the cause is not known."""
    late = edge(Why.AWAITING_ACKS, 60, What.ACK_HELD)
    assert named(Case([busy(), late])) == {"bytes_on_the_wire": 1, "": 60}
    allowed = Case([busy(), late])
    allowed.add("parameters", name="parameters_set.client.max_ack_delay", value="100", vantage="client", time_ns=ns(0))
    assert named(allowed)["delayed_acknowledgment"] == 60
    assert named(Case([busy(), edge(Why.SLOW_START, 60, What.ACK_HELD)], "h2"))["delayed_acknowledgment"] == 60


def test_the_first_flight_is_told_in_bytes_and_packets() -> None:
    """Ten packets in the first round trip of 20 ms, twenty in the second; the last thirty were ended by the data."""
    case = Case([SET_UP, busy(), *full(Why.SLOW_START), busy(), *full(Why.SLOW_START), busy()]).packet("up", 1, 1)
    for index in range(60):
        ms = 10.5 if index < 10 else 31.5 if index < 30 else 52.5
        case.packet("down", index, ms).captured("server", "down", index, ms)
    told = facts(case, "slow_start")
    assert (told["first_flight"], told["packets_in_first_flight"]) == (12_500, 10)
    assert (told["second_flight"], told["packets_in_second_flight"], told["growth_per_round_trip"]) == (25_000, 20, 2)


@pytest.mark.parametrize(("at_once", "every_ms"), [(1, 2), (10, 16)], ids=["a fine timer", "a coarse timer"])
def test_a_pacer_with_a_coarse_timer_shows_large_bursts_far_apart(at_once: int, every_ms: float) -> None:
    """Three waits, each until the next burst."""
    case = Case([SET_UP])
    for burst in range(4):
        case.edges += [busy(), edge(Why.PACING, every_ms - 1, What.TIMER)]
        for number in range(at_once):
            ms = SET_UP["ms"] + every_ms * burst + number / 100
            case.packet("down", at_once * burst + number, ms)
            case.captured("server", "down", at_once * burst + number, ms)
    told = facts(case, "pacing")
    assert (told["packets_at_once"], told["from_burst_to_burst"]) == (at_once, every_ms)


def test_what_was_lost_of_a_set_up_is_named() -> None:
    """A SYN of the client's, which comes again after a second, and the first of the server's two TLS packets."""
    case = Case([edge(Why.SET_UP_LOSS, 1000, What.TIMER), SET_UP, busy()], "h2")
    case.packet("up", 0, 0, "loss_entry").captured("client", "up", 0, 0, tcp_flags=2)
    case.packet("down", 0, 900, "loss_entry").captured("server", "down", 0, 900, tcp_flags=24)
    told = facts(case, "handshake_packet_lost")
    assert (told["lost_up"], told["lost_down"], told["lost_syn"], told["lost_tls"]) == (1, 1, 1, 1)
    assert "against" not in told


@pytest.mark.parametrize(("packet_type", "reduced"), [("handshake", 20), ("1RTT", 0)])
def test_a_window_that_the_loss_of_a_set_up_reduced_is_its_doing(packet_type: str, reduced: float) -> None:
    """Packet 5 is the one that was lost: of the handshake, or of the answer that a server may send before its end."""
    case = Case([edge(Why.SET_UP_LOSS, 100, What.TIMER), SET_UP, busy(), *AFTER_LOSS, busy()])
    case.packet("down", 5, 1, "loss_entry").captured("server", "down", 5, 1)
    case.logged("server", "down", 5, "sent", packet_type=packet_type, source="raw/server.pcapng", ip_packet=5)
    found = named(case)
    assert (found["handshake_packet_lost"], found.get("loss_on_the_path", 0)) == (100 + reduced, 20 - reduced)
    assert facts(case, "handshake_packet_lost").get("behind_a_reduction", 0) == reduced


def test_a_set_up_that_repeats_what_was_only_late_says_so() -> None:
    """No link dropped anything."""
    told = facts(Case([edge(Why.SET_UP_LOSS, 1000, What.TIMER), SET_UP]), "handshake_packet_lost")
    assert "was only late" in str(told["against"])


def test_the_facts_of_a_full_send_buffer_bound_the_rate() -> None:
    """64 KiB in a round trip of 20 ms."""
    case = CASES["send_buffer_limited"][0]().packet("up", 1, 1).packet("down", 1, 1)
    case.add("unacknowledged", time_ns=ns(20), unacknowledged_bytes=65_536, connection_unacknowledged_bytes=65_536)
    told = facts(case, "send_buffer_limited")
    assert told["most_unacknowledged"] == 65_536
    assert told["bound_of_the_rate"] == pytest.approx(65_536 * 8 / 0.02 / 1e6)


def test_credit_tells_how_far_the_sender_was_ahead() -> None:
    """32 KiB at the first wait."""
    case = CASES["stream_flow_control_limited"][0]()
    case.add("unacknowledged", time_ns=ns(5), connection_unacknowledged_bytes=32_768)
    assert facts(case, "stream_flow_control_limited")["first_unacknowledged"] == 32_768


def _reduced(before: int, after: int, *, delivered: int, threshold: int = 0x7FFFFFFF, state: str = "recovery") -> Case:
    """A loss of the path at 20 ms, with samples of a CUBIC's window at 12 and at 22 ms, between which so much came."""
    case = Case([SET_UP, busy(), *AFTER_LOSS, busy()], "h2").packet("down", 5, 1, "loss_entry").packet("up", 1, 1)
    usual = {"vantage": "server", "connection": "c", "data_segs_out": 1, "congestion_control": "cubic"}
    first = {"snd_cwnd": before, "snd_ssthresh": threshold, "ca_state": "open", "delivered": 100}
    then = {"snd_cwnd": 1 if state == "loss" else after, "snd_ssthresh": after, "ca_state": state}
    case.add("tcp_info", time_ns=ns(12), **usual, **first)
    return case.add("tcp_info", time_ns=ns(22), delivered=100 + delivered, **usual, **then)


@pytest.mark.parametrize(
    ("case", "told"),
    [
        # Eight are left of 10 to 12: of 70 %, as CUBIC has it, the last sample alone would make 80.
        (_reduced(10, 8, delivered=2), {"_at_least": 66, "_at_most": 80}),
        (_reduced(40, 28, delivered=4, threshold=30), {"_at_least": 66, "_at_most": 70}),
        (_reduced(40, 28, delivered=0), {"": pytest.approx(70)}),
        (_reduced(10, 8, delivered=10), {}),
        (_reduced(40, 28, delivered=0, state="loss"), {"": 2.5}),
    ],
    ids=["slow start", "after it", "no time between", "known to no digit", "timeout"],
)
def test_what_a_reduction_of_tcp_leaves_is_told_as_well_as_known(case: Case, told: dict[str, float]) -> None:
    """The window may have grown since the last of them, by what came meanwhile; what is not known is not told."""
    assert _left(case) == told


def _left(case: Case) -> dict[str, object]:
    """What is told of the share of its window that a reduction leaves, by the ends of the facts' names."""
    name = "window_left_by_a_reduction"
    found = facts(case, "loss_on_the_path")
    return {key.removeprefix(name): value for key, value in found.items() if key.startswith(name)}


def _logged(*rows: tuple[float, int, int | None, int | None]) -> Case:
    """A loss of the path at 20 ms, with a QUIC log's instants, windows, bytes in flight and thresholds, in packets."""
    case = Case([SET_UP, busy(), *AFTER_LOSS, busy()]).packet("down", 5, 1, "loss_entry")
    for ms, window, in_flight, threshold in rows:
        told = {"vantage": "server", "transport": "quic", "estimate": False, "cwnd_bytes": 1200 * window}
        told["bytes_in_flight"] = in_flight if in_flight is None else 1200 * in_flight
        told["ssthresh_bytes"] = threshold if threshold is None else 1200 * threshold
        case.add("transport_metrics", time_ns=ns(ms), **told)
    return case


@pytest.mark.parametrize(
    ("case", "told"),
    [
        # Two more were acknowledged by what told of the loss: 21 are left of 30, and 75 % of the last that was logged.
        (_logged((0, 20, 20, None), (16, 28, 28, None), (20, 21, 25, 21)), {"_at_least": 67, "_at_most": 75}),
        (_logged((0, 20, 20, None), (16, 30, 28, None), (20, 21, 28, 21)), {"": pytest.approx(70)}),
        (_logged((0, 40, 40, None), (2, 28, 38, 28), (19, 30, 30, 28), (20, 21, 27, 21)), {"": pytest.approx(70)}),
        (_logged((0, 20, None, None), (20, 14, None, 14)), {}),
        (_logged((0, 20, 20, 10), (20, 14, None, None)), {"": pytest.approx(70)}),
    ],
    ids=["slow start", "nothing came", "after it", "known to no digit", "after it, without what is in flight"],
)
def test_what_a_reduction_of_quic_leaves_is_told_as_well_as_known(case: Case, told: dict[str, float]) -> None:
    """The log has the window just before the step down, or less where one acknowledgment did both."""
    assert _left(case) == told


def test_what_was_sent_between_two_rows_of_a_log_hides_nothing() -> None:
    """As much was acknowledged as was sent, and the window may have grown by it."""
    case = _logged((0, 20, 20, None), (16, 28, 28, None), (20, 21, 28, 21)).captured("server", "down", 9, 18)
    assert _left(case) == {"_at_least": 72, "_at_most": 75}


def test_a_reduction_of_which_the_share_is_exact_goes_before_others() -> None:
    """The second leaves 70 %, of the first 67 to 75 % is known."""
    second = full(Why.WINDOW_AFTER_LOSS, event_ns=ns(120), event_packet=6)
    case = Case([SET_UP, busy(), *AFTER_LOSS, busy(), *second, busy()])
    case.packet("down", 5, 1, "loss_entry").packet("down", 6, 2, "loss_entry")
    log = _logged((16, 28, 28, None), (20, 21, 25, 21), (110, 30, 30, 21), (120, 21, 28, 21))
    case.rows["transport_metrics"] = log.rows["transport_metrics"]
    assert _left(case) == {"": pytest.approx(70)}


def test_a_packet_that_no_counter_shows_was_not_read() -> None:
    """Two are in the capture at the receiver and not among those that its program read: no fact says that none was."""
    make, _ = CASES["dropped_at_the_receiver"]
    found = facts(make(), "dropped_at_the_receiver")
    assert found["came_and_were_not_read"] == 2
    assert not {"dropped_by_the_socket", "refused_by_the_program"} & set(found)


def test_what_the_laboratory_adds_in_the_middle_of_a_wait_makes_no_two_of_it() -> None:
    """Packet 5 is dropped early in the wait; behind the late packet, a round trip later, nothing is any more."""
    late = edge(Why.LABORATORY, 1, What.LATE)
    waits = [edge(Why.PROBE_TIMER, 100, What.TIMER), late, edge(Why.PROBE_TIMER, 300, What.TIMER)]
    case = Case([SET_UP, busy(), *waits]).packet("down", 5, 2, "loss_entry").packet("up", 1, 3)
    trial = case.trial()
    assert trial.waits(trial.why(Why.PROBE_TIMER)) == 1
    assert "needless_probe" not in named(case)
    apart = Case([SET_UP, busy(), waits[0], busy(), waits[2]]).trial()
    assert apart.waits(apart.why(Why.PROBE_TIMER)) == 2
