// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"

	"github.com/quic-go/quic-go/http3"
)

// earlyRequests sends in 0-RTT data what is asked for. Where the server leaves it, the request fails: this release's
// http3 ends the lost stream under the number that a new stream would have.
type earlyRequests struct {
	visit *h3Visit
	quic  quicConnection
	http  *httpConnection
}

func (e *earlyRequests) RoundTrip(request *http.Request) (*http.Response, error) {
	early := request.Clone(request.Context())
	early.Method = http3.MethodGet0RTT
	return e.http.RoundTrip(early)
}
