// SPDX-License-Identifier: Apache-2.0
//! Both ends as quinn 0.10 and h3 0.0.4 make them. Neither writes a qlog.

use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use quinn::{ClientConfig, Connecting, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use stack_common::failure::Failure;
use stack_common::job::Migration;

use crate::job::{ClientJob, ServerJob};
use crate::server::H3Stream;
use crate::transport::transport;
use crate::{socket, tls};

pub use h3::Error as StreamError;
pub use quinn::Connecting as Arrived;

/// Settings of a job that this release cannot have, or that our program has for later ones alone.
pub const LACKS: &[&str] = &[
    "ecn",
    "scheduler",
    "max_window_bytes",
    "peer_ack_frequency",
    "peer_ack_delay_ns",
    "active",
];

/// A request whose header h3 has read already.
pub type Asked = (Request<()>, H3Stream);

/// The request as it is.
pub async fn resolve(asked: Asked) -> Option<(Request<()>, H3Stream)> {
    Some(asked)
}

/// The client's end, whose address can change.
pub struct ClientEnd {
    pub endpoint: Endpoint,
}

impl ClientEnd {
    /// An end with a port of the kernel's choice.
    pub fn open(job: &ClientJob) -> Result<Self, Failure> {
        let socket = socket::bind_towards(job.transfer.address)?;
        let runtime = Arc::new(TokioRuntime);
        let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, runtime)
            .map_err(Failure::start)?;
        Ok(Self { endpoint })
    }

    /// Take another port. quinn keeps the connection ID, as behind a NAT that maps it anew.
    pub fn change_address(&self, _: Migration, peer: SocketAddr) -> Result<(), String> {
        let new = socket::bind_towards(peer.ip()).map_err(|error| error.to_string())?;
        self.endpoint.rebind(new).map_err(|error| error.to_string())
    }
}

/// Configuration of the client's only connection.
pub fn client_config(job: &ClientJob) -> Result<ClientConfig, Failure> {
    let mut config = ClientConfig::new(Arc::new(tls::client(job)?));
    config.transport_config(Arc::new(transport(&job.knobs)));
    Ok(config)
}

/// The server's configuration.
pub struct ServerEnd {
    config: ServerConfig,
}

impl ServerEnd {
    /// The configuration, of which nothing is in use yet.
    pub fn configure(job: &ServerJob) -> Result<Self, Failure> {
        let faulty = job.false_rtt_sample_ns.is_some() || job.timer_step_ns.is_some();
        if faulty || job.every_loss_reduces || job.reduces_twice {
            return Err(Failure::Usage(
                "this release of quinn has no faults on purpose".into(),
            ));
        }
        let mut config = ServerConfig::with_crypto(Arc::new(tls::server(job)?));
        config.transport_config(Arc::new(transport(&job.knobs)));
        Ok(Self { config })
    }

    /// Bind and listen.
    pub fn listen(&self, job: &ServerJob) -> Result<Endpoint, Failure> {
        let socket = socket::bind(job.service.listen)?;
        let config = Some(self.config.clone());
        Endpoint::new(
            EndpointConfig::default(),
            config,
            socket,
            Arc::new(TokioRuntime),
        )
        .map_err(Failure::start)
    }

    /// The handshake, which quinn has begun.
    pub fn begin(&self, _: &ServerJob, arrived: Arrived) -> Option<Connecting> {
        Some(arrived)
    }
}
