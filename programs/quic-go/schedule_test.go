// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

// order lets responses of these urgencies, with as many parts each, arrive while another has the gate, and tells whose
// part follows whose.
func order(t *testing.T, schedule schedule, urgencies []int, parts int) []int {
	t.Helper()
	g := newGate(schedule)
	holder := g.arrive(defaultUrgency)
	g.enter(holder)
	var found []int
	done := make(chan struct{}, len(urgencies))
	for place, urgency := range urgencies {
		own := g.arrive(urgency)
		go func() {
			g.enter(own)
			for part := range parts {
				found = append(found, place) // one at a time, by the gate
				if part+1 < parts {
					g.again(own)
				}
			}
			g.leave()
			done <- struct{}{}
		}()
		for waiting := 0; waiting <= place; {
			g.mutex.Lock()
			waiting = len(g.waiting)
			g.mutex.Unlock()
		}
	}
	g.leave()
	for range urgencies {
		<-done
	}
	return found
}

// FIFO finishes a response before the next, round robin takes turns; where priorities are obeyed the urgent go first.
func TestWhoseTurnItIs(t *testing.T) {
	urgencies := []int{3, 5, 1}
	for _, each := range []struct {
		schedule schedule
		want     []int
	}{
		{schedule{fifo: true}, []int{0, 0, 1, 1, 2, 2}},
		{schedule{}, []int{0, 1, 2, 0, 1, 2}},
		{schedule{fifo: true, obey: true}, []int{2, 2, 0, 0, 1, 1}},
		{schedule{obey: true}, []int{2, 2, 0, 0, 1, 1}},
	} {
		if found := order(t, each.schedule, urgencies, 2); !slices.Equal(found, each.want) {
			t.Errorf("%+v: %v, not %v", each.schedule, found, each.want)
		}
	}
	if found := order(t, schedule{obey: true}, []int{2, 2}, 2); !slices.Equal(found, []int{0, 1, 0, 1}) {
		t.Errorf("equals in turns: %v", found)
	}
}

// What a browser sends is read; what is not in the RFC's bounds is left.
func TestReadsUrgency(t *testing.T) {
	for field, want := range map[string]int{"": 3, "i": 3, "u=1": 1, "u=5, i": 5, "i, u=0": 0, "u=9": 3, "u=x": 3} {
		if found := urgencyOf(field); found != want {
			t.Errorf("%q: %d, not %d", field, found, want)
		}
	}
}
