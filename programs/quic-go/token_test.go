// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"testing"
	"time"
)

// A token goes through the file of a session, and is handed out once.
func TestTokensComeAgainOnce(t *testing.T) {
	first, err := newTokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	if first.Pop("server.test") != nil {
		t.Error("a token out of nothing")
	}
	given, err := newTokens(&tokenFields{[]byte("token"), 40 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first.Put("server.test", given.Pop("server.test"))
	kept := fieldsOf(<-first.received)
	if string(kept.data) != "token" || kept.rtt != 40*time.Millisecond {
		t.Errorf("%+v", kept)
	}
	if given.Pop("server.test") != nil {
		t.Error("a token twice")
	}
}

// A first visit waits for the token that is to come along.
func TestFirstVisitWithoutToken(t *testing.T) {
	job := &clientJob{Priming: true, AddressToken: true, Session: "early_data"}
	current, err := job.openSession()
	if err != nil || current.tokens == nil {
		t.Fatal(current, err)
	}
	current.received <- ticket{&tls.ClientSessionState{}, time.Now()}
	if err := awaitTicket(job, current); err == nil {
		t.Error("it went on without")
	}
}
