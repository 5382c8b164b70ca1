// SPDX-License-Identifier: Apache-2.0

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Far above any link, so that cwnd and RTT decide. All bits set would mean no pacing at all.
const noRateLimit = 1 << 62

// pace makes Linux TCP pace its packets by itself, without the fq queue. Accepted connections inherit it from the
// listening socket.
func pace(_, _ string, raw syscall.RawConn) error {
	var failure error
	if err := raw.Control(func(fd uintptr) {
		failure = unix.SetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, noRateLimit)
	}); err != nil {
		return err
	}
	return failure
}
