// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"net/http"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const canSchedule = true

func (job *serverJob) newServer(handler http.Handler, config *tls.Config, settings *quic.Config) *http3.Server {
	return &http3.Server{
		Handler:    handler,
		TLSConfig:  config,
		QuicConfig: settings,
		ConnContext: func(ctx context.Context, _ quic.Connection) context.Context {
			return withGate(ctx, job.schedule())
		},
	}
}
