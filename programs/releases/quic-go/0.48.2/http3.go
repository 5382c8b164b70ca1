// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

type (
	httpTransport  = http3.Transport
	httpConnection = http3.ClientConn
	requestStream  = http3.RequestStream
)

const (
	canFixPayload = true
	canSchedule   = true
)

// nextConnection is the one that begins where the server has left the early data.
func nextConnection(ctx context.Context, rejected quicConnection) (quicConnection, error) {
	next, err := rejected.NextConnection(ctx)
	if err != nil {
		return nil, err
	}
	return next.(quic.EarlyConnection), nil
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
		ConnContext: func(ctx context.Context, _ quic.Connection) context.Context {
			return withGate(ctx, job.schedule())
		},
	}
}
