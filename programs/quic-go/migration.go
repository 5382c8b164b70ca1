// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"sync"
	"syscall"
	"unsafe"
)

// A stream type without meaning (RFC 9114 section 6.2.3) and nothing else on the stream.
var reservedStreamType = []byte{0x21}

// migration changes the client's address once, while the body goes on arriving.
type migration struct {
	begun  bool
	cancel context.CancelFunc

	mutex   sync.Mutex
	ended   bool
	failure error
	socket  *net.UDPConn
}

func (m *migration) begin(v *h3Visit) {
	m.begun = true
	if v.job.Migration == "rebinding" {
		m.end(rebind(v.conn, v.socket))
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go func() { m.end(m.toNewPath(ctx, v.conn)) }()
}

func (m *migration) end(failure error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.ended, m.failure = true, failure
}

// note tells what came of it. The transfer went on either way.
func (m *migration) note(r *request) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	r.Migrated = new(m.ended && m.failure == nil)
	switch {
	case !m.begun:
		r.MigrationFailure = "the body was too short"
	case !m.ended:
		r.MigrationFailure = "the body ended before the new path was validated"
	case m.failure != nil:
		r.MigrationFailure = oneLine(m.failure)
	}
}

// toNewPath moves to a path from a second socket.
func (m *migration) toNewPath(ctx context.Context, conn quicConnection) error {
	select {
	case <-conn.HandshakeComplete():
	case <-ctx.Done():
		return ctx.Err()
	}
	socket, err := openSocket(conn.RemoteAddr().(*net.UDPAddr))
	if err != nil {
		return err
	}
	m.mutex.Lock()
	m.socket = socket
	m.mutex.Unlock()
	return switchPath(ctx, conn, socket)
}

func (m *migration) close() {
	if m.cancel != nil {
		m.cancel()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.socket != nil {
		_ = m.socket.Close()
	}
}

// rebind gives the socket another port, as a NAT does that has lost its table; the library is not told. To dissolve
// a UDP socket's association frees a port that was not asked for by number, and the next packet takes a new one
// (connect(2), ip(7)). What is under way to the old port is lost.
func rebind(conn quicConnection, socket *net.UDPConn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	if err := raw.Control(func(fd uintptr) { failure = dissolve(fd) }); err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	// A client that only waits would never be heard from its new address.
	stream, err := conn.OpenUniStream()
	if err != nil {
		return err
	}
	if _, err := stream.Write(reservedStreamType); err != nil {
		return err
	}
	return stream.Close()
}

func dissolve(fd uintptr) error {
	unspecified := syscall.RawSockaddr{Family: syscall.AF_UNSPEC}
	_, _, number := syscall.Syscall(
		syscall.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&unspecified)), unsafe.Sizeof(unspecified),
	)
	if number != 0 {
		return number
	}
	return nil
}
