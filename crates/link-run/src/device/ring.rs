// SPDX-License-Identifier: Apache-2.0
//! A ring of frames that the kernel shares with us (`PACKET_RX_RING`, version 2): what leaves through a device lies
//! there at once, with the instant at which the kernel had it, and no limit of the host on socket buffers applies.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device::counters::interface_index;
use crate::device::socket;
use crate::vnet;

/// Blocks are made of whole pages, and the kernel rounds them up to a power of two anyway.
const BLOCK: u32 = 1 << 20;
/// Bytes that the kernel puts into a frame before the packet's own, at most.
pub const BEFORE_FRAME: u32 = 128;
/// Frames begin at multiples of this.
const ALIGNMENT: u32 = 256;

/// Purpose and size of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Lengths, from the link layer's header on, of what it takes.
    pub takes: (u32, u32),
    /// Bytes that are kept of each.
    pub keeps: u32,
    /// Number of frames that there is room for, at least.
    pub frames: u32,
}

/// A packet socket with its ring.
#[derive(Debug)]
pub struct Ring {
    socket: OwnedFd,
    memory: *mut u8,
    frame: u32,
    per_block: u32,
    frames: u32,
    next: u32,
    /// Packets that found no room; the kernel's own count starts again whenever it is read.
    overflowed: u64,
}

// SAFETY: the memory belongs to this ring alone, and is shared with the kernel only.
unsafe impl Send for Ring {}

/// Frame that was sent, in the ring.
pub struct Frame<'a> {
    /// Work that is left to do on it.
    pub header: [u8; vnet::LENGTH],
    /// Bytes of the frame.
    pub bytes: &'a [u8],
    /// True if the ring holds the whole frame.
    pub whole: bool,
    /// The instant at which the kernel had it: `CLOCK_REALTIME`.
    pub stamp_ns: u64,
}

