// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	// What a response writes before the next one is chosen.
	quantum = 8 << 10
	// RFC 9218 section 4.1.
	defaultUrgency = 3
	leastUrgent    = 7
)

// schedule says whose turn it is among the responses of a connection, over HTTP/2 and HTTP/3 alike.
type schedule struct {
	// One response after the other, in the order of their requests; else all in turns.
	fifo bool
	// The more urgent ones go first (RFC 9218). Among equals `fifo` decides, and not what they say of themselves.
	obey bool
}

// gate lets one response of a connection write at a time. A write ends when the transport has taken its bytes, so that
// no more of them are queued behind the gate than the transport sends next.
type gate struct {
	schedule
	mutex   sync.Mutex
	open    bool
	count   uint64
	waiting []*turn
}

// turn is one response that has something to write.
type turn struct {
	urgency int
	arrived uint64
	served  uint64
	begin   chan struct{}
}

func newGate(schedule schedule) *gate { return &gate{schedule: schedule, open: true} }

func (g *gate) number() uint64 {
	g.count++
	return g.count
}

// arrive takes a place in the order of requests.
func (g *gate) arrive(urgency int) *turn {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	number := g.number()
	return &turn{urgency: urgency, arrived: number, served: number, begin: make(chan struct{}, 1)}
}

// enter waits for the first turn.
func (g *gate) enter(t *turn) {
	g.mutex.Lock()
	g.waiting = append(g.waiting, t)
	if g.open {
		g.next()
	}
	g.mutex.Unlock()
	<-t.begin
}

// again offers the gate to the others and waits for the next turn.
func (g *gate) again(t *turn) {
	g.mutex.Lock()
	t.served = g.number()
	g.waiting = append(g.waiting, t)
	g.next()
	g.mutex.Unlock()
	<-t.begin
}

// leave is called once, by the response that has the turn.
func (g *gate) leave() {
	g.mutex.Lock()
	g.next()
	g.mutex.Unlock()
}

func (g *gate) next() {
	g.open = len(g.waiting) == 0
	if g.open {
		return
	}
	first := slices.MinFunc(g.waiting, g.compare)
	g.waiting = slices.DeleteFunc(g.waiting, func(t *turn) bool { return t == first })
	first.begin <- struct{}{}
}

func (g *gate) compare(a, b *turn) int {
	if g.obey && a.urgency != b.urgency {
		return cmp.Compare(a.urgency, b.urgency)
	}
	if g.fifo {
		return cmp.Compare(a.arrived, b.arrived)
	}
	return cmp.Compare(a.served, b.served)
}

type gateKey struct{}

func withGate(ctx context.Context, schedule *schedule) context.Context {
	if schedule == nil {
		return ctx
	}
	return context.WithValue(ctx, gateKey{}, newGate(*schedule))
}

// copyInTurn writes a body as the connection's gate has it, or as the libraries do where there is none.
func copyInTurn(response http.ResponseWriter, body io.Reader, size int64, request *http.Request) {
	to, end := offered(request.Context(), response, size)
	defer end()
	g, scheduled := request.Context().Value(gateKey{}).(*gate)
	if !scheduled {
		_, _ = io.CopyN(to, body, size) // a client that has gone is its own affair
		return
	}
	t := g.arrive(urgencyOf(request.Header.Get("Priority")))
	g.enter(t)
	defer g.leave()
	part := make([]byte, quantum)
	for size > 0 {
		count, err := io.ReadFull(body, part[:min(size, quantum)])
		if err != nil {
			return
		}
		if _, err := to.Write(part[:count]); err != nil {
			return
		}
		if flusher, can := response.(http.Flusher); can {
			flusher.Flush()
		}
		if size -= int64(count); size > 0 {
			g.again(t)
		}
	}
}

// urgencyOf reads the `u` of a Priority header field, a dictionary of structured fields (RFC 9218 section 4.1).
func urgencyOf(field string) int {
	urgency := defaultUrgency
	for member := range strings.SplitSeq(field, ",") {
		value, found := strings.CutPrefix(strings.TrimSpace(member), "u=")
		if !found {
			continue
		}
		if number, err := strconv.Atoi(value); err == nil && number >= 0 && number <= leastUrgent {
			urgency = number
		}
	}
	return urgency
}
