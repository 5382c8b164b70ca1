// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/logging"
	"github.com/quic-go/quic-go/qlog"
)

// In the place of programs/quic-go/library.go: releases of quic-go whose connections are interfaces.

type quicConnection = quic.EarlyConnection

// dialQUIC returns before the handshake is complete if `early`.
func dialQUIC(
	ctx context.Context, from *quic.Transport, to net.Addr, config *tls.Config, settings *quic.Config, early bool,
) (quicConnection, error) {
	if early {
		return from.DialEarly(ctx, to, config, settings)
	}
	connection, err := from.Dial(ctx, to, config, settings)
	if err != nil {
		return nil, err
	}
	return connection.(quic.EarlyConnection), nil
}

const canSwitchPath = false

func switchPath(context.Context, quicConnection, *net.UDPConn) error {
	return errors.New("this release of quic-go cannot move to another path")
}

// configure switches qlog on where there is a folder for it.
func (q *qlogs) configure(config *quic.Config) {
	if q.folder != "" {
		config.Tracer = q.trace
	}
}

// trace is quic.Config's Tracer. A file that cannot be made costs the log, not the transfer.
func (q *qlogs) trace(_ context.Context, side logging.Perspective, id quic.ConnectionID) *logging.ConnectionTracer {
	file, err := q.create(id.String(), side == logging.PerspectiveClient)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return nil
	}
	return qlog.NewConnectionTracer(file, side, id)
}
