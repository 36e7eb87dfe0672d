package storetest

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// checkExact fails t unless got is want: each message once and whole, nothing
// else, and those of one key in want's order.
func checkExact(t testing.TB, got []store.Record, want []postbag.Message) {
	t.Helper()
	if !checkOnce(t, got, want) {
		return
	}
	wanted := byKey(want, func(m postbag.Message) postbag.Message { return m })
	for key, ids := range byKey(got, func(r store.Record) postbag.Message { return r.Message }) {
		if !slices.Equal(ids, wanted[key]) {
			t.Errorf("key %q: its messages came in another order than they were committed in", key)
		}
	}
}

// checkOnce is checkExact without the order. It says whether each came once.
func checkOnce(t testing.TB, got []store.Record, want []postbag.Message) bool {
	t.Helper()
	wanted := make(map[postbag.ID]*postbag.Message, len(want))
	for i := range want {
		wanted[want[i].ID] = &want[i]
	}
	came := make(map[postbag.ID]int64, len(got))
	again, phantoms := 0, 0
	for i := range got {
		r := &got[i]
		if came[r.ID] != 0 {
			again++
			continue
		}
		came[r.ID] = r.Seq
		if wanted[r.ID] == nil {
			phantoms++
			continue
		}
		checkWhole(t, r, wanted[r.ID])
	}
	lost := len(wanted) - (len(came) - phantoms)
	if again+phantoms+lost > 0 {
		t.Errorf("of %d messages %d were lost, %d came again, and %d came that were never committed", len(want), lost, again, phantoms)
	}
	return again+phantoms+lost == 0
}

// byKey returns the ids of each key that orders, in their order.
func byKey[T any](list []T, message func(T) postbag.Message) map[string][]postbag.ID {
	out := map[string][]postbag.ID{}
	for _, x := range list {
		if m := message(x); m.Key != "" {
			out[m.Key] = append(out[m.Key], m.ID)
		}
	}
	return out
}

// checkWhole fails t unless r is m, bit for bit, with what the store adds.
func checkWhole(t testing.TB, r *store.Record, m *postbag.Message) {
	t.Helper()
	switch {
	case r.Topic != m.Topic:
		t.Errorf("message %x: topic %q, not %q", m.ID, r.Topic, m.Topic)
	case r.Key != m.Key:
		t.Errorf("message %x: key %q, not %q", m.ID, r.Key, m.Key)
	case r.Type != m.Type:
		t.Errorf("message %x: type %q, not %q", m.ID, r.Type, m.Type)
	case !maps.Equal(r.Headers, m.Headers):
		t.Errorf("message %x: headers %q, not %q", m.ID, r.Headers, m.Headers)
	case !bytes.Equal(r.Payload, m.Payload):
		t.Errorf("message %x: its payload of %d bytes came as %d others", m.ID, len(m.Payload), len(r.Payload))
	case r.Slot != store.SlotOf(m):
		t.Errorf("message %x: slot %d, not %d", m.ID, r.Slot, store.SlotOf(m))
	case r.Hash != store.KeyHash(m.Key):
		t.Errorf("message %x: hash %x, not %x", m.ID, r.Hash, store.KeyHash(m.Key))
	case r.Seq < 1 || r.At.IsZero() || r.Filtered:
		t.Errorf("message %x: seq %d, at %s, filtered %v", m.ID, r.Seq, r.At, r.Filtered)
	}
}
