// SPDX-License-Identifier: Apache-2.0
//! JSON of any size, read without holding it.

pub(crate) mod number;
mod outline;
mod reader;
mod scanner;
mod walker;
mod window;

pub use outline::outline;
pub(crate) use reader::{Fault, Kind, Reader, Span};
pub(crate) use scanner::{members, Broken, Scanner};
pub(crate) use walker::{Stop, Walker};
pub(crate) use window::Window;

#[cfg(test)]
mod tests;
