// SPDX-License-Identifier: Apache-2.0
//! Announcements and negotiations of a session, and its end.

use super::super::constants::{Constants, Phase};
use super::super::{parameters, Event};
use super::Session;
use crate::tables::Tables;
use crate::Direction;

impl Session {
    /// Adds what is announced or negotiated; false if no table holds it.
    pub(super) fn announced(
        &mut self,
        name: &str,
        event: &Event<'_>,
        constants: &Constants,
        tables: &mut Tables,
    ) -> bool {
        let Event {
            time_ns, params, ..
        } = event;
        let (connection, time_ns) = (self.connection.as_str(), *time_ns);
        match name {
            "TRANSPORT_PARAMETERS_SENT"
            | "TRANSPORT_PARAMETERS_RECEIVED"
            | "TRANSPORT_PARAMETERS_RESUMED" => {
                let owner = match name {
                    "TRANSPORT_PARAMETERS_SENT" => "parameters_set.client",
                    "TRANSPORT_PARAMETERS_RECEIVED" => "parameters_set.server",
                    _ => "parameters_restored.server",
                };
                let text = params.text("quic_transport_parameters").unwrap_or_default();
                for (name, value) in parameters::transport_parameters(&text) {
                    parameters::push(
                        connection,
                        time_ns,
                        &format!("{owner}.{name}"),
                        &value,
                        tables,
                    );
                }
            }
            "VERSION_NEGOTIATED" => {
                if !std::mem::replace(&mut self.version_told, true) {
                    let version = params.text("version").unwrap_or_default();
                    parameters::push(
                        connection,
                        time_ns,
                        "version_information.chosen_version",
                        &version,
                        tables,
                    );
                }
            }
            "VERSION_NEGOTIATION_PACKET_RECEIVED" => {
                let step = ("version_negotiation", None, params.raw("versions"));
                self.handshake
                    .step(connection, time_ns, Direction::Down, step, tables);
            }
            "CLOSED" if self.close_told => {}
            "CLOSED" => {
                self.close_told = true;
                let owner = if params.flag("from_peer") == Some(true) {
                    "server"
                } else {
                    "client"
                };
                let error = params
                    .number("quic_error")
                    .map(|number| constants.quic_error(number));
                let error = error.unwrap_or_default();
                let details = params.text("details").unwrap_or_default();
                for (member, value) in [("connection_error", error.as_str()), ("reason", &details)]
                {
                    let name = format!("connection_closed.{owner}.{member}");
                    parameters::push(connection, time_ns, &name, value, tables);
                }
            }
            "QUIC_SESSION" if event.phase == Phase::Begin => {
                parameters::push_all(connection, time_ns, "quic_session", params, tables);
            }
            "QUIC_SESSION" => self.finish(tables),
            "ZERO_RTT_STATE"
            | "ZERO_RTT_REJECTED"
            | "QUIC_CONGESTION_CONTROL_CONFIGURED"
            | "KEY_UPDATE" => {
                let prefix = name.trim_start_matches("QUIC_").to_ascii_lowercase();
                parameters::push_all(connection, time_ns, &prefix, params, tables);
            }
            _ => return false,
        }
        true
    }
}
