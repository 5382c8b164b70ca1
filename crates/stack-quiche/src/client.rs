// SPDX-License-Identifier: Apache-2.0
//! Downloads one URL, or several on one connection, over HTTP/3 and writes down when.

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::config::{self, registered_group};
use crate::ending::reason_of_end;
use crate::held_acks::HeldAcks;
use crate::job::{ClientJob, CongestionControl, Session};
use crate::library;
use crate::logs::Logs;
use crate::migration::Paths;
use crate::notice::Notice;
use crate::outbox::{earliest, Outbox};
use crate::requests::Requests;
use crate::server::{new_connection_id, reset_token};
use crate::sys::{self, Signals};
use crate::versions;
use quiche::h3;
use stack_common::clock::monotonic_ns;
use stack_common::failure::Failure;
use stack_common::report::{self, EarlyData, Moved, Request};
use stack_common::{http3, program};

/// Longest time for which a first visit waits for a ticket after the last byte.
const TICKET_PATIENCE: Duration = Duration::from_secs(2);
/// `ssl_early_data_accepted` of BoringSSL.
const EARLY_DATA_ACCEPTED: u32 = 2;

/// Load everything, wait for a line on stdin, download, report.
pub fn run(job: &ClientJob) -> Result<(), Failure> {
    let transfer = &job.transfer;
    let (qlogs, keylog) = (transfer.qlog_dir.as_deref(), transfer.keylog.as_deref());
    let logs = Logs::new(qlogs, keylog, "client")?;
    let prepared =
        config::client(job, logs.wants_keys()).and_then(|quic| Ok((quic, load_session(job)?)));
    program::wait_for_go()?;
    sys::wake_precisely();
    let mut told: Vec<Request> = transfer.urls().map(Request::begin).collect();
    let outcome = prepared
        .and_then(|(quic, session)| Download::start(job, quic, session.as_deref(), &logs))
        .and_then(|mut download| {
            let outcome = download.finish(job, &mut told);
            download.close(&mut told);
            outcome
        });
    let failure = outcome.as_ref().err().map(ToString::to_string);
    for request in told.iter_mut().filter(|request| !request.spared) {
        request.error = request.error.take().or_else(|| failure.clone());
    }
    report::write(&transfer.output, &versions(), &told)?;
    outcome
}

fn load_session(job: &ClientJob) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = job
        .transfer
        .session_file
        .as_ref()
        .filter(|_| job.session != Session::Fresh && !job.transfer.priming)
    else {
        return Ok(None);
    };
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::cannot(&format!("read the session file {}", path.display()), error)
    })?;
    Ok(Some(bytes))
}

struct Download {
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    paths: Paths,
    outbox: Outbox,
    requests: Requests,
    wants_early_data: bool,
    offered_early_data: bool,
    migrates: bool,
    /// Notice of a change of address that somebody else makes.
    notice: Option<Notice>,
    moved: Moved,
    held_acks: Option<HeldAcks>,
    /// A client that is stopped still closes its logs and tells what it knows.
    signals: Signals,
}

impl Download {
    fn start(
        job: &ClientJob,
        mut config: quiche::Config,
        session: Option<&[u8]>,
        logs: &Logs,
    ) -> Result<Self, Failure> {
        let paths_of_urls = job.paths().map_err(Failure::Usage)?;
        // A first visit only fetches a ticket.
        let wanted = job.transfer.migration.filter(|_| !job.transfer.priming);
        let change = job.address_change.clone().filter(|_| !job.transfer.priming);
        let at = job.transfer.migrate_at_bytes.unwrap_or(0);
        let migration = wanted.map(|kind| (kind, change.is_none().then_some(at)));
        let paths = Paths::open(job.transfer.server(), migration)
            .map_err(|error| Failure::cannot(&format!("reach {}", job.transfer.server()), error))?;
        let id = new_connection_id()
            .ok_or_else(|| Failure::Run("the system gives no random numbers".to_owned()))?;
        let mut quic = quiche::connect(
            Some(&job.transfer.host),
            &id,
            paths.local(),
            job.transfer.server(),
            &mut config,
        )
        .map_err(|error| Failure::cannot("set up a connection", format!("{error:?}")))?;
        logs.attach(&mut quic)?;
        if let Some(session) = session {
            quic.set_session(session).map_err(|_| {
                Failure::Run("the session file holds no session of quiche".to_owned())
            })?;
        }
        Ok(Self {
            quic,
            http: None,
            paths,
            outbox: Outbox::new(false),
            requests: Requests::new(&paths_of_urls, job.transfer.concurrency.unwrap_or(1)),
            wants_early_data: session.is_some() && job.session == Session::EarlyData,
            offered_early_data: false,
            migrates: migration.is_some(),
            notice: change.map(Notice::new),
            moved: Moved::default(),
            held_acks: job.held_acks(),
            signals: Signals::catch()?,
        })
    }

