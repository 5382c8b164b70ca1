// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

type (
	httpTransport  = http3.Transport
	httpConnection = http3.ClientConn
	requestStream  = http3.RequestStream
)

// nextConnection is the one that begins where the server has left the early data.
func nextConnection(ctx context.Context, rejected quicConnection) (quicConnection, error) {
	next, err := rejected.NextConnection(ctx)
	if err != nil {
		return nil, err
	}
	return next.(quic.EarlyConnection), nil
}
