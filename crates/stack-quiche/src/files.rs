// SPDX-License-Identifier: Apache-2.0
//! The files that may be served: those below the root, by their plain names.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

const DEFAULT_TYPE: &str = "application/octet-stream";

/// The root of the server.
pub struct Files {
    root: PathBuf,
    content_type: String,
}

impl Files {
    /// The root must exist.
    pub fn below(root: &Path, content_type: Option<&str>) -> std::io::Result<Self> {
        Ok(Self {
            root: root.canonicalize()?,
            content_type: content_type.unwrap_or(DEFAULT_TYPE).to_owned(),
        })
    }

    /// What all of them are said to be.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// The file of this path of a URL with its length, or None where there is none that may be served.
    pub fn open(&self, path: &str) -> Option<(File, u64)> {
        let name = path.split(['?', '#']).next()?.strip_prefix('/')?;
        let plain = Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !plain {
            return None;
        }
        // A link below the root may point out of it.
        let real = self.root.join(name).canonicalize().ok()?;
        if !real.starts_with(&self.root) {
            return None;
        }
        let file = File::open(real).ok()?;
        let metadata = file.metadata().ok()?;
        metadata.is_file().then_some((file, metadata.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing but regular files below the root is opened.
    #[test]
    fn paths_stay_below_the_root() {
        let folder = std::env::temp_dir().join(format!("stack-quiche-{}", std::process::id()));
        let root = folder.join("root");
        std::fs::create_dir_all(root.join("sub")).expect("a folder");
        std::fs::write(folder.join("secret"), "no").expect("a file");
        std::fs::write(root.join("object"), "12345").expect("a file");
        std::fs::write(root.join("sub/inner"), "1").expect("a file");
        std::os::unix::fs::symlink("../secret", root.join("way-out")).expect("a link");
        let files = Files::below(&root, None).expect("a root");
        let length = |path: &str| files.open(path).map(|(_, length)| length);
        assert_eq!(length("/object"), Some(5));
        assert_eq!(length("/object?cache=no"), Some(5));
        assert_eq!(length("/sub/inner"), Some(1));
        let secret = folder.join("secret").display().to_string();
        let forbidden = [
            "/",
            "",
            "object",
            "/sub",
            "/nothing",
            "/../secret",
            "/sub/../../secret",
            "/way-out",
            "/a\0b",
        ];
        for path in forbidden
            .into_iter()
            .chain([secret.as_str(), format!("/{secret}").as_str()])
        {
            assert_eq!(length(path), None, "{path:?}");
        }
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
