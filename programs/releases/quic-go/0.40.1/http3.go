// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// httpTransport makes HTTP/3 connections out of QUIC's, which this release's http3 dials itself.
type httpTransport struct{ DisableCompression bool }

type httpConnection = http3.RoundTripper

// NewClientConn is as that of later releases.
func (t *httpTransport) NewClientConn(connection quicConnection) *httpConnection {
	dialled := func(context.Context, string, *tls.Config, *quic.Config) (quic.EarlyConnection, error) {
		return connection, nil
	}
	return &http3.RoundTripper{DisableCompression: t.DisableCompression, Dial: dialled}
}

const (
	canFixPayload = false
	canSchedule   = false
)

// fixPayload has nothing to set.
func fixPayload(*quic.Config, int64) {}

func (job *serverJob) newServer(handler http.Handler, config *tls.Config, settings *quic.Config) *http3.Server {
	return &http3.Server{Handler: handler, TLSConfig: config, QuicConfig: settings}
}
