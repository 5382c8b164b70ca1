// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"reflect"
	"time"
	"unsafe"

	"github.com/quic-go/quic-go"
)

// tokens is the quic.TokenStore of one connection: hands out the address token (RFC 9000 section 8.1.3) that was
// loaded, passes on the one that the server sends.
type tokens struct {
	loaded   *quic.ClientToken
	received chan *quic.ClientToken
}

// tokenFields are those of quic.ClientToken, which has no other way from one process to another.
type tokenFields struct {
	data []byte
	rtt  time.Duration
}

var errTokenFields = errors.New("this release of quic-go keeps address tokens in a form that is not known here")

// newTokens has a token to hand out, or none yet.
func newTokens(loaded *tokenFields) (*tokens, error) {
	kept, ours := reflect.TypeFor[quic.ClientToken](), reflect.TypeFor[tokenFields]()
	if kept.NumField() != ours.NumField() || kept.Size() != ours.Size() {
		return nil, errTokenFields
	}
	for i := range ours.NumField() {
		a, b := kept.Field(i), ours.Field(i)
		if a.Name != b.Name || a.Type != b.Type || a.Offset != b.Offset {
			return nil, errTokenFields
		}
	}
	return &tokens{(*quic.ClientToken)(unsafe.Pointer(loaded)), make(chan *quic.ClientToken, 1)}, nil
}

func fieldsOf(token *quic.ClientToken) *tokenFields { return (*tokenFields)(unsafe.Pointer(token)) }

// Pop hands out the token once, whatever the key: there is one server.
func (t *tokens) Pop(string) *quic.ClientToken {
	token := t.loaded
	t.loaded = nil
	return token
}

// Put passes the first token on.
func (t *tokens) Put(_ string, token *quic.ClientToken) {
	select {
	case t.received <- token:
	default:
	}
}
