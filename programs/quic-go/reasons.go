// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
	"github.com/quic-go/quic-go/qlogwriter/jsontext"
)

// Reasons why an endpoint does not send, as qlog's events *_data_blocked_updated have them. Pacing is not among them:
// quic-go tells nobody when its pacer makes it wait.
const (
	ofApplication   = "application"
	ofAmplification = "amplification_protection"
	ofWindow        = "congestion_control"
	ofConnection    = "connection_flow_control"
	ofStream        = "stream_flow_control"
	ofStreamCount   = "stream_id"
)

const (
	unknown = -1
	// RFC 9000 section 8.1.
	amplificationFactor = 3
)

// limit is one thing that can hold a connection or a stream back. Each has a state of its own: several may hold at once.
type limit struct {
	stream quic.StreamID // unknown: the connection
	reason string
}

// reasons is the trace of a connection that adds to quic-go's own events why the connection does not send: what
// quic-go announces in frames (credit), what follows from its numbers by its own rules (window, amplification), and what
// the program has to write.
type reasons struct {
	qlogwriter.Trace
	isServer bool

	mutex     sync.Mutex
	recorder  qlogwriter.Recorder // quic-go's own, while it is open
	blocked   map[limit]int64
	validated bool
	sent      int
	received  int
	ready     int64
}

func withReasons(trace qlogwriter.Trace, isClient bool) *reasons {
	return &reasons{Trace: trace, isServer: !isClient, blocked: map[limit]int64{}}
}

// AddProducer wraps the first one, which is the connection's; those of HTTP/3 tell of no packets.
func (r *reasons) AddProducer() qlogwriter.Recorder {
	recorder := r.Trace.AddProducer()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if recorder == nil || r.recorder != nil {
		return recorder
	}
	r.recorder = recorder
	return r
}

// Close is called when the connection has ended; what the program writes after that goes nowhere.
func (r *reasons) Close() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	recorder := r.recorder
	r.recorder = closedRecorder{}
	return recorder.Close()
}

type closedRecorder struct{}

func (closedRecorder) RecordEvent(qlogwriter.Event) {}
func (closedRecorder) Close() error                 { return nil }

func (r *reasons) RecordEvent(event qlogwriter.Event) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.recorder.RecordEvent(event)
	switch event := event.(type) {
	case qlog.MetricsUpdated:
		// quic-go sends data while less is in flight than the window (its SendMode).
		window := limit{unknown, ofWindow}
		r.set(window, event.BytesInFlight >= event.CongestionWindow, int64(event.CongestionWindow), true)
	case qlog.PacketSent:
		r.sent += max(event.Raw.Length, 0)
		r.amplify()
		for _, frame := range event.Frames {
			r.announced(frame.Frame)
		}
	case qlog.PacketReceived:
		r.received += max(event.Raw.Length, 0)
		r.validated = r.validated || event.Header.PacketType == qlog.PacketTypeHandshake
		r.amplify()
		for _, frame := range event.Frames {
			r.allowed(frame.Frame)
		}
	}
}

// amplify follows the limit of a server that does not know yet whether the client's address is its own.
func (r *reasons) amplify() {
	if r.isServer {
		most := amplificationFactor * r.received
		r.set(limit{unknown, ofAmplification}, !r.validated && r.sent >= most, int64(most), true)
	}
}

// announced is for a frame that was sent: quic-go writes these when it has data and no credit.
func (r *reasons) announced(frame any) {
	switch frame := frame.(type) {
	case *qlog.DataBlockedFrame:
		r.set(limit{unknown, ofConnection}, true, int64(frame.MaximumData), false)
	case *qlog.StreamDataBlockedFrame:
		r.set(limit{frame.StreamID, ofStream}, true, int64(frame.MaximumStreamData), false)
	case *qlog.StreamsBlockedFrame:
		r.set(limit{unknown, ofStreamCount}, true, int64(frame.StreamLimit), false)
	}
}

