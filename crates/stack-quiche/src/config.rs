// SPDX-License-Identifier: Apache-2.0
//! The library's configuration from the knobs.

use std::path::Path;
use std::time::Duration;

use boring::ssl::{ExtensionType, SslContextBuilder, SslMethod};
use foreign_types_shared::ForeignTypeRef;
use quiche::{h3, Config};
use stack_common::failure::Failure;
use stack_common::job::Group;

use crate::job::{ClientJob, Knobs, ServerJob, Session};
use crate::library;

/// The library has no windows of its own (they are 0); these are those of quiche's own client and server.
const CONNECTION_WINDOW: u64 = 10_000_000;
const STREAM_WINDOW: u64 = 1_000_000;
const MAX_STREAMS: u64 = 100;
/// The timeout of quiche's own programs; the library itself would wait for ever.
const IDLE_TIMEOUT_MS: u64 = 30_000;

/// Configuration of a client: it trusts the job's CA alone.
pub fn client(job: &ClientJob, log_keys: bool) -> Result<Config, Failure> {
    let mut config = common(tls_context()?, &job.knobs, log_keys)?;
    config.verify_peer(job.transfer.verify);
    if job.transfer.verify {
        read_file(&job.transfer.ca, |path| {
            config.load_verify_locations_from_file(path)
        })?;
    }
    if job.session == Session::EarlyData {
        config.enable_early_data();
    }
    if let Some(held) = job.held_acks() {
        config.set_max_ack_delay(whole_ms(held.delay()));
    }
    Ok(config)
}

/// Rounded up: the peer may wait a little too long, and not too short.
fn whole_ms(delay: Duration) -> u64 {
    u64::try_from(delay.as_micros().div_ceil(1000)).unwrap_or(u64::MAX)
}

/// Configuration of a server. Its tickets always allow 0-RTT, so that a server that refuses it can be met with a 0-RTT
/// request.
pub fn server(job: &ServerJob, log_keys: bool) -> Result<Config, Failure> {
    let mut tls = tls_context()?;
    if !job.service.early_data {
        refuse_early_data(&mut tls);
    }
    let mut config = common(tls, &job.knobs, log_keys)?;
    read_file(&job.service.certificate, |path| {
        config.load_cert_chain_from_pem_file(path)
    })?;
    read_file(&job.service.key, |path| {
        config.load_priv_key_from_pem_file(path)
    })?;
    config.set_initial_max_streams_bidi(job.max_streams.unwrap_or(MAX_STREAMS));
    config.enable_early_data();
    Ok(config)
}

fn tls_context() -> Result<SslContextBuilder, Failure> {
    SslContextBuilder::new(SslMethod::tls()).map_err(|error| Failure::cannot("set up TLS", error))
}

fn common(mut tls: SslContextBuilder, knobs: &Knobs, log_keys: bool) -> Result<Config, Failure> {
    if let Some(groups) = &knobs.groups {
        let names: Vec<&str> = groups.iter().map(|&group| curve(group)).collect();
        tls.set_curves_list(&names.join(":"))
            .map_err(|error| Failure::cannot("set the groups of TLS", error))?;
    }
    let mut config =
        Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls).map_err(set_up)?;
    config
        .set_application_protos(h3::APPLICATION_PROTOCOL)
        .map_err(set_up)?;
    if log_keys {
        config.log_keys();
    }
    if let Some(name) = knobs.congestion_control {
        config.set_cc_algorithm_name(name.name()).map_err(set_up)?;
    }
    if let Some(packets) = knobs.initial_window {
        config.set_initial_congestion_window_packets(packets);
    }
    if let Some(on) = knobs.pacing {
        config.enable_pacing(on);
    }
    if let Some(on) = knobs.hystart {
        config.enable_hystart(on);
    }
    if let Some(rtt) = knobs.initial_rtt_ns {
        library::set_initial_rtt(&mut config, Duration::from_nanos(rtt));
    }
    if let Some(bytes) = knobs.max_payload_bytes {
        config.set_max_send_udp_payload_size(bytes);
    }
    set_windows(&mut config, knobs);
    config.set_max_idle_timeout(IDLE_TIMEOUT_MS);
    config.set_initial_max_streams_uni(MAX_STREAMS);
    Ok(config)
}

/// A window that is asked for stays as it is; quiche's own grow to 24 MiB (connection) and 16 MiB (stream).
fn set_windows(config: &mut Config, knobs: &Knobs) {
    let stream = knobs.stream_window_bytes.unwrap_or(STREAM_WINDOW);
    config.set_initial_max_stream_data_bidi_local(stream);
    config.set_initial_max_stream_data_bidi_remote(stream);
    config.set_initial_max_stream_data_uni(stream);
    config.set_initial_max_data(knobs.connection_window_bytes.unwrap_or(CONNECTION_WINDOW));
    if let Some(bytes) = knobs.stream_window_bytes {
        config.set_max_stream_window(bytes);
    }
    if let Some(bytes) = knobs.connection_window_bytes {
        config.set_max_connection_window(bytes);
    }
}

/// Decline 0-RTT to a client that offers it, and only then: the connection that fetches a ticket must get one that
/// allows it.
fn refuse_early_data(tls: &mut SslContextBuilder) {
    tls.set_select_certificate_callback(|mut hello| {
        if hello.get_extension(ExtensionType::EARLY_DATA).is_some() {
            // SAFETY: the pointer is that of the connection that is being set up.
            unsafe { boring_sys::SSL_set_early_data_enabled(hello.ssl_mut().as_ptr(), 0) };
        }
        Ok(())
    });
}

/// BoringSSL's name.
fn curve(group: Group) -> &'static str {
    match group {
        Group::X25519 => "X25519",
        Group::Secp256r1 => "P-256",
        Group::Secp384r1 => "P-384",
        Group::X25519MlKem768 => "X25519MLKEM768",
    }
}

/// The name in the TLS registry, from BoringSSL's.
pub fn registered_group(curve: &str) -> String {
    match curve {
        "P-256" => "secp256r1".to_owned(),
        "P-384" => "secp384r1".to_owned(),
        other => other.to_lowercase(),
    }
}

fn read_file(path: &Path, load: impl FnOnce(&str) -> quiche::Result<()>) -> Result<(), Failure> {
    let read =
        |why: &dyn std::fmt::Display| Failure::cannot(&format!("read {}", path.display()), why);
    // The library says only that TLS failed; a missing or forbidden file can be told apart.
    std::fs::File::open(path).map_err(|error| read(&error))?;
    let text = path
        .to_str()
        .ok_or_else(|| read(&"its name is not UTF-8"))?;
    load(text).map_err(|_| read(&"it is not the PEM file that is needed here"))
}

fn set_up(error: quiche::Error) -> Failure {
    Failure::cannot("set up quiche", format!("{error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every group that a job may name is one that this BoringSSL has, and comes back under the same name.
    #[test]
    fn groups_are_known_to_boringssl() {
        let mut tls = tls_context().expect("a context");
        for (group, name) in [
            (Group::X25519, "x25519"),
            (Group::Secp256r1, "secp256r1"),
            (Group::Secp384r1, "secp384r1"),
            (Group::X25519MlKem768, "x25519mlkem768"),
        ] {
            tls.set_curves_list(curve(group)).expect("a known curve");
            assert_eq!(registered_group(curve(group)), name);
        }
    }
}
