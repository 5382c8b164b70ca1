// SPDX-License-Identifier: Apache-2.0
//! The way from the path of a request to a file below the root, and never to any other.

use std::fs::File;
use std::path::{Path, PathBuf};

/// The file of a request path, open, and its size. None where there is none or the path leads out of `root`, which
/// must be canonical.
pub fn open(root: &Path, request_path: &str) -> Option<(File, u64)> {
    let file = File::open(locate(root, request_path)?).ok()?;
    let size = file.metadata().ok()?.len();
    Some((file, size))
}

fn locate(root: &Path, request_path: &str) -> Option<PathBuf> {
    let mut path = root.to_owned();
    for segment in request_path.strip_prefix('/')?.split('/') {
        let name = decoded(segment)?;
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
            return None;
        }
        path.push(name);
    }
    // A link may lead anywhere: what counts is where it ends.
    let path = path.canonicalize().ok()?;
    (path.starts_with(root) && path.is_file()).then_some(path)
}

/// Percent-decoding (RFC 3986 section 2.1); None where it is malformed or no UTF-8.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            bytes.push(16 * digit(rest.next()?)? + digit(rest.next()?)?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, os::unix, process};

    /// A root with files, a neighbour outside, and links to both.
    fn with_root(check: impl Fn(&Path)) {
        let folder = env::temp_dir().join(format!("quiclab-quinn-{}-{:p}", process::id(), &check));
        let root = folder.join("root");
        fs::create_dir_all(root.join("inner")).expect("folders");
        fs::write(root.join("inner/a b"), "inside").expect("file");
        fs::write(folder.join("secret"), "outside").expect("file");
        unix::fs::symlink("../secret", root.join("leak")).expect("link");
        unix::fs::symlink("inner/a b", root.join("alias")).expect("link");
        check(&root.canonicalize().expect("root"));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn files_below_the_root_are_found() {
        with_root(|root| {
            for path in ["/inner/a b", "/inner/a%20b", "/%69nner/a%20b", "/alias"] {
                assert_eq!(open(root, path).map(|(_, size)| size), Some(6), "{path}");
            }
        });
    }

    #[test]
    fn nothing_else_is() {
        with_root(|root| {
            for path in [
                "",
                "/",
                "*",
                "inner/a b",
                "//inner/a b",
                "/inner",
                "/inner/",
                "/missing",
                "/leak",
                "/../secret",
                "/inner/../../secret",
                "/%2e%2e/secret",
                "/..%2fsecret",
                "/inner%2fa b",
                "/inner/a b%00",
                "/%",
                "/%4",
                "/%zz",
                "/%ff",
            ] {
                assert!(open(root, path).is_none(), "{path}");
            }
        });
    }
}
