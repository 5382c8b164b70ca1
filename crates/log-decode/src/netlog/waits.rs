// SPDX-License-Identifier: Apache-2.0
//! The jobs and sockets that tell what a request waited for.

use super::constants::Phase;
use super::Event;
use std::collections::BTreeMap;

/// Jobs or sockets that are remembered at a time.
const MAX_SOURCES: usize = 1 << 14;

/// Wait of a request: for a job that makes a connection, or for its socket.
#[derive(Debug, Default)]
pub(super) struct Wait {
    pub name: Span,
    pub connect: Span,
    pub secure: Span,
    waits_for: Vec<i64>,
    local: Option<String>,
    remote: Option<String>,
    /// The session and stream by which its request went.
    pub stream: Option<(i64, u64)>,
    pub priority: Option<String>,
}

/// Begin and end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span(pub Option<i64>, pub Option<i64>);

impl Span {
    fn add(&mut self, phase: Phase, time_ns: i64) {
        match phase {
            Phase::Begin => self.0.get_or_insert(time_ns),
            Phase::End => self.1.insert(time_ns),
            Phase::None => return,
        };
    }

    /// Whichever of both began first.
    fn or(self, other: Self) -> Self {
        Self(
            self.0.into_iter().chain(other.0).min(),
            self.1.into_iter().chain(other.1).max(),
        )
    }
}

impl Wait {
    /// `client address:port-server address:port` of its socket.
    pub(super) fn connection(&self) -> Option<String> {
        Some(format!(
            "{}-{}",
            self.local.as_ref()?,
            self.remote.as_ref()?
        ))
    }
}

/// All that a request may have waited for, by their sources.
#[derive(Debug, Default)]
pub(super) struct Waits {
    by_id: BTreeMap<i64, Wait>,
}

impl Waits {
    pub(super) fn get(&self, source: i64) -> Option<&Wait> {
        self.by_id.get(&source)
    }

    /// Take one event; false if it tells nothing of this.
    pub(super) fn event(&mut self, event: &Event<'_>) -> bool {
        let Event {
            time_ns,
            params,
            source,
            phase,
            name,
        } = event;
        let (time_ns, source, phase) = (*time_ns, *source, *phase);
        match *name {
            "HOST_RESOLVER_MANAGER_REQUEST" | "HOST_RESOLVER_IMPL_REQUEST" => {
                self.wait(source).name.add(phase, time_ns);
            }
            "TCP_CONNECT" => {
                let wait = self.wait(source);
                wait.connect.add(phase, time_ns);
                let address = |name| params.text(name).map(std::borrow::Cow::into_owned);
                wait.local = address("local_address")
                    .or_else(|| address("source_address"))
                    .or(wait.local.take());
                wait.remote = address("remote_address").or(wait.remote.take());
            }
            "SSL_CONNECT" => self.wait(source).secure.add(phase, time_ns),
            "QUIC_SESSION_POOL_JOB_CONNECT" | "QUIC_STREAM_FACTORY_JOB_CONNECT" => {
                self.wait(source).connect.add(phase, time_ns);
            }
            "SOCKET_POOL_BOUND_TO_CONNECT_JOB"
            | "SOCKET_POOL_BOUND_TO_SOCKET"
            | "CONNECT_JOB_SET_SOCKET"
            | "BOUND_TO_QUIC_SESSION_POOL_JOB"
            | "QUIC_SESSION_POOL_JOB_RESULT" => {
                if let Some(other) = params.dependency() {
                    let wait = self.wait(source);
                    if wait.waits_for.len() < 8 && !wait.waits_for.contains(&other) {
                        wait.waits_for.push(other);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// The request that stands behind `source` (its job, or itself) went out on a stream.
    pub(super) fn sent_on(
        &mut self,
        source: i64,
        session: i64,
        stream: u64,
        priority: Option<String>,
    ) {
        let wait = self.wait(source);
        wait.stream = Some((session, stream));
        wait.priority = priority;
    }

    fn wait(&mut self, source: i64) -> &mut Wait {
        if self.by_id.len() >= MAX_SOURCES && !self.by_id.contains_key(&source) {
            self.by_id.pop_first();
        }
        self.by_id.entry(source).or_default()
    }

    /// Everything that `job` waited for, and what came of it.
    pub(super) fn all_of(&self, job: i64) -> Wait {
        let mut all = Wait::default();
        let mut next = vec![job];
        let mut seen = Vec::new();
        while let Some(id) = next.pop() {
            let Some(wait) = self
                .by_id
                .get(&id)
                .filter(|_| seen.len() < 64 && !seen.contains(&id))
            else {
                continue;
            };
            seen.push(id);
            all.name = all.name.or(wait.name);
            all.connect = all.connect.or(wait.connect);
            all.secure = all.secure.or(wait.secure);
            all.stream = all.stream.or(wait.stream);
            all.local = all.local.or_else(|| wait.local.clone());
            all.remote = all.remote.or_else(|| wait.remote.clone());
            all.priority = all.priority.or_else(|| wait.priority.clone());
            next.extend(&wait.waits_for);
        }
        all
    }
}
