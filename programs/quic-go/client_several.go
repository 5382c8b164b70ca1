// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"sync"
)

// shared fetches on a connection that others use as well.
type shared struct {
	visit
	connection http.RoundTripper
}

func (s shared) get(ctx context.Context, request *http.Request) (*http.Response, error) {
	return s.connection.RoundTrip(request.WithContext(ctx))
}

func (s shared) progress(int64) {}

// visitForAll fetches every object on one connection: each in its order, as soon as one of the places is free. It
// returns what went wrong first.
func visitForAll(job *clientJob, connection visit, asked []*http.Request, told []*request) error {
	tripper, failure := connection.connect(context.Background())
	bodies := make([][]byte, len(asked))
	if failure == nil {
		failure = fetchAll(shared{connection, tripper}, min(job.Concurrency, len(asked)), asked, told, bodies)
	}
	for _, r := range told {
		connection.note(r)
	}
	within(closeLimit, connection.close)
	closed := monotonicNs()
	for place, r := range told {
		r.CloseNs = closed
		r.noteBody(bodies[place])
	}
	return failure
}

func fetchAll(connection visit, places int, asked []*http.Request, told []*request, bodies [][]byte) error {
	// Places take turns in the order of the list: a channel hands its values out in order.
	next := make(chan int, len(asked))
	for place := range asked {
		next <- place
	}
	close(next)
	var all sync.WaitGroup
	failures := make([]error, len(asked))
	for range places {
		all.Go(func() {
			for place := range next {
				r := told[place]
				if r.StartNs == 0 {
					r.StartNs = monotonicNs()
				}
				bodies[place], failures[place] = fetch(connection, asked[place], r)
				r.whole = failures[place] == nil
				if !r.whole {
					r.LastByteNs, r.Error = monotonicNs(), oneLine(failures[place])
				}
			}
		})
	}
	all.Wait()
	for _, failure := range failures {
		if failure != nil {
			return failure
		}
	}
	return nil
}
