// SPDX-License-Identifier: Apache-2.0
//! Serves files below a folder until SIGTERM.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h3::error::StreamError;
use h3::server::{RequestResolver, RequestStream};
use http::{header, Method, Response};
use quinn::{Connecting, Connection, ConnectionError};
use quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, VarInt};
use stack_common::failure::Failure;
use stack_common::files::Files;
use stack_common::{http3, logs};
use tokio::signal::unix::{signal, SignalKind};

use crate::job::{ServerJob, Trickle};
use crate::transport::Faults;
use crate::{coarse_timers, false_sample, qlog, socket, tls, transport};

/// Longest time in which open connections send their `CONNECTION_CLOSE`.
const CLOSING: Duration = Duration::from_millis(100);

/// Bytes of a file that are read at a time.
const PIECE: usize = 128 << 10;

type H3Connection = h3::server::Connection<h3_quinn::Connection, Bytes>;
type H3Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// Binds, then serves.
pub fn run(job: ServerJob) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::start)?;
    let site = Arc::new(Site::new(job)?);
    runtime.block_on(serve(site))
}

struct Site {
    job: ServerJob,
    files: Files,
    config: ServerConfig,
    faults: Faults,
}

impl Site {
    fn new(job: ServerJob) -> Result<Self, Failure> {
        let service = &job.service;
        logs::make_folder(service.qlog_dir.as_deref())?;
        let files = Files::below(&service.root, service.content_type.as_deref())
            .map_err(|error| Failure::unreadable(&service.root, error))?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls::server(&job)?));
        let false_sample = job.false_rtt_sample_ns.map(|ns| {
            let (client, server) = tls::with_itself(&job)?;
            false_sample::estimate(Duration::from_nanos(ns), client, server)
        });
        let false_sample = false_sample.transpose()?;
        let faults = Faults {
            false_sample,
            every_loss_reduces: job.every_loss_reduces,
            reduces_twice: job.reduces_twice,
        };
        let transport = transport::transport(&job.knobs, None, faults);
        config.transport_config(Arc::new(transport));
        if let Some(content_type) = &service.content_type {
            header::HeaderValue::from_str(content_type).map_err(|_| {
                Failure::Usage(format!("content_type {content_type:?} is no header value"))
            })?;
        }
        Ok(Self {
            job,
            files,
            config,
            faults,
        })
    }

    /// Configuration of one connection, with a qlog of its own where there are qlogs.
    fn config_for(&self, incoming: &Incoming) -> Arc<ServerConfig> {
        let mut config = self.config.clone();
        if let Some(folder) = &self.job.service.qlog_dir {
            // A connection without its log is better than none; the laboratory sees that the log is missing.
            let log = qlog::stream(folder, incoming.orig_dst_cid(), "server").unwrap_or(None);
            config.transport_config(Arc::new(transport::transport(
                &self.job.knobs,
                log,
                self.faults,
            )));
        }
        Arc::new(config)
    }
}

async fn serve(site: Arc<Site>) -> Result<(), Failure> {
    let mut terminated = signal(SignalKind::terminate()).map_err(Failure::start)?;
    let socket = socket::bind(site.job.service.listen)?;
    let config = Some(site.config.clone());
    let step = site.job.timer_step_ns.map(Duration::from_nanos);
    let endpoint = Endpoint::new_with_abstract_socket(
        EndpointConfig::default(),
        config,
        socket::for_quinn(socket, site.job.knobs.ecn).map_err(Failure::start)?,
        coarse_timers::runtime(step),
    )
    .map_err(Failure::start)?;
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            incoming = endpoint.accept() => match incoming {
                Some(incoming) => { tokio::spawn(connection(site.clone(), incoming)); }
                None => break,
            },
        }
    }
    endpoint.close(VarInt::from_u32(http3::NO_ERROR), b"");
    let _ = tokio::time::timeout(CLOSING, endpoint.wait_idle()).await;
    Ok(())
}

/// Ends when the connection does; its failures are the client's to tell.
async fn connection(site: Arc<Site>, incoming: Incoming) {
    let config = site.config_for(&incoming);
    let Ok(connecting) = incoming.accept_with(config) else {
        return;
    };
    let connected = if site.job.service.early_data {
        at_once(connecting).await
    } else {
        connecting.await
    };
    let Ok(connection) = connected else { return };
    let Ok(mut connection) = H3Connection::new(h3_quinn::Connection::new(connection)).await else {
        return;
    };
    while let Ok(Some(request)) = connection.accept().await {
        tokio::spawn(answer(site.clone(), request));
    }
}

/// Take up a connection before its handshake is complete, for early data would wait until then; but not before the
/// whole `ClientHello` is here: to a client whose `ClientHello` takes two datagrams (quiche, quic-go) quinn would never
/// open a stream of its own.
async fn at_once(mut connecting: Connecting) -> Result<Connection, ConnectionError> {
    connecting.handshake_data().await?;
    match connecting.into_0rtt() {
        Ok((connection, _)) => Ok(connection),
        Err(connecting) => connecting.await,
    }
}

async fn answer(site: Arc<Site>, request: RequestResolver<h3_quinn::Connection, Bytes>) {
    let Ok((request, stream)) = request.resolve_request().await else {
        return;
    };
    let (method, path) = (request.method(), request.uri().path());
    // A stream that fails is the client's loss and told by it.
    let _ = respond(&site, method, path, stream).await;
}

async fn respond(
    served: &Site,
    method: &Method,
    path: &str,
    mut stream: H3Stream,
) -> Result<(), StreamError> {
    let answer = served.files.answer(method.as_str(), path);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    // Its parts were checked at the start.
    let Ok(response) = response.body(()) else {
        stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
        return Ok(());
    };
    stream.send_response(response).await?;
    if let Some((file, size)) = answer.body {
        body(file, size, served.job.trickle, &mut stream).await?;
    }
    stream.finish().await?;
    // A request that goes out of scope before its end was read is answered with STOP_SENDING and code 0, which curl
    // takes for a response that failed.
    while stream.recv_data().await?.is_some() {}
    Ok(())
}

/// Exactly `size` bytes, or a stream that is reset and cannot be finished.
async fn body(
    mut file: File,
    size: u64,
    trickle: Option<Trickle>,
    stream: &mut H3Stream,
) -> Result<(), StreamError> {
    let most = trickle.map_or(PIECE, |trickle| trickle.piece_bytes.get());
    let mut left = size;
    while left > 0 {
        let piece = usize::try_from(left).map_or(most, |left| left.min(most));
        let Ok(bytes) = read(&mut file, piece) else {
            stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
            return Ok(());
        };
        left -= piece as u64;
        stream.send_data(bytes).await?;
        if let (Some(trickle), 1..) = (trickle, left) {
            tokio::time::sleep(Duration::from_nanos(trickle.pause_ns)).await;
        }
    }
    Ok(())
}

fn read(file: &mut File, size: usize) -> io::Result<Bytes> {
    let mut buffer = vec![0; size];
    file.read_exact(&mut buffer)?;
    Ok(buffer.into())
}
