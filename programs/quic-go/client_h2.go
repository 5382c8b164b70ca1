// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
)

// h2Visit is HTTP/2 of Go's own net/http.
type h2Visit struct {
	transport *http.Transport
	authority string
	shared    *http.ClientConn
}

func newH2Visit(job *clientJob, config *tls.Config) *h2Visit {
	address := net.JoinHostPort(job.Address, strconv.Itoa(job.Port))
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
		TLSClientConfig:    config,
		Protocols:          protocols,
		HTTP2:              job.http2Config("client"),
		DisableCompression: true,
	}
	return &h2Visit{transport: transport, authority: net.JoinHostPort(job.Host, strconv.Itoa(job.Port))}
}

func (v *h2Visit) get(ctx context.Context, request *http.Request) (*http.Response, error) {
	return v.transport.RoundTrip(request.WithContext(ctx))
}

func (v *h2Visit) connect(ctx context.Context) (http.RoundTripper, error) {
	connection, err := v.transport.NewClientConn(ctx, "https", v.authority)
	if err != nil {
		return nil, err
	}
	v.shared = connection
	return connection, nil
}

func (v *h2Visit) progress(int64) {}

func (v *h2Visit) note(*request) {}

func (v *h2Visit) close() {
	if v.shared != nil {
		_ = v.shared.Close()
	}
	v.transport.CloseIdleConnections()
}
