// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A session that is not there, not whole or of the other protocol is told as such.
func TestUnusableSessions(t *testing.T) {
	for text, reason := range map[string]string{
		`{`: "unexpected end",
		`{"protocol": "h2", "ticket": "", "state": ""}`:         "is of h2",
		`{"protocol": "h3", "ticket": "AAAA", "state": "AAAA"}`: "invalid session",
	} {
		if _, err := loadSession(write(t, text), "h3"); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := loadSession(filepath.Join(t.TempDir(), "none"), "h3"); err == nil {
		t.Error("a session out of nothing")
	}
}
