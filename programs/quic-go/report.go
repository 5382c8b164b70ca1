// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// report is the client's own account; all instants are CLOCK_MONOTONIC in nanoseconds.
type report struct {
	Version  int               `json:"version"`
	Versions map[string]string `json:"versions"`
	Requests []*request        `json:"requests"`
	CloseNs  int64             `json:"close_ns"`
}

type request struct {
	URL               string  `json:"url"`
	Protocol          string  `json:"protocol"`
	StartNs           int64   `json:"start_ns"`
	FirstByteNs       *int64  `json:"first_byte_ns"`
	LastByteNs        int64   `json:"last_byte_ns"`
	CloseNs           int64   `json:"close_ns"`
	Status            int     `json:"status"`
	HTTPVersion       string  `json:"http_version"`
	BodyBytes         int     `json:"body_bytes"`
	SHA256            string  `json:"sha256"`
	CongestionControl *string `json:"congestion_control"`
	ALPN              string  `json:"alpn"`
	TLSGroup          string  `json:"tls_group,omitempty"`
	HelloRetryRequest *bool   `json:"hello_retry_request,omitempty"`
	Resumed           *bool   `json:"resumed,omitempty"`
	EarlyData         string  `json:"early_data,omitempty"`
	Migrated          *bool   `json:"migrated,omitempty"`
	MigrationFailure  string  `json:"migration_failure,omitempty"`
	Error             string  `json:"error,omitempty"`

	whole bool // the others of its connection cannot spoil it
}

// noteTLS takes over what the handshake agreed on.
func (r *request) noteTLS(state *tls.ConnectionState) {
	r.ALPN = state.NegotiatedProtocol
	r.Resumed = new(state.DidResume)
	r.HelloRetryRequest = new(state.HelloRetryRequest)
	if state.CurveID != 0 {
		r.TLSGroup = groupName(state.CurveID)
	}
}

func (r *request) noteBody(body []byte) {
	sum := sha256.Sum256(body)
	r.BodyBytes = len(body)
	r.SHA256 = hex.EncodeToString(sum[:])
}

// end fills in what a failure left open.
func (r *request) end(failure error) {
	now := monotonicNs()
	if r.LastByteNs == 0 {
		r.LastByteNs = now
	}
	if r.CloseNs == 0 {
		r.CloseNs = now
	}
	if r.SHA256 == "" {
		r.noteBody(nil)
	}
	if r.StartNs == 0 {
		r.StartNs = r.LastByteNs
	}
	if failure != nil && r.Error == "" && !r.whole {
		r.Error = oneLine(failure)
	}
}

func writeReport(path string, requests []*request) error {
	last := requests[len(requests)-1]
	account := report{Version: 1, Versions: versions(), Requests: requests, CloseNs: last.CloseNs}
	text, err := json.MarshalIndent(account, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func groupName(group tls.CurveID) string {
	for name, known := range groups {
		if known == group {
			return name
		}
	}
	return strings.ToLower(group.String())
}

func monotonicNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return now.Nano()
}
