// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const canSchedule = false

func (job *serverJob) newServer(handler http.Handler, config *tls.Config, settings *quic.Config) *http3.Server {
	return &http3.Server{Handler: handler, TLSConfig: config, QuicConfig: settings}
}
