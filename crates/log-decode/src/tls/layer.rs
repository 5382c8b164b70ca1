// SPDX-License-Identifier: Apache-2.0
//! Contents of TCP, told by their first bytes: TLS, or HTTP in clear text.

use super::application::Application;
use super::keylog::KeyLog;
use super::session::Session;
use super::RoundTrips;
use crate::tables::Tables;
use crate::{Direction, End, Severity};

/// Contents of one TCP connection.
#[derive(Debug)]
pub(crate) struct Layer {
    connection: String,
    vantage: Option<End>,
    keys: KeyLog,
    tunnels: u8,
    state: State,
    /// Directions in which bytes are missing.
    broken_up: bool,
    broken_down: bool,
}

#[derive(Debug)]
enum State {
    Undecided,
    Tls(Box<Session>),
    ClearText(Box<Application>),
    /// Nothing more is wanted.
    Done,
}

impl Layer {
    pub(crate) fn new(connection: &str, vantage: Option<End>, keys: KeyLog) -> Self {
        Self::within(connection, vantage, keys, 0)
    }

    /// Contents of the innermost of so many tunnels.
    pub(super) fn within(
        connection: &str,
        vantage: Option<End>,
        keys: KeyLog,
        tunnels: u8,
    ) -> Self {
        Self {
            tunnels,
            connection: connection.to_owned(),
            vantage,
            keys,
            state: State::Undecided,
            broken_up: false,
            broken_down: false,
        }
    }

    /// True if no further bytes are wanted.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// True if it is known, or has been, what is carried.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.state, State::Undecided)
    }

    /// The next bytes one way.
    pub(crate) fn data(
        &mut self,
        direction: Direction,
        time_ns: i64,
        bytes: &[u8],
        trips: &mut RoundTrips,
        tables: &mut Tables,
    ) {
        if *self.broken(direction) {
            return;
        }
        if let State::Undecided = self.state {
            self.decide(bytes, tables);
        }
        match &mut self.state {
            State::Tls(session) => {
                session.data(direction, time_ns, bytes, trips, tables);
                if session.is_done() {
                    self.finish(tables);
                }
            }
            State::ClearText(application) => {
                application.data(direction, time_ns, bytes, tables);
                if application.is_other() {
                    self.state = State::Done;
                }
            }
            State::Undecided | State::Done => {}
        }
    }

    fn decide(&mut self, first: &[u8], tables: &mut Tables) {
        self.state = match first {
            [22] | [22, 3] | [22, 3, 0..=4, ..] => State::Tls(Box::new(Session::new(
                self.connection.clone(),
                self.vantage,
                self.keys.clone(),
                self.tunnels,
            ))),
            [20..=23, 3, 0..=4, ..] => {
                without_start(tables);
                State::Done
            }
            _ => State::ClearText(Box::new(Application::new(
                self.connection.clone(),
                self.vantage,
                self.keys.clone(),
                "http",
                self.tunnels,
            ))),
        };
    }

    /// One end sends no more.
    pub(crate) fn end(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        match &mut self.state {
            State::Tls(session) => session.end(direction, time_ns, tables),
            State::ClearText(application) => application.end(direction, time_ns, tables),
            State::Undecided | State::Done => {}
        }
    }

    fn broken(&mut self, direction: Direction) -> &mut bool {
        match direction {
            Direction::Up => &mut self.broken_up,
            Direction::Down => &mut self.broken_down,
        }
    }

    /// Bytes are missing one way: nothing after them can be read.
    pub(crate) fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        if self.is_done() || std::mem::replace(self.broken(direction), true) {
            return;
        }
        tables.count(
            "gap_in_capture",
            Severity::DataLoss,
            "ways of TCP connections that are not read to their end, because packets were cut or missed: capture whole packets",
        );
        match &mut self.state {
            State::Undecided => self.state = State::Done,
            State::Tls(session) => session.gap(direction, bytes_missing, tables),
            State::ClearText(application) => application.gap(direction, bytes_missing, tables),
            State::Done => {}
        }
        if self.broken_up && self.broken_down {
            self.finish(tables);
        }
    }

    /// Memory that waits for more bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        match &self.state {
            State::Tls(session) => session.held_bytes(),
            State::ClearText(application) => application.held_bytes(),
            State::Undecided | State::Done => 0,
        }
    }

    /// The connection, or the capture, ends.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Tls(mut session) => session.finish(tables),
            State::ClearText(mut application) => application.finish(tables),
            State::Undecided | State::Done => {}
        }
    }
}

pub(super) fn without_start(tables: &mut Tables) {
    tables.count(
        "tls_without_start",
        Severity::DataLoss,
        "TLS connections that began before the capture, which stay closed: start it before the connection",
    );
}
