package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

func TestEachLineAboutASubscriptionOrABoxNamesTheBox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpMaintain {
			return memstore.Fault{Err: errors.New("no right")}
		}
		return memstore.Fault{}
	}}, membroker.Options{Decide: func(m broker.Delivery, _ int) membroker.Act {
		if string(m.Payload) == "key-1/0" {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	log, _, stop := w.logged(w.store, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, Retry: relay.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2}}}})
	w.publish(6, 3)
	for _, text := range []string{"begins to deliver", "a message is rejected", "a message is dead", "relay: housekeeping"} {
		w.eventually(text, func() bool { return log.count(text) > 0 })
	}
	stop()
	for _, text := range []string{"subscription=", "relay: housekeeping", "a message is"} {
		for _, line := range log.with(text) {
			if !strings.Contains(line, "box=outbox ") {
				t.Errorf("the line does not name the box: %s", line)
			}
		}
	}
}

// records is a logger's handler that keeps what it gets.
type records struct {
	mu  sync.Mutex
	all []slog.Record
}

func (*records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) Handle(_ context.Context, one slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	return nil
}

func (r *records) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *records) WithGroup(string) slog.Handler      { return r }

// with returns the attributes of the records with a message.
func (r *records) with(message string) (all []map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if one.Message != message {
			continue
		}
		attributes := map[string]string{}
		one.Attrs(func(a slog.Attr) bool { attributes[a.Key] = a.Value.String(); return true })
		all = append(all, attributes)
	}
	return all
}

func TestARecordAboutAMessageHasItsBoxSubscriptionAndShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{Decide: func(m broker.Delivery, attempt int) membroker.Act {
		if strings.HasPrefix(string(m.Payload), "key-") && strings.HasSuffix(string(m.Payload), "/0") && attempt < 3 {
			return membroker.Fail(broker.Rejected, "bad")
		}
		return membroker.Act{}
	}})
	kept := &records{}
	r, err := relay.New(w.store, relay.Options{Logger: slog.New(kept), Subscriptions: []relay.Subscription{
		{To: w.to, Shards: 4, Retry: relay.Retry{Min: time.Millisecond, Max: time.Millisecond, MaxAttempts: 2}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	stop := w.run(r)
	w.publish(20, 5)
	const rejected, dead = "relay: a message is rejected, and tried again later", "relay: a message is dead"
	w.eventually("five messages are dead", func() bool { return len(kept.with(dead)) == 5 })
	ref := store.Ref{Box: "outbox", Subscription: "default"}
	items, _, err := w.store.List(t.Context(), store.Query{Ref: ref, State: store.StateDead})
	if err != nil || len(items) != 5 {
		t.Fatalf("%d messages are dead: %v", len(items), err)
	}
	for i, kind := range []store.CommandKind{store.Retry, store.Discard} {
		if n, err := w.store.Command(t.Context(), store.Audit{Who: "a", Why: "b"}, ref, kind, []int64{items[i].Seq}); err != nil || n != 1 {
			t.Fatalf("%d commands: %v", n, err)
		}
	}
	const again, discarded = "relay: a message is tried again, by a command", "relay: a message is discarded, by a command"
	w.eventually("the commands are carried out", func() bool { return len(kept.with(again)) == 1 && len(kept.with(discarded)) == 1 })
	shards := map[string]bool{}
	for _, message := range []string{rejected, dead, again, discarded} {
		for _, a := range kept.with(message) {
			if shards[a["shard"]] = true; a["box"] != "outbox" || a["subscription"] != "outbox/default" {
				t.Errorf("%s: the attributes are %v", message, a)
			}
		}
	}
	for shard := range shards {
		if !slices.ContainsFunc(store.Split(4), func(s store.Slots) bool { return s.String() == shard }) {
			t.Errorf("a record is about shard %q", shard)
		}
	}
	if len(shards) < 2 {
		t.Errorf("all records are about %v", shards)
	}
	stop()
}
