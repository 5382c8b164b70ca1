// SPDX-License-Identifier: Apache-2.0
//! Announced or negotiated parameters, as rows of the table `parameters`.

use super::params::Params;
use crate::tables::{Parameter, Tables};

const PREFERRED_ADDRESS: &str = "preferred_address";

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

/// Transport parameters as QUICHE prints them: `[Client name value name value [group name value] …]`, and those that it
/// has no name for as `0x1891=24a3`, where the number is what is left of the id in 32 bits.
///
/// A group after a name is its value; one without is of the names inside.
pub(super) fn transport_parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    // How many brackets are open inside a value.
    let mut inside = 0_usize;
    for word in text.split_whitespace() {
        let (open, closed) = (word.matches('[').count(), word.matches(']').count());
        let bare = word.trim_matches(['[', ']']);
        let waits = parameters
            .last()
            .is_some_and(|(name, value)| value.is_empty() && name == PREFERRED_ADDRESS);
        if inside > 0 || (open > 0 && waits) {
            // An address of version 6 has brackets of its own, which close in the same word.
            let (is_first, was) = (inside == 0, inside);
            inside = (inside + open).saturating_sub(closed);
            let mut word = word;
            if is_first {
                word = word.strip_prefix('[').unwrap_or(word);
            }
            if was > 0 && inside == 0 {
                word = word.trim_end_matches(']');
            }
            append(&mut parameters, word);
            continue;
        }
        if let Some((number, value)) = bare.split_once('=').filter(|_| bare.starts_with("0x")) {
            parameters.push((number.to_owned(), value.to_owned()));
            continue;
        }
        let is_name = bare.contains('_')
            && bare
                .chars()
                .all(|each| each.is_ascii_lowercase() || each == '_' || each.is_ascii_digit());
        if is_name {
            parameters.push((bare.to_owned(), String::new()));
        } else {
            append(&mut parameters, bare);
        }
    }
    parameters
}

/// Add a word to the value of the last parameter.
fn append(parameters: &mut [(String, String)], word: &str) {
    if let Some((_, value)) = parameters.last_mut() {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::transport_parameters;

    fn assert_found(text: &str, expected: &[(&str, &str)]) {
        let found = transport_parameters(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn names_are_told_from_values() {
        let text = "[Client [chosen_version 00000001 other_versions 00000001 6b3343cf] max_idle_timeout 30000 disable_active_migration]";
        assert_found(
            text,
            &[
                ("chosen_version", "00000001"),
                ("other_versions", "00000001 6b3343cf"),
                ("max_idle_timeout", "30000"),
                ("disable_active_migration", ""),
            ],
        );
    }

    #[test]
    fn what_has_no_name_stands_alone_and_an_address_is_one_value() {
        let text = "[Server initial_source_connection_id b239f190 disable_active_migration preferred_address [192.0.2.1:4433 [2001:db8::1]:4433 connection_id 0a0b stateless_reset_token 11] 0x1891=24a3701346dd697f 0xff=0102...(length 40) 0x5=]";
        assert_found(
            text,
            &[
                ("initial_source_connection_id", "b239f190"),
                ("disable_active_migration", ""),
                (
                    "preferred_address",
                    "192.0.2.1:4433 [2001:db8::1]:4433 connection_id 0a0b stateless_reset_token 11",
                ),
                ("0x1891", "24a3701346dd697f"),
                ("0xff", "0102...(length 40)"),
                ("0x5", ""),
            ],
        );
    }
}
