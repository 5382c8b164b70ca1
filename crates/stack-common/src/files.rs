// SPDX-License-Identifier: Apache-2.0
//! The way from a request to a file below the root, and never to any other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const DEFAULT_TYPE: &str = "application/octet-stream";

/// The folder that a server serves.
pub struct Files {
    root: PathBuf,
    content_type: String,
}

/// The answer to a request.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// All other fields of the header.
    pub headers: Vec<(&'static str, String)>,
    /// The file that is its body, open, and its size.
    pub body: Option<(File, u64)>,
}

impl Files {
    /// Files below a root, all of which are said to be of one type.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn below(root: &Path, content_type: Option<&str>) -> io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            content_type: content_type.unwrap_or(DEFAULT_TYPE).to_owned(),
        })
    }

    /// The answer to a request for this path, which may have a query.
    #[must_use]
    pub fn answer(&self, method: &str, target: &str) -> Answer {
        let found = self.open(target);
        let (status, length, body) = match (method, found) {
            ("GET", Some((file, size))) => (200, size, Some((file, size))),
            ("HEAD", Some((_, size))) => (200, size, None),
            ("GET" | "HEAD", None) => (404, 0, None),
            _ => (405, 0, None),
        };
        let mut headers = vec![
            ("content-length", length.to_string()),
            ("cache-control", "no-store".to_owned()),
        ];
        if status == 200 {
            headers.push(("content-type", self.content_type.clone()));
        }
        Answer {
            status,
            headers,
            body,
        }
    }

    fn open(&self, target: &str) -> Option<(File, u64)> {
        let path = target.split(['?', '#']).next()?;
        let file = File::open(locate(&self.root, path)?).ok()?;
        let size = file.metadata().ok()?.len();
        Some((file, size))
    }
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
    fn with_root(name: &str, check: impl Fn(&Files, &Path)) {
        let folder = env::temp_dir().join(format!("stack-common-{}-{name}", process::id()));
        let root = folder.join("root");
        fs::create_dir_all(root.join("inner")).expect("folders");
        fs::write(root.join("inner/a b"), "inside").expect("file");
        fs::write(folder.join("secret"), "outside").expect("file");
        unix::fs::symlink("../secret", root.join("leak")).expect("link");
        unix::fs::symlink("inner/a b", root.join("alias")).expect("link");
        check(&Files::below(&root, None).expect("a root"), &folder);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn files_below_the_root_are_found() {
        with_root("found", |files, _| {
            for path in [
                "/inner/a b",
                "/inner/a%20b",
                "/%69nner/a%20b",
                "/alias",
                "/alias?cache=no",
                "/alias#top",
            ] {
                assert_eq!(files.open(path).map(|(_, size)| size), Some(6), "{path}");
            }
        });
    }

    #[test]
    fn nothing_else_is() {
        with_root("nothing", |files, folder| {
            let secret = folder.join("secret").display().to_string();
            let doubled = format!("/{secret}");
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
                "/inner/a b\0",
                "/%",
                "/%4",
                "/%zz",
                "/%ff",
                &secret,
                &doubled,
            ] {
                assert!(files.open(path).is_none(), "{path}");
            }
        });
    }

    /// A body comes with GET alone; its length is told with HEAD too.
    #[test]
    fn each_method_has_its_answer() {
        with_root("methods", |files, _| {
            for (method, path, expected) in [
                ("GET", "/alias", (200, "6", true)),
                ("HEAD", "/alias", (200, "6", false)),
                ("GET", "/missing", (404, "0", false)),
                ("HEAD", "/missing", (404, "0", false)),
                ("POST", "/alias", (405, "0", false)),
                ("", "/alias", (405, "0", false)),
            ] {
                let answer = files.answer(method, path);
                let (name, length) = &answer.headers[0];
                assert_eq!(*name, "content-length");
                let told = (answer.status, length.as_str(), answer.body.is_some());
                assert_eq!(told, expected, "{method} {path}");
            }
        });
    }
}
