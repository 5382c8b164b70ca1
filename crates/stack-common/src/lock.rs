// SPDX-License-Identifier: Apache-2.0
//! Versions of libraries, from the lock file of a program: the libraries themselves do not tell.

use std::collections::BTreeMap;

/// Library to version.
pub type Versions = BTreeMap<&'static str, &'static str>;

/// Versions that a Cargo.lock pins.
#[must_use]
pub fn versions(lock: &'static str, libraries: &[&'static str]) -> Versions {
    let each = libraries.iter();
    each.map(|library| (*library, version(lock, library)))
        .collect()
}

/// The version that a Cargo.lock pins, or `unknown`.
#[must_use]
pub fn version(lock: &'static str, library: &str) -> &'static str {
    let begin = format!("name = \"{library}\"\nversion = \"");
    lock.split_once(&begin)
        .and_then(|(_, after)| after.split('"').next())
        .unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library whose name begins like another's is another.
    #[test]
    fn versions_are_those_of_the_lock() {
        let lock = "[[package]]\nname = \"quinn-proto\"\nversion = \"0.11.9\"\n\n\
                    [[package]]\nname = \"quinn\"\nversion = \"0.11.5\"\n";
        let found = versions(lock, &["quinn", "quinn-proto", "h3"]);
        let expected = [
            ("h3", "unknown"),
            ("quinn", "0.11.5"),
            ("quinn-proto", "0.11.9"),
        ];
        assert_eq!(found, Versions::from(expected));
    }
}
