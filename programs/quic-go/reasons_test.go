// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
	"github.com/quic-go/quic-go/qlogwriter/jsontext"
)

// heard is a trace that keeps our own events as they are written.
type heard struct{ lines []string }

func (h *heard) AddProducer() qlogwriter.Recorder { return h }
func (h *heard) Close() error                     { return nil }

func (h *heard) RecordEvent(event qlogwriter.Event) {
	if _, own := event.(blockedUpdated); !own {
		return
	}
	text := &bytes.Buffer{}
	if err := event.Encode(jsontext.NewEncoder(text), time.Now()); err != nil {
		panic(err)
	}
	h.lines = append(h.lines, event.Name()+strings.TrimSpace(text.String()))
}

func told(scope, was, is, reason string, inferred bool, ready int, more string) string {
	return fmt.Sprintf(
		`quic:%s_data_blocked_updated{"old":"%s","new":"%s","reason":"%s","inferred":%t,"ready_bytes":%d%s}`,
		scope, was, is, reason, inferred, ready, more,
	)
}

// Every reason begins and ends with what quic-go says of it, once each, whatever else holds meanwhile.
func TestReasonsFollowWhatQuicGoTells(t *testing.T) {
	h := &heard{}
	r := withReasons(h, false)
	connection := r.AddProducer()
	frames := func(each ...any) (made []qlog.Frame) {
		for _, frame := range each {
			made = append(made, qlog.Frame{Frame: frame})
		}
		return made
	}
	receive := func(kind qlog.PacketType, size int, each ...any) {
		connection.RecordEvent(qlog.PacketReceived{
			Header: qlog.PacketHeader{PacketType: kind}, Raw: qlog.RawInfo{Length: size}, Frames: frames(each...),
		})
	}
	send := func(size int, each ...any) {
		connection.RecordEvent(qlog.PacketSent{Raw: qlog.RawInfo{Length: size}, Frames: frames(each...)})
	}
	receive(qlog.PacketTypeInitial, 1200)
	send(3599)
	send(1)
	receive(qlog.PacketTypeHandshake, 50)
	send(9000)
	r.offer(700)
	for _, inFlight := range []int{1199, 1200, 1300, 900} {
		connection.RecordEvent(qlog.MetricsUpdated{CongestionWindow: 1200, BytesInFlight: inFlight})
	}
	r.offer(-600)
	stream := &qlog.StreamDataBlockedFrame{StreamID: 4, MaximumStreamData: 80}
	send(9, &qlog.DataBlockedFrame{MaximumData: 70}, stream, stream)
	receive(qlog.PacketType1RTT, 9, &qlog.MaxDataFrame{MaximumData: 70}, &qlog.MaxStreamDataFrame{
		StreamID: 8, MaximumStreamData: 99,
	})
	receive(qlog.PacketType1RTT, 9, &qlog.MaxDataFrame{MaximumData: 71}, &qlog.MaxStreamDataFrame{
		StreamID: 4, MaximumStreamData: 81,
	})
	r.offer(-100)
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	r.offer(5)
	expected := []string{
		told("connection", "unblocked", "blocked", "amplification_protection", true, 0, `,"limit":3600`),
		told("connection", "blocked", "unblocked", "amplification_protection", true, 0, `,"limit":3750`),
		told("connection", "unblocked", "blocked", "congestion_control", true, 700, `,"limit":1200`),
		told("connection", "blocked", "unblocked", "congestion_control", true, 700, `,"limit":1200`),
		told("connection", "unblocked", "blocked", "connection_flow_control", false, 100, `,"limit":70`),
		told("stream", "unblocked", "blocked", "stream_flow_control", false, 100, `,"stream_id":4,"limit":80`),
		told("connection", "blocked", "unblocked", "connection_flow_control", false, 100, `,"limit":71`),
		told("stream", "blocked", "unblocked", "stream_flow_control", false, 100, `,"stream_id":4,"limit":81`),
		told("connection", "unblocked", "blocked", "application", false, 0, ""),
	}
	if !slices.Equal(h.lines, expected) {
		t.Errorf("%s", strings.Join(h.lines, "\n"))
	}
}

// What a body offers goes down with each write, and to nothing where the client has gone.
func TestABodyIsReadyUntilItIsTaken(t *testing.T) {
	r := withReasons(&heard{}, false)
	ctx := context.WithValue(t.Context(), reasonsKey{}, r)
	to, end := offered(ctx, io.Discard, 100)
	if r.ready != 100 {
		t.Error(r.ready)
	}
	_, _ = to.Write(make([]byte, 30))
	if r.ready != 70 {
		t.Error(r.ready)
	}
	end()
	if r.ready != 0 {
		t.Error(r.ready)
	}
	if plain, _ := offered(t.Context(), io.Discard, 100); plain != io.Discard {
		t.Error("a connection without a log is written to as it is")
	}
}
