// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// sessionFile is one TLS session on disk. quic-go keeps the server's transport parameters, which 0-RTT needs, in the
// state.
type sessionFile struct {
	Protocol string    `json:"protocol"`
	Received time.Time `json:"received"`
	Ticket   []byte    `json:"ticket"`
	State    []byte    `json:"state"`
	// Address token; none: the visitor comes without.
	Token    []byte        `json:"token,omitempty"`
	TokenRTT time.Duration `json:"token_rtt_ns,omitempty"`
}

// session is the tls.ClientSessionCache of one connection: hands out what was loaded, passes on what the server sends.
type session struct {
	loaded    *tls.ClientSessionState
	earlyData bool // the loaded ticket allows it
	fraction  time.Duration
	received  chan ticket
	tokens    *tokens // nil: comes without
}

type ticket struct {
	state *tls.ClientSessionState
	at    time.Time
}

func newSession() *session {
	return &session{received: make(chan ticket, 1)}
}

// Get hands out the loaded session, whatever the key: there is one server.
func (s *session) Get(string) (*tls.ClientSessionState, bool) { return s.loaded, s.loaded != nil }

// Put passes the first ticket on. nil is the TLS library's word for a session that was used.
func (s *session) Put(_ string, state *tls.ClientSessionState) {
	if state == nil {
		return
	}
	select {
	case s.received <- ticket{state, time.Now()}:
	default:
	}
}

// now is the clock for a connection that resumes. Go's TLS notes the second in which a ticket arrived and so tells the
// server an age that is up to a second too high, for which some refuse early data (RFC 8446 section 8.3). A clock that
// is behind by the fraction of that second makes the age right.
func (s *session) now() time.Time { return time.Now().Add(-s.fraction) }

func loadSession(path, protocol string) (*session, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("no session to resume: %w", err)
	}
	var file sessionFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("no session to resume: %s: %w", path, err)
	}
	if file.Protocol != protocol {
		return nil, fmt.Errorf("no session to resume: that in %s is of %s", path, file.Protocol)
	}
	state, err := tls.ParseSessionState(file.State)
	if err != nil {
		return nil, fmt.Errorf("no session to resume: %s: %w", path, err)
	}
	loaded, err := tls.NewResumptionState(file.Ticket, state)
	if err != nil {
		return nil, fmt.Errorf("no session to resume: %s: %w", path, err)
	}
	s := newSession()
	s.loaded, s.earlyData = loaded, state.EarlyData
	s.fraction = time.Duration(file.Received.Nanosecond())
	if len(file.Token) > 0 {
		if s.tokens, err = newTokens(&tokenFields{file.Token, file.TokenRTT}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func saveSession(path, protocol string, received ticket, token *tokenFields) error {
	identity, state, err := received.state.ResumptionState()
	if err != nil {
		return err
	}
	if state == nil {
		return errors.New("the server's session cannot be resumed")
	}
	bytes, err := state.Bytes()
	if err != nil {
		return err
	}
	file := sessionFile{Protocol: protocol, Received: received.at, Ticket: identity, State: bytes}
	if token != nil {
		file.Token, file.TokenRTT = token.data, token.rtt
	}
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
