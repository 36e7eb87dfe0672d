package lane

import (
	"errors"
	"maps"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

func item(seq int64, slot int) Item { return Item{Seq: seq, Slot: slot, Sum: uint64(seq)<<56 | 7} }

func leaseOf(lo, hi int, version int64) store.Lease {
	return store.Lease{Shard: store.Shard{Slots: store.Slots{Lo: lo, Hi: hi}}, Version: version}
}

// written is the record of a call of messages 1 and 3 of one shard at version 5, 2 of
// another at version 9, with 4 and, in the call too, 3 known before.
func written(t *testing.T) Record {
	t.Helper()
	leases := []store.Lease{leaseOf(0, 2048, 5), leaseOf(2048, 4096, 9)}
	known := Marks{3: item(3, 0).Sum, 4: 44}
	r := NewRecord(leases, []Item{item(1, 7), item(2, 4000), item(3, 2047)}, known)
	back, err := Decode(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestARecordNamesUnsettledMessagesByShardVersion(t *testing.T) {
	t.Parallel()
	r := written(t)
	for name, c := range map[string]struct {
		leases        []store.Lease
		want          []int64
		carry, behind bool
	}{
		"nothing is settled":       {leases: []store.Lease{leaseOf(0, 2048, 5), leaseOf(2048, 4096, 9)}, want: []int64{1, 2, 3, 4}, carry: true},
		"one shard is":             {leases: []store.Lease{leaseOf(0, 2048, 6), leaseOf(2048, 4096, 9)}, want: []int64{2, 4}, carry: true},
		"all of the call is":       {leases: []store.Lease{leaseOf(0, 2048, 6), leaseOf(2048, 4096, 11)}, want: []int64{4}},
		"the shards were reshaped": {leases: []store.Lease{leaseOf(0, 4096, 1)}, want: []int64{4}},
		"settlements are gone":     {leases: []store.Lease{leaseOf(0, 2048, 4), leaseOf(2048, 4096, 10)}, want: []int64{1, 3, 4}, carry: true, behind: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known, carry, behind := r.Recall(c.leases)
			if got := known.seqs(); !equal(got, c.want) || carry != c.carry || behind != c.behind {
				t.Errorf("known %v, carry %v, behind %v; want %v, %v, %v", got, carry, behind, c.want, c.carry, c.behind)
			}
		})
	}
}

func equal(a, b []int64) bool {
	return maps.Equal(set(a), set(b))
}

func set(a []int64) map[int64]bool {
	m := map[int64]bool{}
	for _, n := range a {
		m[n] = true
	}
	return m
}

func TestMarksCarriedInARecordAreBounded(t *testing.T) {
	t.Parallel()
	m := Marks{}
	for seq := range int64(maxCarried + 500) {
		m[seq] = 1
	}
	m.trim()
	if _, oldest := m[499]; len(m) != maxCarried || oldest {
		t.Errorf("%d are left, the oldest among them: %v", len(m), oldest)
	}
}

func TestTheRecordOfTheLargestTransactionFits(t *testing.T) {
	t.Parallel()
	leases := make([]store.Lease, 4096)
	for i := range leases {
		leases[i] = leaseOf(i, i+1, 1<<40)
	}
	var items []Item
	for i := range int64(MaxItems) {
		items = append(items, item(1<<40+i*300, int(i)%4096))
	}
	known := Marks{}
	for i := range int64(maxCarried) {
		known[1<<41+i*300] = 1
	}
	r := NewRecord(leases, items, known)
	if n := len(r.Encode()); n > broker.MaxRecord {
		t.Errorf("it has %d bytes, %d may be", n, broker.MaxRecord)
	}
}

func FuzzDecode(f *testing.F) {
	r := NewRecord([]store.Lease{leaseOf(0, 4096, 5)}, []Item{item(1, 7)}, Marks{4: 44})
	f.Add(r.Encode())
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		again, err := Decode(r.Encode())
		if err != nil || len(again.shards) != len(r.shards) || !maps.Equal(again.Carried, r.Carried) {
			t.Errorf("%x does not come back: %v", b, err)
		}
	})
}
