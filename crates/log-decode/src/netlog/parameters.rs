// SPDX-License-Identifier: Apache-2.0
//! What was announced or negotiated, as rows of the table `parameters`.

use super::params::Params;
use crate::tables::{Parameter, Tables};

/// Parameters of events that fill pages and say nothing about a connection.
const TIRESOME: [&str; 4] = [
    "selected_trust_anchor_ids",
    "source_dependency",
    "cert_verify_flags",
    "network_anonymization_key",
];

pub(super) fn push(connection: &str, time_ns: i64, name: &str, value: &str, tables: &mut Tables) {
    tables.parameters.push(Parameter {
        vantage: Some("client"),
        connection: Some(connection),
        time_ns,
        name,
        value,
    });
}

/// Every parameter of an event as `prefix.name`.
pub(super) fn push_all(
    connection: &str,
    time_ns: i64,
    prefix: &str,
    params: &Params<'_>,
    tables: &mut Tables,
) {
    for (name, value) in params.iter().filter(|(name, _)| !TIRESOME.contains(name)) {
        push(
            connection,
            time_ns,
            &format!("{prefix}.{name}"),
            &value,
            tables,
        );
    }
}

/// Transport parameters as QUICHE prints them: `[Client name value name value [group name value] …]`.
pub(super) fn transport_parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    for word in text
        .split_whitespace()
        .map(|word| word.trim_matches(['[', ']']))
    {
        let is_name = word.contains('_')
            && word
                .chars()
                .all(|each| each.is_ascii_lowercase() || each == '_' || each.is_ascii_digit());
        if is_name {
            parameters.push((word.to_owned(), String::new()));
        } else if let Some((_, value)) = parameters.last_mut() {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(word);
        }
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::transport_parameters;

    #[test]
    fn names_are_told_from_values() {
        let text = "[Client [chosen_version 00000001 other_versions 00000001 6b3343cf] max_idle_timeout 30000 disable_active_migration]";
        let found = transport_parameters(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("chosen_version", "00000001"),
                ("other_versions", "00000001 6b3343cf"),
                ("max_idle_timeout", "30000"),
                ("disable_active_migration", "")
            ]
        );
    }
}