    /// Run until the answer is complete, and describe it whatever happens.
    fn finish(&mut self, job: &ClientJob, told: &mut [Request]) -> Result<(), Failure> {
        let outcome = self.transfer();
        let several = told.len() > 1;
        for (request, (start_ns, answer)) in told.iter_mut().zip(self.requests.answers()) {
            request.start_ns = start_ns.unwrap_or(request.start_ns);
            request.last_byte_ns = answer.last_byte_ns.unwrap_or_else(monotonic_ns);
            request.first_byte_ns = answer.first_byte_ns;
            request.status = answer.status;
            request.error = answer.error.clone().filter(|_| several);
            request.spared = several && answer.last_byte_ns.is_some() && answer.error.is_none();
        }
        let chosen = job
            .knobs
            .congestion_control
            .unwrap_or(CongestionControl::Cubic);
        for request in told {
            request.congestion_control = Some(chosen.name());
            self.describe_handshake(request);
        }
        outcome?;
        if job.transfer.priming {
            self.keep_session(job)
        } else {
            Ok(())
        }
    }

    fn describe_handshake(&mut self, request: &mut Request) {
        if !self.quic.is_established() {
            return;
        }
        request.alpn = Some(String::from_utf8_lossy(self.quic.application_proto()).into_owned());
        request.http_version = "HTTP/3";
        request.resumed = Some(self.quic.is_resumed());
        request.early_data = Some(
            match (
                self.offered_early_data,
                library::early_data_reason(&mut self.quic),
            ) {
                (false, _) => EarlyData::NotOffered,
                (true, EARLY_DATA_ACCEPTED) => EarlyData::Accepted,
                (true, _) => EarlyData::Rejected,
            },
        );
        let tls: &mut boring::ssl::SslRef = self.quic.as_mut();
        request.tls_group = tls.curve_name().map(registered_group);
        request.retried = Some(library::was_retried(tls));
    }

    fn transfer(&mut self) -> Result<(), Failure> {
        // Makes the Initial packet, after which the library knows whether 0-RTT can be sent.
        self.outbox.fill(&mut self.quic);
        while !self.requests.are_answered() {
            self.step(None)?;
        }
        match self.requests.error() {
            Some(reason) => Err(Failure::Run(reason.to_owned())),
            None => Ok(()),
        }
    }

    /// One round: answer what has come, send what is due, and wait for more.
    fn step(&mut self, deadline: Option<Instant>) -> Result<(), Failure> {
        self.offered_early_data |= self.quic.is_in_early_data();
        self.request()?;
        let before = self.requests.received();
        if let Some(http) = &mut self.http {
            self.requests.read(&mut self.quic, http);
            self.requests.send(&mut self.quic, http)?;
        }
        self.watch_the_address(before)?;
        self.paths.advance(&mut self.quic, self.requests.received());
        self.renew_ids();
        if !self.holds_back() {
            self.outbox.fill(&mut self.quic);
        }
        let Self { outbox, paths, .. } = self;
        outbox.send(|batch| paths.transmit(batch));
        if self.requests.are_answered() && deadline.is_none() {
            return Ok(());
        }
        if self.quic.is_closed() || self.quic.is_draining() {
            return Err(Failure::Run(reason_of_end(&mut self.quic)));
        }
        let wake = earliest(self.quic.timeout_instant(), self.outbox.wake_at());
        let answer_by = self.held_acks.as_ref().and_then(HeldAcks::deadline);
        let wake = earliest(wake, answer_by);
        let mut files = self.paths.files(self.outbox.is_blocked());
        files.push((self.signals.as_raw_fd(), false));
        let received = self.requests.received();
        if let Some(notice) = &self.notice {
            files.extend(notice.file().map(|file| (file, false)));
        }
        let silence = self.notice.as_ref().and_then(|n| n.deadline(received));
        sys::wait(&files, earliest(earliest(wake, deadline), silence))?;
        if self.signals.arrived() {
            return Err(Failure::Run(
                "stopped before the answer was complete".to_owned(),
            ));
        }
        let before = self.paths.received();
        if self.paths.receive(&mut self.quic).is_err() && !self.quic.is_established() {
            return Err(Failure::Run(
                "nothing listens on the server's UDP port (ICMP port unreachable)".to_owned(),
            ));
        }
        if let Some(notice) = self
            .notice
            .as_mut()
            .filter(|_| self.paths.received() > before)
        {
            notice.packet();
        }
        if self
            .quic
            .timeout_instant()
            .is_some_and(|timeout| timeout <= Instant::now())
        {
            self.quic.on_timeout();
            self.outbox.fill(&mut self.quic);
        }
        Ok(())
    }

