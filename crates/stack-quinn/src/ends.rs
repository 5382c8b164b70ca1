// SPDX-License-Identifier: Apache-2.0
//! Both ends as this release of quinn and h3 makes them. Older releases have this file, and those that only it uses, in
//! programs/releases/quinn instead.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::server::RequestResolver;
use http::Request;
use quinn::{
    AsyncUdpSocket, ClientConfig, Connecting, ConnectionId, Endpoint, EndpointConfig, Incoming,
    ServerConfig, TokioRuntime,
};
use stack_common::failure::Failure;
use stack_common::job::Migration;

use crate::job::{ClientJob, ServerJob};
use crate::rebinding::ReplaceableSocket;
use crate::server::H3Stream;
use crate::transport::{transport, Faults};
use crate::unmarked::for_quinn;
use crate::{coarse_timers, false_sample, qlog, socket, tls};

pub use h3::error::StreamError;
pub use quinn::Incoming as Arrived;

/// Settings of a job that this release cannot have.
pub const LACKS: &[&str] = &[];

/// One request, of which nothing has been read yet.
pub type Asked = RequestResolver<h3_quinn::Connection, Bytes>;

/// The request, as soon as its header is here.
pub async fn resolve(asked: Asked) -> Option<(Request<()>, H3Stream)> {
    asked.resolve_request().await.ok()
}

/// The client's end, whose address can change.
pub struct ClientEnd {
    pub endpoint: Endpoint,
    /// Only where the address changes behind quinn's back.
    replaceable: Option<Arc<ReplaceableSocket>>,
    ecn: Option<bool>,
}

impl ClientEnd {
    /// An end with a port of the kernel's choice.
    pub fn open(job: &ClientJob) -> Result<Self, Failure> {
        let ecn = job.knobs.ecn;
        let socket =
            for_quinn(socket::bind_towards(job.transfer.address)?, ecn).map_err(Failure::start)?;
        let replaceable = (job.transfer.migration == Some(Migration::Rebinding))
            .then(|| Arc::new(ReplaceableSocket::new(socket.clone())));
        let used: Arc<dyn AsyncUdpSocket> = match &replaceable {
            Some(replaceable) => replaceable.clone(),
            None => socket,
        };
        let endpoint = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            None,
            used,
            Arc::new(TokioRuntime),
        )
        .map_err(Failure::start)?;
        Ok(Self {
            endpoint,
            replaceable,
            ecn,
        })
    }

    /// Take another port.
    pub fn change_address(&self, migration: Migration, peer: SocketAddr) -> Result<(), String> {
        let new = socket::bind_towards(peer.ip()).map_err(|error| error.to_string())?;
        let new = for_quinn(new, self.ecn).map_err(|error| error.to_string())?;
        match (migration, &self.replaceable) {
            (Migration::Rebinding, Some(replaceable)) => {
                replaceable.replace(new);
                Ok(())
            }
            _ => self
                .endpoint
                .rebind_abstract(new)
                .map_err(|error| error.to_string()),
        }
    }
}

/// Configuration of the client's only connection.
pub fn client_config(job: &ClientJob) -> Result<ClientConfig, Failure> {
    let mut first_bytes = [0; 20];
    let random = tls::provider(None).secure_random;
    random
        .fill(&mut first_bytes)
        .map_err(|_| tls::told("the system gives no random numbers"))?;
    let original = ConnectionId::new(&first_bytes);
    let log = match &job.transfer.qlog_dir {
        Some(folder) => qlog::stream(folder, original, "client")?,
        None => None,
    };
    let mut config = ClientConfig::new(Arc::new(tls::client(job)?));
    config
        .initial_dst_cid_provider(Arc::new(move || original))
        .transport_config(Arc::new(transport(&job.knobs, log, Faults::default())));
    Ok(config)
}

/// The server's configuration, from which that of each connection is made.
pub struct ServerEnd {
    config: ServerConfig,
    faults: Faults,
}

impl ServerEnd {
    /// The configuration, of which nothing is in use yet.
    pub fn configure(job: &ServerJob) -> Result<Self, Failure> {
        let mut config = ServerConfig::with_crypto(Arc::new(tls::server(job)?));
        let false_sample = job.false_rtt_sample_ns.map(|ns| {
            let (client, server) = tls::with_itself(job)?;
            false_sample::estimate(Duration::from_nanos(ns), client, server)
        });
        let faults = Faults {
            false_sample: false_sample.transpose()?,
            every_loss_reduces: job.every_loss_reduces,
            reduces_twice: job.reduces_twice,
        };
        config.transport_config(Arc::new(transport(&job.knobs, None, faults)));
        Ok(Self { config, faults })
    }

    /// Bind and listen.
    pub fn listen(&self, job: &ServerJob) -> Result<Endpoint, Failure> {
        let socket = socket::bind(job.service.listen)?;
        let step = job.timer_step_ns.map(Duration::from_nanos);
        Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            Some(self.config.clone()),
            for_quinn(socket, job.knobs.ecn).map_err(Failure::start)?,
            coarse_timers::runtime(step),
        )
        .map_err(Failure::start)
    }

    /// Begin the handshake with a client; None if that cannot be.
    pub fn begin(&self, job: &ServerJob, incoming: Incoming) -> Option<Connecting> {
        let config = self.config_for(job, &incoming);
        incoming.accept_with(config).ok()
    }

    /// Configuration of one connection, with a qlog of its own where there are qlogs.
    fn config_for(&self, job: &ServerJob, incoming: &Incoming) -> Arc<ServerConfig> {
        let mut config = self.config.clone();
        if let Some(folder) = &job.service.qlog_dir {
            // A connection without its log is better than none; the laboratory sees that the log is missing.
            let log = qlog::stream(folder, incoming.orig_dst_cid(), "server").unwrap_or(None);
            config.transport_config(Arc::new(transport(&job.knobs, log, self.faults)));
        }
        Arc::new(config)
    }
}
