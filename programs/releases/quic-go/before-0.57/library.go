// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/logging"
	"github.com/quic-go/quic-go/qlog"
)

// In the place of programs/quic-go/library.go: as there, but for its qlog, which is older.

type (
	quicConnection = *quic.Conn
	httpTransport  = http3.Transport
	httpConnection = http3.ClientConn
	requestStream  = *http3.RequestStream
)

const (
	canSwitchPath = true
	canFixPayload = true
	canSchedule   = true
)

// dialQUIC returns before the handshake is complete if `early`.
func dialQUIC(
	ctx context.Context, from *quic.Transport, to net.Addr, config *tls.Config, settings *quic.Config, early bool,
) (quicConnection, error) {
	if early {
		return from.DialEarly(ctx, to, config, settings)
	}
	return from.Dial(ctx, to, config, settings)
}

// nextConnection is the one that begins where the server has left the early data.
func nextConnection(ctx context.Context, rejected quicConnection) (quicConnection, error) {
	return rejected.NextConnection(ctx)
}

// switchPath validates the path from a socket and moves the connection to it (RFC 9000 section 9.2).
func switchPath(ctx context.Context, connection quicConnection, socket *net.UDPConn) error {
	path, err := connection.AddPath(&quic.Transport{Conn: socket})
	if err != nil {
		return err
	}
	if err := path.Probe(ctx); err != nil {
		return err
	}
	return path.Switch()
}

// fixPayload keeps the UDP payload of datagrams at one size.
func fixPayload(config *quic.Config, size int64) {
	config.InitialPacketSize = uint16(size)
	config.DisablePathMTUDiscovery = true
}

func (job *serverJob) newServer(handler http.Handler, config *tls.Config, settings *quic.Config) *http3.Server {
	return &http3.Server{
		Handler:    handler,
		TLSConfig:  config,
		QUICConfig: settings,
		ConnContext: func(ctx context.Context, _ *quic.Conn) context.Context {
			return withGate(ctx, job.schedule())
		},
	}
}

// configure switches qlog on where there is a folder for it.
func (q *qlogs) configure(config *quic.Config) {
	if q.folder != "" {
		config.Tracer = q.trace
	}
}

// trace is quic.Config's Tracer. A file that cannot be made costs the log, not the transfer.
func (q *qlogs) trace(_ context.Context, side logging.Perspective, id quic.ConnectionID) *logging.ConnectionTracer {
	file, err := q.create(id.String(), side == logging.PerspectiveClient)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return nil
	}
	return qlog.NewConnectionTracer(file, side, id)
}
