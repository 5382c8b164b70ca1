// SPDX-License-Identifier: Apache-2.0
//! Peculiarities of a program or a draft, in logs made after the programs' sources.

use super::tests::{decode_bytes, lines, sequence};

/// A document of one trace with array events, as the drafts before 0.3 write it.
fn arrays(header: &str, events: &str) -> Vec<u8> {
    format!(r#"{{"qlog_version":"draft-00","traces":[{{{header},"events":[{events}]}}]}}"#)
        .into_bytes()
}

#[test]
fn picoquic_counts_microseconds_and_names_streams_by_id() {
    let header = r#""vantage_point":{"name":"backend-67","type":"server"},"title":"picoquic","description":"2EC67C4C",
        "event_fields":["relative_time","CATEGORY","EVENT_TYPE","DATA"],"configuration":{"time_units":"us"},
        "common_fields":{"protocol_type":"QUIC_HTTP3","reference_time":"1700000000000000"}"#;
    let events = r#"[5,"TRANSPORT","PACKET_RECEIVED",{"packet_type":"1RTT","header":{"packet_size":99,"packet_number":3},
        "frames":[{"frame_type":"stream","id":4,"offset":0,"length":7,"fin":true},
        {"frame_type":"ack","ack_delay":12,"acked_ranges":[[0,2]]}]}],
        [9,"recovery","metrics_updated",{"cwnd":12000,"pacing_rate":8000000,"smoothed_rtt":2500}],
        [11,"RECOVERY","PACKET_LOST",{"packet_type":"1RTT","packet_number":1,"trigger":"repeat","header":{"packet_type":"1RTT","packet_number":1,"packet_size":50}}]"#;
    let qlog = decode_bytes(&arrays(header, events)).unwrap();
    assert_eq!(
        lines(
            &qlog,
            "packets",
            &["connection", "time_ns", "direction", "length_bytes"]
        ),
        [
            "2ec67c4c|1700000000000005000|up|99",
            "2ec67c4c|1700000000000011000|down|50"
        ]
    );
    assert_eq!(
        lines(&qlog, "streams", &["stream_id", "up_bytes", "up_end"]),
        ["4|7|fin"]
    );
    assert_eq!(
        lines(&qlog, "acks", &["first", "last", "ack_delay_us"]),
        ["0|2|"]
    );
    let metrics = ["cwnd_bytes", "smoothed_rtt_ms", "pacing_rate_bit_per_s"];
    assert_eq!(
        lines(&qlog, "transport_metrics", &metrics),
        ["12000|2.5|8000000"]
    );
    assert_eq!(
        lines(&qlog, "losses", &["packet_number", "rule"]),
        ["1|repeat"]
    );
}

#[test]
fn mvfst_has_names_of_its_own() {
    let header = r#""vantage_point":{"type":"client"},"title":"mvfst qlog from single connection",
        "event_fields":["relative_time","CATEGORY","EVENT_TYPE","DATA"],"configuration":{"time_units":"us"},
        "common_fields":{"reference_time":"0","dcid":"aa","scid":""}"#;
    let events = r#"["7","transport","packet_sent",{"header":{"packet_size":80,"packet_number":1},"packet_type":"1RTT",
        "frames":[{"frame_type":"max_data","maximum_data":9},{"frame_type":"crypto_frame","offset":0,"len":5},
        {"frame_type":"rst_stream","stream_id":4,"error_code":3,"offset":0}]}],
        ["8","metric_update","congestion_metric_update",{"bytes_in_flight":1,"current_cwnd":2,"state":"Startup"}],
        ["9","x","bandwidth_est_update",{"bandwidth_bytes":1000,"bandwidth_interval":1000}]"#;
    let qlog = decode_bytes(&arrays(header, events)).unwrap();
    assert_eq!(
        lines(&qlog, "frames", &["frame_type", "length_bytes", "value"]),
        ["max_data||9", "crypto|5|", "reset_stream||3"]
    );
    let metrics = ["cwnd_bytes", "phase", "bandwidth_bit_per_s"];
    assert_eq!(
        lines(&qlog, "transport_metrics", &metrics),
        ["2|startup|", "||8000000"]
    );
    assert_eq!(
        lines(
            &qlog,
            "flow_control",
            &["event", "direction", "scope", "limit"]
        ),
        ["limit|down|connection|9"]
    );
}

