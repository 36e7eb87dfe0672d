package sqlitestore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

func beat(relay string) store.Beat {
	return store.Beat{Relay: relay, New: true, TTL: time.Minute, Works: []store.Ref{outbox}}
}

func TestMessagesAreReadAsTheyWerePublishedAndSettled(t *testing.T) {
	t.Parallel()
	f := open(t)
	lease := f.lease(outbox)
	sent := messages(40, "a", "b", "", "c")
	f.publish(sent...)
	batch := f.read("", 100)
	if len(batch.Records) != len(sent) {
		t.Fatalf("read %d messages, want %d", len(batch.Records), len(sent))
	}
	for i := range batch.Records {
		r := &batch.Records[i]
		if !r.Equal(sent[i]) || r.Slot != store.SlotOf(&sent[i]) || r.Hash != store.KeyHash(sent[i].Key) {
			t.Fatalf("message %d came as %+v, want %+v", i, r, sent[i])
		}
	}
	f.settle(&lease, store.Settlement{To: batch.Next})
	if again := f.read(batch.Next, 100); len(again.Records) != 0 || again.Next != batch.Next {
		t.Fatalf("after the end there are %d messages more", len(again.Records))
	}
}

func TestAnIdleTurnWritesNothing(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.lease(outbox)
	f.publish(messages(3, "k")...)
	next := f.read("", 10).Next
	commits := f.commits()
	before := commits()
	for range 100 {
		f.read(next, 10)
	}
	if after := commits(); after != before {
		t.Fatalf("data_version went from %d to %d during idle turns", before, after)
	}
}
