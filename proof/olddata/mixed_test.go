package olddata_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

var operator = store.Audit{Who: "an operator", Why: "the test"}

// Old relays may go on beside new ones until the last of them is gone. Meanwhile operators do what they do, and processes are killed.
func TestRelaysOfBothVersionsDeliverOneBoxWhileOperatorsChangeIt(t *testing.T) {
	t.Parallel()
	switch has := hasOlder(); {
	case !has && servertest.Full():
		t.Fatal("this checkout has not the old commit: fetch the whole history")
	case !has:
		t.Skip("this checkout is shallow, and has not the old commit to build a relay from")
	}
	for name, p := range map[string]*program{"old": &older, "new": &newer} { // first, as builds take the processors
		if _, err := p.file(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			m := &mixed{sent: map[string]message{}, last: map[string]int{}}
			m.upgrade = &upgrade{t: t, kind: k, counts: map[string]int{}, accepts: m.accept}
			m.run()
		})
	}
}

// mixed is the time in which relays of both versions deliver one box.
type mixed struct {
	*upgrade

	s    relayStore
	sent map[string]message // by id
	last map[string]int     // of each key, the number of the last message to arrive for the first time
}

// message is what a writer wrote.
type message struct {
	key, typ string
	number   int
	refused  bool // the destination rejects it
}

func (m *mixed) run() {
	m.db, m.dsn = m.kind.start(m.t)
	m.kind.load(m.t, m.db)
	first := m.startProgram(&older, "old")
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() { m.write(ctx, i) })
	}
	m.after(100)
	if _, err := m.kind.open(m.t, m.dsn, true).Migrate(m.t.Context()); err != nil {
		m.t.Fatalf("the migration under load: %v", err)
	}
	m.s = m.kind.open(m.t, m.dsn, false)
	m.must(m.s.SetRetention(m.t.Context(), operator, ref.Box, store.Lifetimes{Delivered: 2 * time.Second}))
	second := m.startProgram(&newer, "new")
	m.rest(m.step())
	m.filter()
	m.pause()
	first.kill()
	m.rest(m.step())
	first = m.startProgram(&older, "old")
	m.pause()
	second.kill()
	m.filter()
	second = m.startProgram(&newer, "new")
	m.rest(m.step())
	first.stop() // the last of its version
	m.rest(m.step())
	cancel()
	writers.Wait()
	m.judge()
	second.stop()
}

// step is how long relays are left at work between two changes: longer than a lease.
func (m *mixed) step() time.Duration {
	if servertest.Full() {
		return 10 * time.Second
	}
	return 4 * time.Second
}

func (m *mixed) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// filter has notes left out for a while.
func (m *mixed) filter() {
	m.must(m.s.SetFilter(m.t.Context(), operator, ref, store.Filter{Types: []string{"order"}}))
	m.rest(m.step() / 2)
	m.must(m.s.SetFilter(m.t.Context(), operator, ref, store.Filter{}))
}

// pause wants that nothing arrives while the subscription is paused.
func (m *mixed) pause() {
	m.must(m.s.SetPaused(m.t.Context(), operator, ref, true))
	m.rest(m.step() / 2)
	before := m.all()
	m.rest(m.step() / 4)
	if after := m.all(); after != before {
		m.t.Errorf("%d messages arrived while the subscription was paused", after-before)
	}
	m.must(m.s.SetPaused(m.t.Context(), operator, ref, false))
}

// write publishes until ctx ends. Every twentieth message is one that the destination rejects, every fifth a note.
func (m *mixed) write(ctx context.Context, writer int) {
	for i := 0; ctx.Err() == nil; i++ {
		id, typ := postbag.NewID(), "order"
		if i%5 == 4 {
			typ = "note"
		}
		key := fmt.Sprintf("w%d-%d", writer, i%3)
		m.mu.Lock()
		m.sent[id.String()] = message{key: key, typ: typ, number: i, refused: i%20 == 7}
		m.mu.Unlock()
		if err := m.kind.publish(context.WithoutCancel(ctx), m.db, id, key, typ); err != nil {
			m.t.Errorf("a writer was refused: %v", err)
			return
		}
		m.mu.Lock()
		m.wrote = append(m.wrote, id.String())
		m.mu.Unlock()
		m.rest(8 * time.Millisecond)
	}
}

// accept counts a message at the destination, unless it rejects it. The caller holds mu.
func (m *mixed) accept(id string) bool {
	is, known := m.sent[id]
	if is.refused {
		return false
	}
	if m.counts[id]++; m.counts[id] > 1 || !known {
		return true
	}
	if is.number < m.last[is.key] {
		m.t.Errorf("message %d of key %s arrives after %d", is.number, is.key, m.last[is.key])
	}
	m.last[is.key] = is.number
	return true
}

// judge waits until the subscription has passed all, and wants that each order has arrived and that the ledger counts as many.
func (m *mixed) judge() {
	var missing []string
	var v store.SubscriptionView
	for deadline := time.Now().Add(time.Minute); ; m.rest(200 * time.Millisecond) {
		o, err := m.s.Overview(m.t.Context())
		m.must(err)
		for _, n := range o.Boxes[0].Notices {
			if !strings.Contains(n.Why, "was copied") { // PostgreSQL knows that a dump was loaded
				m.t.Fatalf("the box has a notice: %+v", n)
			}
		}
		v, missing = o.Boxes[0].Subscriptions[0], m.absent()
		if len(missing) == 0 && m.agrees(&v) {
			break
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("%d orders did not arrive, as %.5q; of %d messages the ledger has %d delivered, %d superseded, %d discarded; parked are %v",
				len(missing), missing, len(m.written())+old, v.Delivered, v.Superseded, v.Discarded, v.Parked)
		}
	}
	m.t.Logf("%s: %d messages, %d delivered, %d superseded", m.kind.name, len(m.written())+old, v.Delivered, v.Superseded)
}

// agrees says whether the ledger has each message once. A note may be filtered, also one that a relay sent that was killed then.
func (m *mixed) agrees(v *store.SubscriptionView) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	refused, notes, unsent := 0, 0, 0
	for id, is := range m.sent {
		switch {
		case is.refused:
			refused++
		case is.typ == "note":
			notes++
			if m.counts[id] == 0 {
				unsent++
			}
		}
	}
	delivered := len(m.sent) + old - refused
	return v.Superseded+v.Parked[store.ParkDead] <= int64(refused) && v.Superseded > 0 &&
		v.Delivered <= int64(delivered-unsent) && v.Delivered >= int64(delivered-notes)
}

// absent are the orders that did not arrive, and are not such as the destination rejects.
func (m *mixed) absent() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, is := range m.sent {
		if is.typ == "order" && !is.refused && m.counts[id] == 0 {
			all = append(all, id)
		}
	}
	return all
}
