// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/quic-go/quic-go"
)

// earlyRequests sends in 0-RTT data what is asked for before the handshake is complete. Where the server leaves these,
// all that was sent is lost, and the same connection begins anew (RFC 9001 section 4.6.2).
//
// A response is not asked for before the handshake has told which of the two it is: http3 would answer the end of a
// first stream by a reset under its number, which a new stream has as well.
type earlyRequests struct {
	visit   *h3Visit
	quic    quicConnection
	http    *httpConnection
	settle  sync.Once
	settled *httpConnection
	failure error
}

func (e *earlyRequests) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	var stream requestStream
	select {
	case <-e.quic.HandshakeComplete():
	default:
		var err error
		if stream, err = e.send(ctx, request); err != nil && !errors.Is(err, quic.Err0RTTRejected) {
			return nil, err
		}
	}
	connection, err := e.afterHandshake(ctx)
	if err != nil {
		return nil, err
	}
	if stream != nil && connection == e.http {
		return stream.ReadResponse()
	}
	return connection.RoundTrip(request)
}

func (e *earlyRequests) send(ctx context.Context, request *http.Request) (requestStream, error) {
	stream, err := e.http.OpenRequestStream(ctx)
	if err != nil {
		return nil, err
	}
	if err := stream.SendRequestHeader(request); err != nil {
		return nil, err
	}
	return stream, stream.Close()
}

// afterHandshake returns the connection as it is, or begun anew.
func (e *earlyRequests) afterHandshake(ctx context.Context) (*httpConnection, error) {
	select {
	case <-e.quic.HandshakeComplete():
	case <-e.quic.Context().Done():
		return nil, context.Cause(e.quic.Context())
	}
	e.settle.Do(func() {
		e.settled = e.http
		if !e.quic.ConnectionState().Used0RTT {
			e.visit.conn, e.failure = nextConnection(ctx, e.quic)
			if e.failure == nil {
				e.settled = e.visit.http.NewClientConn(e.visit.conn)
			}
		}
	})
	return e.settled, e.failure
}