#[test]
fn mvfst_of_2026_writes_milliseconds_and_acknowledges_with_receive_times() {
    let log = r#"{"file_schema":"urn:ietf:params:qlog:file:contained","title":"mvfst qlog","traces":[{
        "title":"mvfst qlog from single connection","vantage_point":{"type":"server"},
        "event_schemas":["urn:ietf:params:qlog:events:quic","urn:ietf:params:qlog:events:mvfst"],
        "common_fields":{"odcid":"0101","time_format":"relative_to_epoch","reference_time":{"clock_type":"monotonic","epoch":"unknown"}},
        "events":[
        {"time":0.031,"name":"quic:packet_received","data":{"header":{"packet_number":1,"packet_type":"1RTT"},"raw":{"length":10},
         "frames":[{"frame_type":"ack_receive_timestamps","ack_delay":0.111,"acked_ranges":[[300,400]]}]}},
        {"time":1,"name":"quic:recovery_metrics_updated","data":{"latest_rtt":2.5,"congestion_window":9}},
        {"time":1,"name":"mvfst:bandwidth_est_update","data":{"bandwidth_bytes":1000,"bandwidth_interval":2}},
        {"time":2,"name":"quic:congestion_state_updated","data":{"idle":true,"idle_event":"app idle"}},
        {"time":2,"name":"quic:congestion_state_updated","data":{"new":"Steady","trigger":"persistent congestion"}}]}]}"#;
    let qlog = decode_bytes(log.as_bytes()).unwrap();
    let acks = ["connection", "time_ns", "first", "last", "ack_delay_us"];
    assert_eq!(lines(&qlog, "acks", &acks), ["0101|31000|300|400|111"]);
    let metrics = ["latest_rtt_ms", "cwnd_bytes", "bandwidth_bit_per_s"];
    assert_eq!(
        lines(&qlog, "transport_metrics", &metrics),
        ["2.5|9|", "||4000000"]
    );
    assert_eq!(
        lines(&qlog, "cc_states", &["new_state", "trigger"]),
        ["steady|persistent congestion"]
    );
}

#[test]
fn openssl_counts_deltas_and_gives_the_length_of_whole_frames() {
    let header = r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"common_fields":{"time_format":"delta","protocol_type":["QUIC"]},"vantage_point":{"type":"client","name":"OpenSSL/3.5.7 (debian-amd64)"}}}"#;
    let first = r#"{"name":"transport:packet_sent","data":{"header":{"packet_type":"initial","packet_number":0,"dcid":"CDE28F17","scid":""},"datagram_id":0,"frames":[{"frame_type":"crypto","offset":0,"payload_length":300,"length":304}]},"time":2}"#;
    let second = r#"{"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1,"dcid":"01"},"frames":[{"frame_type":"stream","stream_id":0,"offset":0,"payload_length":20,"explicit_length":true,"length":24}]},"time":3}"#;
    let qlog = decode_bytes(&sequence(&[header, first, second])).unwrap();
    let frames = ["connection", "time_ns", "frame_type", "length_bytes"];
    assert_eq!(
        lines(&qlog, "frames", &frames),
        ["cde28f17|2000000|crypto|300", "cde28f17|5000000|stream|20"]
    );
    assert!(qlog
        .absent
        .iter()
        .any(|absent| absent.table == "transport_metrics"));
}

#[test]
fn neqo_and_quiche_log_bytes_per_second() {
    for writer in ["neqo-Client", "x"] {
        let header = format!(
            r#"{{"qlog_version":"0.3","title":"quiche-server","trace":{{"vantage_point":{{"name":"{writer}","type":"client"}},"common_fields":{{"reference_time":0}}}}}}"#
        );
        let metrics = r#"{"time":1,"name":"recovery:metrics_updated","data":{"pacing_rate":1000,"cf_delivery_rate":500,"ssthresh":18446744073709551615}}"#;
        let qlog = decode_bytes(&sequence(&[&header, metrics])).unwrap();
        let columns = [
            "pacing_rate_bit_per_s",
            "bandwidth_bit_per_s",
            "ssthresh_bytes",
        ];
        assert_eq!(lines(&qlog, "transport_metrics", &columns), ["8000|4000|"]);
    }
}

