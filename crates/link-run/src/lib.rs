// SPDX-License-Identifier: Apache-2.0
//! The I/O around link-core: devices, timers, logs.
//!
//! It splits super-packets, stamps, asks the model when and whether each leaves, sleeps, spins the last microseconds and
//! writes. [`forwarder`] is the loop, [`lane`] one direction's devices, [`waiting`] what is inside one direction,
//! [`device`] TUN and veth, `device/stamps.rs` when a packet came to a TUN device. Of several links in a row one process
//! moves all packets, in one thread: only one can be punctual. A second thread writes the log, so that forwarding never
//! waits for a disk. [`stalls`] knows when the thread stood still, [`late_time`] for how long packets were late;
//! [`bursts`] knows which packets a host handed over as
//! one. [`precedence`] gives real time up where the ends need the processor. [`serve`] runs the links of several trials.

pub mod bursts;
pub mod calendar;
pub mod checksum;
pub mod clock;
pub mod config;
pub mod control;
pub mod counters;
pub mod device;
pub mod error;
pub mod forwarder;
pub mod histogram;
pub mod icmp;
pub mod lane;
pub mod late_time;
pub mod link;
pub mod log;
pub mod model_zero;
pub mod nat;
pub mod own_file;
pub mod packet;
pub mod pool;
pub mod precedence;
pub mod run;
pub mod segment;
pub mod serve;
pub mod stalls;
pub mod summary;
pub mod tcp_info;
pub mod timer;
pub mod train;
pub mod vnet;
pub mod waiting;
