// SPDX-License-Identifier: Apache-2.0
//! Reason for which a connection ended before its answer was complete.

/// The reason in words; the library keeps which end closed it, and TLS why a certificate was not accepted.
pub fn reason_of_end(quic: &mut quiche::Connection) -> String {
    if let Some(error) = quic.peer_error() {
        return format!("the server closed the connection: {}", describe(error));
    }
    if quic.is_timed_out() {
        let silence = if quic.is_established() {
            "fell silent"
        } else {
            "did not answer"
        };
        return format!("the server {silence}");
    }
    let tls: &mut boring::ssl::SslRef = quic.as_mut();
    if let Err(error) = tls.verify_result() {
        return format!("the server's certificate was not accepted: {error}");
    }
    let reason = quic
        .local_error()
        .map_or_else(|| "without a reason".to_owned(), describe);
    format!("the connection was given up: {reason}")
}

/// TLS alerts are QUIC errors from 0x100 (RFC 9001 section 4.8).
fn describe(error: &quiche::ConnectionError) -> String {
    let code = error.error_code;
    let kind = match code {
        _ if error.is_app => format!("HTTP/3 error {code:#x}"),
        0x100..=0x1ff => format!("TLS alert {}", code - 0x100),
        _ => format!("QUIC error {code:#x}"),
    };
    let reason = String::from_utf8_lossy(&error.reason);
    if reason.is_empty() {
        kind
    } else {
        format!("{kind} ({reason})")
    }
}

#[cfg(test)]
mod tests {
    use super::describe;

    /// The three kinds of errors are told apart.
    #[test]
    fn errors_are_named_by_their_kind() {
        let named = |is_app, error_code, reason: &str| {
            describe(&quiche::ConnectionError {
                is_app,
                error_code,
                reason: reason.as_bytes().to_vec(),
            })
        };
        assert_eq!(named(true, 0x101, ""), "HTTP/3 error 0x101");
        assert_eq!(
            named(false, 0x130, "unknown CA"),
            "TLS alert 48 (unknown CA)"
        );
        assert_eq!(named(false, 0xa, ""), "QUIC error 0xa");
    }
}