#[test]
fn quiche_leaves_out_the_exponent_of_delays_of_acknowledgments() {
    let header = r#"{"qlog_version":"0.3","title":"quiche-server","trace":{"vantage_point":{"type":"server"},"common_fields":{"reference_time":0}}}"#;
    let parameters = r#"{"time":1,"name":"transport:parameters_set","data":{"owner":"remote","ack_delay_exponent":5}}"#;
    let ack = |at: u32, packet_type: &str, more: &str| {
        format!(
            r#"{{"time":{at},"name":"transport:packet_received","data":{{"header":{{"packet_type":"{packet_type}","packet_number":{at}{more}}},"frames":[{{"frame_type":"ack","ack_delay":0.25,"acked_ranges":[[0,2]]}}]}}}}"#
        )
    };
    let lines_of = |title: &str, more: &str| {
        let header = header.replace("quiche-server", title);
        let acks = [(2, "1RTT"), (3, "1RTT"), (4, "initial")];
        let [first, second, third] = acks.map(|(at, kind)| ack(at, kind, more));
        let log = [header.as_str(), &first, parameters, &second, &third];
        lines(
            &decode_bytes(&sequence(&log)).unwrap(),
            "acks",
            &["ack_delay_us"],
        )
    };
    // An application that uses the library chooses the title: the lengths of connection ids are the sign.
    for title in ["quiche-server", "curl qlog", "my quinn", ""] {
        let delays = lines_of(title, r#","scil":4,"dcil":4"#);
        assert_eq!(delays, ["2000", "8000", "250"], "{title}");
        assert_eq!(lines_of(title, ""), ["250", "250", "250"], "{title}");
    }
}

#[test]
fn bbr_phases_are_states_and_metrics() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"},"common_fields":{"group_id":"ab"}}}"#;
    let state = r#"{"time":1,"name":"recovery:congestion_state_updated","data":{"old":"startup","new":"drain"}}"#;
    let qlog = decode_bytes(&sequence(&[header, state])).unwrap();
    assert_eq!(
        lines(&qlog, "cc_states", &["old_state", "new_state"]),
        ["startup|drain"]
    );
    assert_eq!(lines(&qlog, "transport_metrics", &["phase"]), ["drain"]);
}

#[test]
fn events_of_several_connections_stand_in_one_file() {
    let header =
        r#"{"qlog_version":"0.4","trace":{"vantage_point":{"type":"server"},"common_fields":{}}}"#;
    let event = |id: &str, offset: u64| {
        format!(
            r#"{{"data":{{"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":5}}],"header":{{"packet_type":"1RTT","packet_number":1}}}},"group_id":"{id}","name":"quic:packet_received","time":1}}"#
        )
    };
    let records = [
        header.to_owned(),
        event("aa", 0),
        event("BB", 0),
        event("aa", 5),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let qlog = decode_bytes(&sequence(&records)).unwrap();
    assert_eq!(
        lines(&qlog, "streams", &["connection", "up_bytes"]),
        ["aa|10", "bb|5"]
    );
}

#[test]
fn records_may_stand_on_lines() {
    let log = concat!(
        r#"{"qlog_version":"draft-02","qlog_format":"NDJSON","trace":{"vantage_point":{"type":"client"},"common_fields":{"group_id":"ab","time_format":"absolute"}}}"#,
        "\n",
        r#"{"time":1,"name":"security:key_updated","data":{"key_type":"client_1rtt_secret","generation":1,"trigger":"remote_update"}}"#,
        "\n",
        r#"{"time":2,"name":"recovery:loss_timer_updated","data":{"timer_type":"pto","event_type":"set","packet_number_space":"application_data","delta":30.5}}"#,
        "\n"
    );
    let qlog = decode_bytes(log.as_bytes()).unwrap();
    assert_eq!(
        lines(&qlog, "handshake", &["direction", "step", "detail"]),
        ["up|key_updated|client_1rtt_secret, phase 1, trigger remote_update"]
    );
    assert_eq!(
        lines(
            &qlog,
            "timers",
            &["timer", "event", "packet_type", "delta_ms"]
        ),
        ["pto|set|1RTT|30.5"]
    );
}

#[test]
fn a_loss_is_spurious_if_it_is_acknowledged_after_all() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"server"},"common_fields":{"group_id":"ab"}}}"#;
    let packet = |time: u32, event: &str, number: u32, frames: &str| {
        format!(
            r#"{{"time":{time},"name":"{event}","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"frames":[{frames}],"trigger":"time_threshold"}}}}"#
        )
    };
    let records = [
        header.to_owned(),
        packet(1, "transport:packet_sent", 7, ""),
        packet(2, "transport:packet_sent", 8, ""),
        packet(3, "recovery:packet_lost", 7, ""),
        packet(4, "recovery:packet_lost", 8, ""),
        packet(
            5,
            "transport:packet_received",
            1,
            r#"{"frame_type":"ack","acked_ranges":[[8,8]]}"#,
        ),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let qlog = decode_bytes(&sequence(&records)).unwrap();
    let columns = [
        "packet_number",
        "sent_ns",
        "rule",
        "acknowledged_ns",
        "spurious",
    ];
    assert_eq!(
        lines(&qlog, "losses", &columns),
        [
            "7|1000000|time_threshold||false",
            "8|2000000|time_threshold|5000000|true"
        ]
    );
}

