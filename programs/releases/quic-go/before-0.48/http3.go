// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// httpTransport makes HTTP/3 connections out of QUIC's, which the http3 of these releases dials itself.
type httpTransport struct{ DisableCompression bool }

type httpConnection = http3.RoundTripper

// NewClientConn is as that of later releases.
func (t *httpTransport) NewClientConn(connection quicConnection) *httpConnection {
	dialled := func(context.Context, string, *tls.Config, *quic.Config) (quic.EarlyConnection, error) {
		return connection, nil
	}
	return &http3.RoundTripper{DisableCompression: t.DisableCompression, Dial: dialled}
}