impl Ring {
    /// A ring on a device of this thread's namespace, for what leaves through it.
    ///
    /// # Errors
    /// If there is no such device, or no memory.
    pub fn open(device: &str, shape: Shape) -> io::Result<Self> {
        let index = interface_index(device)?;
        let socket = socket::open(libc::AF_PACKET, libc::SOCK_NONBLOCK, 0)?;
        let packet = libc::SOL_PACKET;
        socket::set_option(&socket, packet, libc::PACKET_VNET_HDR, 1_i32)?;
        socket::set_option(
            &socket,
            packet,
            libc::PACKET_VERSION,
            libc::tpacket_versions::TPACKET_V2 as libc::c_int,
        )?;
        let frame = (BEFORE_FRAME + shape.keeps).next_multiple_of(ALIGNMENT);
        let per_block = BLOCK / frame;
        let blocks = shape.frames.div_ceil(per_block);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK,
            tp_block_nr: blocks,
            tp_frame_size: frame,
            tp_frame_nr: blocks * per_block,
        };
        socket::set_option(&socket, packet, libc::PACKET_RX_RING, request)?;
        only_outgoing(&socket, shape)?;
        // SAFETY: a new mapping of the ring's size, which the kernel checks.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                blocks as usize * BLOCK as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Self {
            socket,
            memory: memory.cast(),
            frame,
            per_block,
            frames: blocks * per_block,
            next: 0,
            overflowed: 0,
        };
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
        address.sll_protocol = u16::try_from(libc::ETH_P_ALL)
            .map_err(io::Error::other)?
            .to_be();
        address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
        socket::bind(&ring.socket, &address)?;
        Ok(ring)
    }

    /// The descriptor for `ppoll`.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Frame `number`, if it is ours to read.
    #[expect(
        clippy::cast_ptr_alignment,
        reason = "frames start at multiples of 256 bytes"
    )]
    fn header(&self, number: u32) -> Option<*mut libc::tpacket2_hdr> {
        let at = number / self.per_block * BLOCK + number % self.per_block * self.frame;
        let at = at as usize;
        // SAFETY: `number` is below `frames`, so the frame lies in the mapping; its status is shared with the kernel
        // and only read and written as an atomic.
        unsafe {
            let header = self.memory.add(at).cast::<libc::tpacket2_hdr>();
            let status = AtomicU32::from_ptr(&raw mut (*header).tp_status);
            (status.load(Ordering::Acquire) & libc::TP_STATUS_USER != 0).then_some(header)
        }
    }

    /// The instant of the next frame, if there is one.
    pub fn next_stamp_ns(&self) -> Option<u64> {
        // SAFETY: the kernel leaves a frame alone while it is ours.
        self.header(self.next)
            .map(|header| unsafe { stamp_ns(header) })
    }

    /// True if a quarter of the ring waits.
    pub fn is_crowded(&self) -> bool {
        self.header((self.next + self.frames / 4) % self.frames)
            .is_some()
    }

    /// Hands the next frame to `take`, and then back to the kernel.
    pub fn take(&mut self, take: impl FnOnce(Frame<'_>)) {
        let Some(header) = self.header(self.next) else {
            return;
        };
        // SAFETY: the kernel leaves a frame alone while it is ours, and what it says of its places lies within it.
        unsafe {
            let start = header.cast::<u8>().add(usize::from((*header).tp_mac));
            let mut offload = [0; vnet::LENGTH];
            std::ptr::copy_nonoverlapping(
                start.sub(vnet::LENGTH),
                offload.as_mut_ptr(),
                vnet::LENGTH,
            );
            take(Frame {
                header: offload,
                bytes: std::slice::from_raw_parts(start, (*header).tp_snaplen as usize),
                whole: (*header).tp_snaplen == (*header).tp_len,
                stamp_ns: stamp_ns(header),
            });
            AtomicU32::from_ptr(&raw mut (*header).tp_status)
                .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        }
        self.next = (self.next + 1) % self.frames;
    }

    /// Packets that found no room so far.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn overflowed(&mut self) -> io::Result<u64> {
        // struct tpacket_stats: packets and drops.
        let [_, drops]: [u32; 2] =
            socket::option(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        self.overflowed += u64::from(drops);
        Ok(self.overflowed)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it any more.
        unsafe {
            libc::munmap(
                self.memory.cast(),
                (self.frames / self.per_block * BLOCK) as usize,
            )
        };
    }
}

/// # Safety
/// The frame must be ours.
unsafe fn stamp_ns(header: *const libc::tpacket2_hdr) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { u64::from((*header).tp_sec) * 1_000_000_000 + u64::from((*header).tp_nsec) }
}

/// Has the kernel leave out what comes in, and what is shorter or longer, and keep so much of the rest.
fn only_outgoing(socket: &OwnedFd, shape: Shape) -> io::Result<()> {
    const LOAD_WORD: u16 = 0x20;
    /// Offset at which the filter finds the packet's type (`SKF_AD_OFF` + `SKF_AD_PKTTYPE`).
    const PACKET_TYPE: u32 = 0xffff_f000 + 4;
    const OUTGOING: u32 = libc::PACKET_OUTGOING as u32;
    const SKIP_IF_EQUAL: u16 = 0x15;
    const LOAD_LENGTH: u16 = 0x80;
    const SKIP_IF_AT_LEAST: u16 = 0x35;
    const SKIP_IF_ABOVE: u16 = 0x25;
    const RETURN: u16 = 0x06;
    let (least, most) = shape.takes;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut program = [
        step(LOAD_WORD, 0, 0, PACKET_TYPE),
        step(SKIP_IF_EQUAL, 0, 3, OUTGOING),
        step(LOAD_LENGTH, 0, 0, 0),
        step(SKIP_IF_AT_LEAST, 0, 1, least),
        step(SKIP_IF_ABOVE, 0, 1, most),
        step(RETURN, 0, 0, 0),
        step(RETURN, 0, 0, shape.keeps),
    ];
    let filter = libc::sock_fprog {
        len: 7,
        filter: program.as_mut_ptr(),
    };
    socket::set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, filter)
}
