// SPDX-License-Identifier: Apache-2.0
//! The job files of quinn's programs.

use std::num::NonZeroUsize;

use serde::Deserialize;
use stack_common::job::{Job, Migration, Service, Transfer, Unknown};

use crate::ends::LACKS;
use crate::knobs::Knobs;

/// The library, in refusals.
const LIBRARY: &str = "quinn";

/// One download over one new connection.
#[derive(Debug, Deserialize)]
pub struct ClientJob {
    #[serde(flatten)]
    pub transfer: Transfer,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "to be read is its use: any other session is refused"
    )]
    session: Session,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: Unknown,
}

/// Serves files until SIGTERM.
#[derive(Debug, Deserialize)]
pub struct ServerJob {
    #[serde(flatten)]
    pub service: Service,
    pub trickle: Option<Trickle>,
    /// A fault on purpose: the congestion controller believes this round trip (`false_sample.rs`).
    pub false_rtt_sample_ns: Option<u64>,
    /// A fault on purpose: each loss reduces the congestion window (`faulty_reductions.rs`).
    #[serde(default)]
    pub every_loss_reduces: bool,
    /// A fault on purpose: each reduction of the congestion window is applied twice (`faulty_reductions.rs`).
    #[serde(default)]
    pub reduces_twice: bool,
    /// A fault on purpose: timers expire at whole multiples of this alone (`coarse_timers.rs`).
    pub timer_step_ns: Option<u64>,
    #[serde(flatten)]
    pub knobs: Knobs,
    #[serde(flatten)]
    unknown: Unknown,
}

/// A fault on purpose: bodies are handed over piece by piece, with pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Trickle {
    pub piece_bytes: NonZeroUsize,
    pub pause_ns: u64,
}

/// State of the TLS session: always fresh, because rustls keeps client sessions in memory only and a new process has
/// none to resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    #[default]
    Fresh,
}

impl Job for ClientJob {
    fn check(&self) -> Result<(), String> {
        let transfer = &self.transfer;
        transfer.check(LIBRARY, &self.unknown)?;
        if transfer.priming {
            return Err("quinn cannot keep a session: rustls has no file format for one".into());
        }
        if transfer.migration.is_some() != transfer.migrate_at_bytes.is_some() {
            return Err("migration and migrate_at_bytes belong together".into());
        }
        if transfer.migration == Some(Migration::Active) && LACKS.contains(&"active") {
            return Err("this release of quinn keeps its connection ID at a new address".into());
        }
        self.knobs.check()
    }
}

impl Job for ServerJob {
    fn check(&self) -> Result<(), String> {
        self.service.check(LIBRARY, &self.unknown)?;
        self.knobs.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::CongestionControl;
    use stack_common::job::{parse, Group, Scheduler};

    fn client(extra: &str) -> Result<ClientJob, String> {
        let text = format!(
            r#"{{"url": "https://a.test/x", "address": "::1", "port": 443, "host": "a.test", "protocol": "h3",
                "ca": "ca.pem", "output": "client.json", "session_file": null, "pacing": null {extra}}}"#
        );
        parse(&text)
    }

    #[test]
    fn what_is_left_out_is_the_librarys_own() {
        let job = client("").expect("a plain job");
        assert!(
            job.transfer.verify
                && job.transfer.migration.is_none()
                && job.knobs.congestion_control.is_none()
        );
    }

    #[test]
    fn what_quinn_cannot_do_is_named() {
        for (extra, word) in [
            (r#", "congestion_control": "vegas""#, "vegas"),
            (r#", "session": "resumed""#, "resumed"),
            (r#", "priming": true"#, "session"),
            (r#", "migration": "active""#, "migrate_at_bytes"),
            (r#", "groups": ["x448"]"#, "x448"),
            (r#", "tls_version": "1.2""#, "1.2"),
            (r#", "hystart": true"#, "HyStart"),
            (r#", "packet_threshold": -1"#, "-1"),
            (r#", "ack_frequency": 10"#, "peer"),
        ] {
            let error = client(extra).expect_err(extra);
            assert!(error.contains(word), "{extra}: {error}");
        }
    }

    /// The golden files of all readers and writers of this format (`tests/unit/lab/endpoints/test_job.py`).
    #[test]
    fn golden_jobs_are_read() {
        let job: ClientJob =
            parse(include_str!("../../../tests/golden/job-client.json")).expect("a job");
        let asked = &job.transfer;
        assert_eq!(asked.url, "https://server.test/1MB");
        assert_eq!(asked.other_urls.as_ref().map(Vec::len), Some(2));
        assert_eq!((asked.concurrency, asked.verify), (Some(2), true));
        assert_eq!(job.knobs.congestion_control, Some(CongestionControl::Reno));
        assert_eq!(job.knobs.connection_window_bytes, Some(1_500_000));
        assert_eq!(job.knobs.stream_window_bytes, Some(1_000_000));
        assert_eq!(
            job.knobs.groups.as_deref(),
            Some([Group::X25519, Group::Secp256r1].as_slice())
        );
        assert_eq!(job.knobs.max_payload_bytes, Some(1350));
        let job: ServerJob =
            parse(include_str!("../../../tests/golden/job-server.json")).expect("a job");
        assert_eq!(job.service.listen.to_string(), "10.77.0.2:443");
        assert_eq!(job.knobs.scheduler, Some(Scheduler::RoundRobin));
        assert_eq!(job.knobs.max_streams.map(u32::from), Some(100));
    }
}