    /// Say how far the body is, learn of a new address, and note when bytes came around the change.
    fn watch_the_address(&mut self, before: u64) -> Result<(), Failure> {
        let Some(notice) = &mut self.notice else {
            return Ok(());
        };
        let (received, now) = (self.requests.received(), monotonic_ns());
        if received > before {
            if !self.paths.is_heard() {
                self.moved.last_byte_before_ns = Some(now);
            } else if self.moved.first_byte_after_ns.is_none() {
                self.moved.first_byte_after_ns = Some(now);
            }
        }
        notice
            .say(received)
            .map_err(|error| Failure::cannot("say how far the body is", error))?;
        if notice.comes(self.paths.take_reset(), received) {
            self.moved.noticed_ns = Some(now);
            self.moved.body_bytes_before = received;
            self.paths.tell();
        }
        match self.paths.stranded() {
            Some(reason) => Err(Failure::Run(format!("the migration failed: {reason}"))),
            None => Ok(()),
        }
    }

    /// True if the library is not to make packets now, because all that they would bear is acknowledgements.
    fn holds_back(&mut self) -> bool {
        let Some(held) = &mut self.held_acks else {
            return false;
        };
        let (received, now) = (self.quic.stats().recv, Instant::now());
        held.count(received, now);
        let holds = self.requests.have_begun() && !held.due(received, now);
        if !holds {
            held.answer(received);
        }
        holds
    }

    /// Send the first request, or the first ones, as soon as the connection takes them.
    fn request(&mut self) -> Result<(), Failure> {
        let early = self.wants_early_data && self.quic.is_in_early_data();
        if self.http.is_some() || !(self.quic.is_established() || early) {
            return Ok(());
        }
        let failed = |error: h3::Error| Failure::cannot("send the request", error);
        let config = h3::Config::new().map_err(failed)?;
        let mut http = h3::Connection::with_transport(&mut self.quic, &config).map_err(failed)?;
        self.requests.send(&mut self.quic, &mut http)?;
        self.http = Some(http);
        Ok(())
    }

    /// Give the server spare connection IDs, without which this end cannot migrate.
    fn renew_ids(&mut self) {
        while self.quic.retired_scid_next().is_some() {}
        while self.quic.is_established() && self.quic.scids_left() > 0 {
            let Some(id) = new_connection_id() else {
                return;
            };
            if self.quic.new_scid(&id, reset_token(), false).is_err() {
                return;
            }
        }
    }

    /// Wait for the ticket of a first visit and keep it.
    fn keep_session(&mut self, job: &ClientJob) -> Result<(), Failure> {
        let deadline = Instant::now() + TICKET_PATIENCE;
        while self.quic.session().is_none() && Instant::now() < deadline {
            self.step(Some(deadline))?;
        }
        let Some(session) = self.quic.session() else {
            return Err(Failure::Run(format!(
                "no session ticket came within {} s",
                TICKET_PATIENCE.as_secs()
            )));
        };
        match &job.transfer.session_file {
            Some(path) => std::fs::write(path, session).map_err(|error| {
                Failure::cannot(&format!("write the session file {}", path.display()), error)
            }),
            None => Ok(()),
        }
    }

    /// Say goodbye without waiting for anything, then hash what came.
    fn close(mut self, told: &mut [Request]) {
        let _ = self.quic.close(true, http3::NO_ERROR.into(), b"");
        self.outbox.fill(&mut self.quic);
        let Self { outbox, paths, .. } = &mut self;
        outbox.send_all(|batch| paths.transmit(batch));
        let close_ns = monotonic_ns();
        let moved = self.migrates.then(|| self.paths.outcome());
        for (request, (_, answer)) in told.iter_mut().zip(self.requests.answers()) {
            request.close_ns = close_ns;
            request.describe(answer.body.len(), &boring::sha::sha256(&answer.body));
            if let Some((migrated, failure)) = &moved {
                request.migrated = Some(*migrated);
                request.migration_failure.clone_from(failure);
            }
            request.address_change = self.notice.is_some().then(|| self.moved.clone());
        }
    }
}
