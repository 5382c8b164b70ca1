// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/quic-go/quic-go"

const canFixPayload = true

// fixPayload keeps the UDP payload of datagrams at one size.
func fixPayload(config *quic.Config, size int64) {
	config.InitialPacketSize = uint16(size)
	config.DisablePathMTUDiscovery = true
}
