// SPDX-License-Identifier: Apache-2.0
//! A change of a running link: a line of its standard input.

use link_core as core;
use link_core::Nanos;
use serde::Deserialize;

use super::direction::{Change, Direction, Settings};
use super::Config;

/// The line, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    change: LiveChange,
}

/// Settings of one link that are to change at once.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LiveChange {
    /// Name of the link; the first one by default.
    pub link: Option<String>,
    up: Option<Settings>,
    down: Option<Settings>,
}

/// Configurations of a direction before a change and after it.
#[derive(Debug)]
pub struct Replaced {
    /// Configuration up to now, as the model has it.
    pub before: core::DirectionConfig,
    /// Configuration from now on, as the model has it.
    pub after: core::DirectionConfig,
    /// Configuration from now on, as the file has it.
    pub written: Direction,
}

impl LiveChange {
    /// Reads a line.
    ///
    /// # Errors
    /// If it is none, in one sentence.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line)
            .map(|Line { change }| change)
            .map_err(|error| error.to_string())
    }

    /// True if nothing is to change: it only asks for the time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.up.is_none() && self.down.is_none()
    }

    /// The number of its link.
    ///
    /// # Errors
    /// If there is no link of that name.
    pub fn number(&self, config: &Config) -> Result<usize, String> {
        let names: Vec<&str> = config.names().collect();
        let Some(asked) = &self.link else {
            return Ok(0);
        };
        names
            .iter()
            .position(|name| name == asked)
            .ok_or_else(|| format!("there is no link {asked}, only {}", names.join(", ")))
    }

    /// Both directions of that link, where they change at `at`.
    ///
    /// # Errors
    /// If one cannot, in one sentence.
    pub fn replaced(
        self,
        config: &Config,
        number: usize,
        at: Nanos,
    ) -> Result<[Option<Replaced>; 2], String> {
        let [up, down] = config.directions(number);
        Ok([
            self.up.map(|set| replaced(up, "up", at, set)).transpose()?,
            self.down
                .map(|set| replaced(down, "down", at, set))
                .transpose()?,
        ])
    }
}

fn replaced(
    direction: &Direction,
    name: &str,
    at: Nanos,
    set: Settings,
) -> Result<Replaced, String> {
    if direction.repeats() {
        return Err(format!(
            "{name}: its schedule repeats itself, and has no place for a change"
        ));
    }
    let written = direction.with(Change { at_ns: at.0, set });
    let elements =
        |direction: &Direction| direction.elements(name).map_err(|error| error.to_string());
    Ok(Replaced {
        before: elements(direction)?,
        after: elements(&written)?,
        written,
    })
}

impl Config {
    /// The names of all links, in order from client to server.
    fn names(&self) -> impl Iterator<Item = &str> {
        let more = self.more_links.iter().map(|link| link.link.as_str());
        std::iter::once(self.link.as_str()).chain(more)
    }

    fn directions(&self, number: usize) -> [&Direction; 2] {
        match number.checked_sub(1) {
            None => [&self.up, &self.down],
            Some(more) => [&self.more_links[more].up, &self.more_links[more].down],
        }
    }

    /// Replaces a direction of a link: up is 0, down is 1.
    pub fn replace(&mut self, number: usize, direction: usize, written: Direction) {
        let [up, down] = match number.checked_sub(1) {
            None => [&mut self.up, &mut self.down],
            Some(more) => {
                let link = &mut self.more_links[more];
                [&mut link.up, &mut link.down]
            }
        };
        *[up, down][direction] = written;
    }
}