// allowed is for a frame that came: a higher limit ends what was announced.
func (r *reasons) allowed(frame any) {
	switch frame := frame.(type) {
	case *qlog.MaxDataFrame:
		r.raise(limit{unknown, ofConnection}, int64(frame.MaximumData))
	case *qlog.MaxStreamDataFrame:
		r.raise(limit{frame.StreamID, ofStream}, int64(frame.MaximumStreamData))
	case *qlog.MaxStreamsFrame:
		r.raise(limit{unknown, ofStreamCount}, int64(frame.MaxStreamNum))
	}
}

func (r *reasons) raise(of limit, to int64) {
	if at, blocked := r.blocked[of]; blocked && to > at {
		r.set(of, false, to, false)
	}
}

// set writes an event where the state changes, or where it is held back again at another limit.
func (r *reasons) set(of limit, blocked bool, at int64, inferred bool) {
	before, was := r.blocked[of]
	if blocked == was && (!blocked || at == before || inferred) {
		return
	}
	if blocked {
		r.blocked[of] = at
	} else {
		delete(r.blocked, of)
	}
	r.recorder.RecordEvent(blockedUpdated{of, was, blocked, at, r.ready, inferred})
}

// offer notes that the program has so many more bytes to write, or fewer.
func (r *reasons) offer(bytes int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ready += bytes
	if r.recorder != nil {
		r.set(limit{unknown, ofApplication}, r.ready == 0, unknown, false)
	}
}

// blockedUpdated is quic:connection_data_blocked_updated or quic:stream_data_blocked_updated
// (draft-ietf-quic-qlog-quic-events-13 section 5); `limit`, `ready_bytes` and `inferred` are quiclab's own.
type blockedUpdated struct {
	of       limit
	was      bool
	is       bool
	at       int64
	ready    int64
	inferred bool
}

func (e blockedUpdated) Name() string {
	if e.of.stream == unknown {
		return "quic:connection_data_blocked_updated"
	}
	return "quic:stream_data_blocked_updated"
}

func (e blockedUpdated) Encode(encoder *jsontext.Encoder, _ time.Time) error {
	tokens := []jsontext.Token{
		jsontext.BeginObject,
		jsontext.String("old"), jsontext.String(stateName(e.was)),
		jsontext.String("new"), jsontext.String(stateName(e.is)),
		jsontext.String("reason"), jsontext.String(e.of.reason),
		jsontext.String("inferred"), jsontext.Bool(e.inferred),
		jsontext.String("ready_bytes"), jsontext.Uint(uint64(e.ready)),
	}
	if e.of.stream != unknown {
		tokens = append(tokens, jsontext.String("stream_id"), jsontext.Uint(uint64(e.of.stream)))
	}
	if e.at != unknown {
		tokens = append(tokens, jsontext.String("limit"), jsontext.Uint(uint64(e.at)))
	}
	for _, token := range append(tokens, jsontext.EndObject) {
		if err := encoder.WriteToken(token); err != nil {
			return err
		}
	}
	return nil
}

func stateName(blocked bool) string {
	if blocked {
		return "blocked"
	}
	return "unblocked"
}

type reasonsKey struct{}

// forReasons hands the connection's trace to what writes on it, where it has one.
func forReasons(ctx context.Context, connection *quic.Conn) context.Context {
	trace, found := connection.QlogTrace().(*reasons)
	if !found {
		return ctx
	}
	trace.offer(0)
	return context.WithValue(ctx, reasonsKey{}, trace)
}

// offered is a body that counts as ready to be written: the whole of it from the beginning, less with each write that
// the transport has taken. The function ends what is left of it.
func offered(ctx context.Context, to io.Writer, size int64) (io.Writer, func()) {
	trace, found := ctx.Value(reasonsKey{}).(*reasons)
	if !found || size == 0 {
		return to, func() {}
	}
	trace.offer(size)
	body := &offeredBody{to, trace, size}
	return body, func() { trace.offer(-body.left) }
}

type offeredBody struct {
	io.Writer
	trace *reasons
	left  int64
}

func (b *offeredBody) Write(part []byte) (int, error) {
	count, err := b.Writer.Write(part)
	b.left -= int64(count)
	b.trace.offer(-int64(count))
	return count, err
}
