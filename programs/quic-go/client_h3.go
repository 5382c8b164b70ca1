// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// h3Visit is HTTP/3 over quic-go. The connection is dialled here and not by http3.Transport, because migration needs
// its sockets.
type h3Visit struct {
	job       *clientJob
	tls       *tls.Config
	quic      *quic.Config
	offer     bool // the request goes in 0-RTT data
	http      *httpTransport
	socket    *net.UDPConn
	transport *quic.Transport
	conn      quicConnection
	migration migration
}

func newH3Visit(job *clientJob, config *tls.Config, current *session, logs *qlogs) *h3Visit {
	config.NextProtos = []string{http3.NextProtoH3}
	v := &h3Visit{
		job:   job,
		tls:   config,
		quic:  job.quicConfig(),
		offer: job.Session == "early_data" && !job.Priming && current.earlyData,
		http:  &httpTransport{DisableCompression: true},
	}
	// As http3.Transport dials.
	v.quic.MaxIncomingStreams = -1
	v.quic.KeepAlivePeriod = 10 * time.Second
	if current.tokens != nil {
		v.quic.TokenStore = current.tokens
	}
	logs.configure(v.quic)
	return v
}

func (v *h3Visit) get(ctx context.Context, request *http.Request) (*http.Response, error) {
	connection, err := v.connect(ctx)
	if err != nil {
		return nil, err
	}
	return connection.RoundTrip(request.WithContext(ctx))
}

func (v *h3Visit) connect(ctx context.Context) (http.RoundTripper, error) {
	if err := v.dial(ctx); err != nil {
		return nil, err
	}
	connection := v.http.NewClientConn(v.conn)
	if v.offer {
		return &earlyRequests{visit: v, quic: v.conn, http: connection}, nil
	}
	return connection, nil
}

func (v *h3Visit) dial(ctx context.Context) error {
	server := &net.UDPAddr{IP: net.ParseIP(v.job.Address), Port: v.job.Port}
	socket, err := openSocket(server)
	if err != nil {
		return err
	}
	v.socket, v.transport = socket, &quic.Transport{Conn: socket}
	v.conn, err = dialQUIC(ctx, v.transport, server, v.tls, v.quic, v.offer)
	return err
}

// openSocket takes a port of the kernel's choice in the server's address family.
func openSocket(server *net.UDPAddr) (*net.UDPConn, error) {
	network := "udp6"
	if server.IP.To4() != nil {
		network = "udp4"
	}
	return net.ListenUDP(network, nil)
}

func (v *h3Visit) progress(total int64) {
	if v.job.Migration != "" && !v.migration.begun && total >= v.job.MigrateAt {
		v.migration.begin(v)
	}
}

func (v *h3Visit) note(r *request) {
	if v.conn == nil {
		return
	}
	state := v.conn.ConnectionState()
	r.noteTLS(&state.TLS)
	r.CongestionControl = new("reno")
	switch {
	case !v.offer:
		r.EarlyData = "not_offered"
	case state.Used0RTT:
		r.EarlyData = "accepted"
	default:
		r.EarlyData = "rejected"
	}
	if v.job.Migration != "" {
		v.migration.note(r)
	}
}

func (v *h3Visit) close() {
	if v.conn != nil {
		_ = v.conn.CloseWithError(0, "")
	}
	if v.transport != nil {
		_ = v.transport.Close()
		_ = v.socket.Close()
	}
	v.migration.close()
}
