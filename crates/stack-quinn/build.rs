// SPDX-License-Identifier: Apache-2.0
//! The versions of the libraries, from the lock file: the libraries themselves do not tell.

use std::fs;

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    for library in ["quinn", "quinn-proto", "h3", "rustls"] {
        let version = version_of(&lock, library).unwrap_or("unknown");
        let variable = library.replace('-', "_").to_uppercase();
        println!("cargo::rustc-env={variable}_VERSION={version}");
    }
}

fn version_of<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next()
}
