// SPDX-License-Identifier: Apache-2.0
//! Flow control (RFC 9113 section 5.2): what each end may send, and when that held it back.

use crate::http::both::Both;
use crate::http::exchange::Context;
use crate::tables::{FlowControl, Tables};
use crate::Direction;

/// Both kinds of window start with it (RFC 9113 section 6.9.2).
const INITIAL_WINDOW: i64 = 65_535;

/// One window: of a stream, or of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    increments: i64,
    sent: i64,
    is_blocked: bool,
}

impl Window {
    pub(super) fn send(&mut self, bytes: usize) {
        self.sent = self
            .sent
            .saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub(super) fn grow(&mut self, increment: u64) {
        self.increments = self
            .increments
            .saturating_add(i64::try_from(increment).unwrap_or(i64::MAX));
    }

    /// Offset up to which may be sent.
    fn limit(self, initial: i64) -> i64 {
        initial.saturating_add(self.increments)
    }

    fn left(self, initial: i64) -> i64 {
        self.limit(initial).saturating_sub(self.sent)
    }
}

/// The window that a row tells of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The way of the data.
    pub direction: Direction,
    pub stream_id: Option<u32>,
}

/// The connection's windows, and where those of its streams start; by the way of the data.
#[derive(Debug)]
pub(super) struct Windows {
    pub connection: Both<Window>,
    initial: Both<i64>,
    /// Bytes of this direction are missing.
    lost: Both<bool>,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            connection: Both::default(),
            initial: Both {
                up: INITIAL_WINDOW,
                down: INITIAL_WINDOW,
            },
            lost: Both::default(),
        }
    }
}

impl Windows {
    /// Forgets what goes in `direction`: neither what was sent is known any more, nor what was
    /// allowed to the other end.
    pub(super) fn lose(&mut self, direction: Direction) {
        *self.lost.of_mut(direction) = true;
    }

    /// Do something about the connection's window.
    pub(super) fn of_connection(
        &mut self,
        direction: Direction,
        act: impl FnOnce(&Self, Owner, &mut Window),
    ) {
        let owner = Owner {
            direction,
            stream_id: None,
        };
        let mut window = *self.connection.of(direction);
        act(self, owner, &mut window);
        *self.connection.of_mut(direction) = window;
    }

    /// `SETTINGS_INITIAL_WINDOW_SIZE` of the end that receives in `direction`; it moves also the windows of open
    /// streams.
    pub(super) fn set_initial(&mut self, direction: Direction, window: u32) {
        *self.initial.of_mut(direction) = window.into();
    }

    fn initial(&self, owner: Owner) -> i64 {
        match owner.stream_id {
            Some(_) => *self.initial.of(owner.direction),
            None => INITIAL_WINDOW,
        }
    }

    /// The receiver allows more.
    pub(super) fn limit(
        &self,
        owner: Owner,
        window: &mut Window,
        time_ns: i64,
        context: &Context,
        tables: &mut Tables,
    ) {
        self.push(owner, "limit", *window, time_ns, context, tables);
        self.unblock(owner, window, time_ns, context, tables);
    }

    /// The sender has used the window up and is not done.
    pub(super) fn block(
        &self,
        owner: Owner,
        window: &mut Window,
        time_ns: i64,
        context: &Context,
        tables: &mut Tables,
    ) {
        let initial = self.initial(owner);
        let is_known = !self.lost.of(owner.direction.reverse());
        if is_known && !window.is_blocked && window.left(initial) <= 0 {
            window.is_blocked = true;
            self.push(owner, "blocked", *window, time_ns, context, tables);
        }
    }

    /// The sender may go on, if it had been blocked and there is room again.
    pub(super) fn unblock(
        &self,
        owner: Owner,
        window: &mut Window,
        time_ns: i64,
        context: &Context,
        tables: &mut Tables,
    ) {
        let initial = self.initial(owner);
        if window.is_blocked && window.left(initial) > 0 {
            self.release(owner, window, time_ns, context, tables);
        }
    }

    /// The sender is held back no more, room or not.
    pub(super) fn release(
        &self,
        owner: Owner,
        window: &mut Window,
        time_ns: i64,
        context: &Context,
        tables: &mut Tables,
    ) {
        if std::mem::take(&mut window.is_blocked) {
            self.push(owner, "unblocked", *window, time_ns, context, tables);
        }
    }

    fn push(
        &self,
        owner: Owner,
        event: &'static str,
        window: Window,
        time_ns: i64,
        context: &Context,
        tables: &mut Tables,
    ) {
        let initial = self.initial(owner);
        let is_known = !self.lost.of(owner.direction);
        tables.flow_control.push(FlowControl {
            vantage: context.vantage(),
            connection: Some(&context.connection),
            time_ns,
            transport: context.transport,
            event,
            direction: Some(owner.direction.as_str()),
            scope: if owner.stream_id.is_some() {
                "stream"
            } else {
                "connection"
            },
            stream_id: owner.stream_id.map(u64::from),
            limit: u64::try_from(window.limit(initial)).ok(),
            window_bytes: is_known.then(|| u64::try_from(window.left(initial)).unwrap_or(0)),
        });
    }
}
