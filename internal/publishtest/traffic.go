package publishtest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// Plan makes messages of several keys, each of them in its order.
func Plan(topic string, keys, each int) [][]broker.Delivery {
	all := make([][]broker.Delivery, keys)
	for k := range all {
		all[k] = Messages(topic, each)
		for i := range all[k] {
			all[k][i].Key = strconv.Itoa(k)
		}
	}
	return all
}

// Traffic sends a plan, its keys side by side, and runs fault each time another part
// of it was accepted. It returns when everything is.
func Traffic(t *testing.T, d broker.Destination, plan [][]broker.Delivery, faults int, fault func()) {
	t.Helper()
	total := 0
	for _, msgs := range plan {
		total += len(msgs)
	}
	accepted := make(chan struct{}, total)
	over := make(chan struct{})
	var senders sync.WaitGroup
	defer senders.Wait() // also when a fault ends the test
	for _, msgs := range plan {
		senders.Go(func() { send(t, d, msgs, func() { accepted <- struct{}{} }) })
	}
	go func() {
		senders.Wait()
		close(over)
	}()
	for range faults {
		for range total / (faults + 1) {
			select {
			case <-accepted:
			case <-over: // somebody gave up
				return
			}
		}
		fault()
	}
}

// send sends the messages of one key as a relay does: each until it is accepted,
// the next one only then. What is said of a good message may be any doubt, but no
// verdict.
func send(t *testing.T, d broker.Destination, msgs []broker.Delivery, accepted func()) {
	t.Helper()
	deadline := Timeout(t, 2*time.Minute)
	for _, m := range msgs {
		for {
			got := Publish(t, d, 2*time.Second, m)[0]
			if got.Outcome == broker.Accepted {
				accepted()
				break
			}
			if got.Outcome == broker.Rejected || got.Outcome == broker.Misconfigured || deadline.Err() != nil {
				t.Errorf("message %d is %v (%v)", m.Seq, got.Outcome, got.Err)
				return
			}
			pause := time.NewTimer(5 * time.Millisecond) // a failing call returns at once
			<-pause.C
		}
	}
}

// InOrder wants every message of a plan among those that are held, which it gets by
// their ids, and those of a key first in their order. Others may be there too. It
// returns how many are there once more.
func InOrder(t *testing.T, plan [][]broker.Delivery, held []string) (repeats int) {
	t.Helper()
	seen := map[string]bool{}
	next := make([]int, len(plan))
	position := map[string][2]int{}
	for k, msgs := range plan {
		for i, m := range msgs {
			position[m.ID.String()] = [2]int{k, i}
		}
	}
	for _, id := range held {
		at, known := position[id]
		switch {
		case !known:
			continue // of another part of the test
		case seen[id]:
			repeats++
			continue
		case at[1] != next[at[0]]:
			t.Errorf("message %d of key %d came when %d was due", at[1], at[0], next[at[0]])
		}
		seen[id] = true
		next[at[0]] = at[1] + 1
	}
	if len(seen) != len(position) {
		t.Errorf("%d different messages are held of %d", len(seen), len(position))
	}
	return repeats
}