#[test]
fn a_hello_retry_request_shows_in_the_second_flight() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"},"common_fields":{"group_id":"ab"}}}"#;
    let crypto = |event: &str, kind: &str, offset: u32| {
        format!(
            r#"{{"time":1,"name":"transport:packet_{event}","data":{{"header":{{"packet_type":"{kind}","packet_number":0}},"frames":[{{"frame_type":"crypto","offset":{offset},"length":9}}]}}}}"#
        )
    };
    let records = [
        header.to_owned(),
        crypto("sent", "initial", 0),
        crypto("received", "initial", 0),
        crypto("sent", "initial", 300),
        crypto("received", "initial", 90),
        crypto("received", "handshake", 0),
    ];
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let qlog = decode_bytes(&sequence(&records)).unwrap();
    assert_eq!(
        lines(&qlog, "handshake", &["step"]),
        [
            "client_hello",
            "hello_retry_request",
            "server_hello",
            "encrypted_extensions"
        ]
    );
}

#[test]
fn numbers_that_cannot_be_are_counted_and_missing() {
    let header = r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"},"common_fields":{"group_id":"ab"}}}"#;
    let packet = r#"{"time":2,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":-4},"raw":{"length":-1}}}"#;
    let metrics = r#"{"time":1,"name":"recovery:metrics_updated","data":{"congestion_window":0,"latest_rtt":-3.5,"min_rtt":2}}"#;
    let invalid =
        "{\"time\":3,\"name\":\"transport:packet_sent\",\"data\":{\"trigger\":\"\u{1}\"}}";
    let mut log = sequence(&[header, packet, metrics, invalid]);
    let at = log.iter().position(|byte| *byte == 1).unwrap();
    log[at] = 0xff;
    let qlog = decode_bytes(&log).unwrap();
    assert_eq!(
        lines(&qlog, "packets", &["packet_number", "length_bytes"]),
        ["|"]
    );
    assert_eq!(
        lines(
            &qlog,
            "transport_metrics",
            &["cwnd_bytes", "latest_rtt_ms", "min_rtt_ms"]
        ),
        ["||2"]
    );
    let count = |name| qlog.stats.get(name);
    assert_eq!(
        (
            count("impossible_value"),
            count("time_backwards"),
            count("invalid_utf8")
        ),
        (4, 1, 1)
    );
}

#[test]
fn cut_anywhere_nothing_panics() {
    let header =
        r#""vantage_point":{"type":"client"},"event_fields":["time","category","event","data"]"#;
    let events = r#"[1,"transport","packet_sent",{"header":{"packet_number":"0x1f"},"frames":[{"frame_type":"ack","acked_ranges":[["1","3"],[5]]}]}],[]"#;
    let document = arrays(header, events);
    for cut in 0..document.len() {
        drop(decode_bytes(&document[..cut]));
        let mut damaged = document.clone();
        damaged[cut] = b'[';
        drop(decode_bytes(&damaged));
        damaged[cut] = b'"';
        drop(decode_bytes(&damaged));
    }
    let qlog = decode_bytes(&document).unwrap();
    assert_eq!(
        lines(&qlog, "acks", &["packet_number", "first", "last"]),
        ["31|1|3", "31|5|5"]
    );
}
