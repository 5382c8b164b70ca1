// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"

	"github.com/quic-go/quic-go"
)

// Bounds of the libraries, which put their own value in the place of one outside without a word.
const (
	minPayload     = 1200
	maxPayload     = 1452
	initialWindow  = 65535 // of an HTTP/2 connection (RFC 9113 section 6.9.2)
	maxStreamLimit = math.MaxInt32
)

// knobs are what client and server share. nil is the library's own.
type knobs struct {
	CongestionControl *string  `json:"congestion_control"`
	ConnectionWindow  *int64   `json:"connection_window_bytes"`
	StreamWindow      *int64   `json:"stream_window_bytes"`
	Groups            []string `json:"groups"`
	TLSVersion        *string  `json:"tls_version"`
	GSO               *bool    `json:"gso"`
	ECN               *bool    `json:"ecn"`
	MaxPayload        *int64   `json:"max_payload_bytes"`
	PathMTUDiscovery  *bool    `json:"path_mtu_discovery"`
}

var groups = map[string]tls.CurveID{
	"x25519":         tls.X25519,
	"secp256r1":      tls.CurveP256,
	"secp384r1":      tls.CurveP384,
	"x25519mlkem768": tls.X25519MLKEM768,
}

var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// check refuses what none of the protocols can have and values that the libraries would replace by their own.
func (k *knobs) check(role string, protocols []string) error {
	h2, h3 := slices.Contains(protocols, "h2"), slices.Contains(protocols, "h3")
	switch {
	case k.CongestionControl != nil && !h3:
		return badJob{"congestion_control over TCP is the kernel's"}
	case k.CongestionControl != nil && *k.CongestionControl != "reno":
		return badJob{fmt.Sprintf("quic-go's congestion control is reno only, not %q", *k.CongestionControl)}
	case k.TLSVersion != nil && !h2:
		return badJob{"QUIC is TLS 1.3 always: tls_version cannot be set"}
	case k.TLSVersion != nil && tlsVersions[*k.TLSVersion] == 0:
		return badJob{fmt.Sprintf("tls_version %q is none of 1.2, 1.3", *k.TLSVersion)}
	case (k.GSO != nil || k.ECN != nil || k.MaxPayload != nil || k.PathMTUDiscovery != nil) && !h3:
		return badJob{"gso, ecn, max_payload and path_mtu_discovery are of UDP"}
	case k.MaxPayload != nil && k.PathMTUDiscovery != nil && *k.PathMTUDiscovery:
		return badJob{"max_payload fixes the size: path_mtu_discovery finds no other"}
	case k.MaxPayload != nil && !canFixPayload:
		return badJob{"this release of quic-go has no max_payload"}
	case k.MaxPayload != nil && (*k.MaxPayload < minPayload || *k.MaxPayload > maxPayload):
		return badJob{fmt.Sprintf("max_payload is %d to %d bytes", minPayload, maxPayload)}
	case k.StreamWindow != nil && (*k.StreamWindow < 1 || *k.StreamWindow > math.MaxInt32):
		return badJob{fmt.Sprintf("stream_window is 1 to %d bytes", math.MaxInt32)}
	}
	least := int64(1)
	if h2 {
		least = leastConnectionWindow(role)
	}
	if k.ConnectionWindow != nil && (*k.ConnectionWindow < least || *k.ConnectionWindow > math.MaxInt32) {
		return badJob{fmt.Sprintf("connection_window is %d to %d bytes", least, math.MaxInt32)}
	}
	for _, name := range k.Groups {
		if groups[name] == 0 {
			return badJob{fmt.Sprintf("group %q is none of x25519 secp256r1 secp384r1 x25519mlkem768", name)}
		}
	}
	return nil
}

// leastConnectionWindow is twice HTTP/2's initial window for clients: Go's adds its own setting to the initial one,
// and takes a setting below the initial one for none.
func leastConnectionWindow(role string) int64 {
	if role == "client" {
		return 2 * initialWindow
	}
	return initialWindow
}

// tlsConfig is the part that both roles and both protocols share.
func (k *knobs) tlsConfig() *tls.Config {
	config := &tls.Config{}
	for _, name := range k.Groups {
		config.CurvePreferences = append(config.CurvePreferences, groups[name])
	}
	if k.TLSVersion != nil {
		config.MinVersion = tlsVersions[*k.TLSVersion]
		config.MaxVersion = config.MinVersion
	}
	return config
}

// quicConfig fixes a window that is given: neither tuned nor grown.
func (k *knobs) quicConfig() *quic.Config {
	config := &quic.Config{}
	config.Versions = append(config.Versions, quic.Version1)
	if k.StreamWindow != nil {
		config.InitialStreamReceiveWindow = uint64(*k.StreamWindow)
		config.MaxStreamReceiveWindow = uint64(*k.StreamWindow)
	}
	if k.ConnectionWindow != nil {
		config.InitialConnectionReceiveWindow = uint64(*k.ConnectionWindow)
		config.MaxConnectionReceiveWindow = uint64(*k.ConnectionWindow)
	}
	if k.MaxPayload != nil {
		fixPayload(config, *k.MaxPayload)
	}
	if k.PathMTUDiscovery != nil && !*k.PathMTUDiscovery {
		config.DisablePathMTUDiscovery = true
	}
	return config
}

func (k *knobs) http2Config(role string) *http.HTTP2Config {
	config := &http.HTTP2Config{}
	if k.StreamWindow != nil {
		config.MaxReceiveBufferPerStream = int(*k.StreamWindow)
	}
	if k.ConnectionWindow != nil {
		config.MaxReceiveBufferPerConnection = int(*k.ConnectionWindow)
		if role == "client" {
			config.MaxReceiveBufferPerConnection -= initialWindow
		}
	}
	return config
}

// applyToProcess sets what quic-go reads from the environment only.
func (k *knobs) applyToProcess() error {
	for name, wanted := range map[string]*bool{"QUIC_GO_DISABLE_GSO": k.GSO, "QUIC_GO_DISABLE_ECN": k.ECN} {
		if wanted != nil && !*wanted {
			if err := os.Setenv(name, "true"); err != nil {
				return err
			}
		}
	}
	return nil
}
