package relay_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// letters is what was delivered of a box of dead letters.
func letters(to *membroker.Destination) (out []broker.Delivery) {
	for _, r := range to.First() {
		out = append(out, r.Delivery)
	}
	return out
}

func TestAMessageThatDiesLeavesADeadLetterThatIsDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		if err := w.store.CreateBox(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		w.typed("bad", "small")
		to := membroker.New(membroker.Options{})
		r := w.relay(relay.Options{Subscriptions: []relay.Subscription{
			{To: refusing{w.to}, DeadTo: "dead", Retry: relay.Retry{Pauses: []time.Duration{time.Second}, MaxAttempts: 2}},
			{Box: "dead", To: to},
		}})
		stop := w.run(r)
		<-time.After(time.Minute)
		item := w.dead()
		w.retry(item.Seq)
		<-time.After(time.Minute)
		stop()
		got := letters(to)
		if len(got) != 2 || got[0].ID == got[1].ID {
			t.Fatalf("%d dead letters were delivered, want 2 with ids of their own", len(got))
		}
		for _, m := range got {
			h := m.Headers
			if string(m.Payload) != "small" || m.Type != "bad" || h[store.HeaderDeadID] != item.ID.String() || h[store.HeaderDeadReason] != "no" ||
				h[store.HeaderDeadCause] != "attempts" || h[store.HeaderDeadAttempts] != "2" || h[store.HeaderDeadBox] != "outbox" {
				t.Errorf("a dead letter is %+v", m.Message)
			}
		}
		stats := r.Stats().Subscriptions[0]
		if stats.Dead != 2 || stats.DeadAttempts != 2 {
			t.Errorf("%d messages died, %d of them by their attempts; want 2 and 2", stats.Dead, stats.DeadAttempts)
		}
	})
}

// retry has an operator retry a message.
func (w *world) retry(seq int64) {
	w.t.Helper()
	why := store.Audit{Who: "test", Why: "test"}
	if n, err := w.store.Command(w.t.Context(), why, store.Ref{Box: "outbox", Subscription: "default"}, store.Retry, []int64{seq}); n != 1 || err != nil {
		w.t.Fatalf("%d messages are retried: %v", n, err)
	}
}

func TestADeadLetterHasNoPropertyOfATransport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		if err := w.store.CreateBox(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		names := []string{"kafka.partition", "mqtt.retain", "nats.expected", "rabbitmq.priority", "redis.x", "kafka", "Kafka.x"}
		headers := map[string]string{}
		for _, name := range names {
			headers[name] = "1"
		}
		err := w.pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			return w.pub.Publish(ctx, tx, postbag.Message{Topic: "t", Type: "bad", Headers: headers, Payload: []byte("small")})
		})
		if err != nil {
			t.Fatal(err)
		}
		to := membroker.New(membroker.Options{})
		stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{
			{To: refusing{w.to}, DeadTo: "dead", Retry: relay.Retry{MaxAttempts: 1}}, {Box: "dead", To: to},
		}}))
		<-time.After(time.Minute)
		stop()
		got, _, err := w.store.List(t.Context(), store.Query{Ref: store.Ref{Box: "dead", Subscription: "default"}})
		if err != nil || len(got) != 1 {
			t.Fatalf("there are %d dead letters (%v), want 1", len(got), err)
		}
		for _, name := range names {
			if _, has := got[0].Headers[name]; has == broker.IsProperty(name) {
				t.Errorf("the dead letter has the header %s: %v", name, has)
			}
		}
	})
}

func TestDeadLettersNeedABoxThatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	err := w.relay(relay.Options{Subscriptions: []relay.Subscription{{To: w.to, DeadTo: "nowhere"}}}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nowhere") || !strings.Contains(err.Error(), "postbag migrate up --box") {
		t.Errorf("without the box the relay ends with %v", err)
	}
}

func TestTheBoxOfDeadLettersDoesNotLeadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	for name, c := range map[string]struct {
		list []relay.Subscription
		want string
	}{
		"its own box": {[]relay.Subscription{{To: w.to, DeadTo: "outbox"}}, "its own box"},
		"no name":     {[]relay.Subscription{{To: w.to, DeadTo: "a b"}}, "DeadTo"},
		"a circle": {[]relay.Subscription{
			{To: w.to, DeadTo: "b"}, {Box: "b", To: w.to, DeadTo: "c"}, {Box: "c", Name: "x", To: w.to, DeadTo: "outbox"},
		}, "come back to box c"},
		"a chain":     {[]relay.Subscription{{To: w.to, DeadTo: "b"}, {Box: "b", To: w.to, DeadTo: "c"}, {Box: "c", To: w.to}}, ""},
		"one for all": {[]relay.Subscription{{To: w.to, DeadTo: "dead"}, {Box: "b", To: w.to, DeadTo: "dead"}, {Name: "x", To: w.to, DeadTo: "dead"}}, ""},
	} {
		_, err := relay.New(w.store, relay.Options{Subscriptions: c.list})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestADeadLetterHasTheTopicOfItsSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		if err := w.store.CreateBox(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		w.typed("bad", "small")
		to := membroker.New(membroker.Options{})
		stop := w.run(w.relay(relay.Options{Subscriptions: []relay.Subscription{
			{To: refusing{w.to}, DeadTo: "dead", DeadTopic: "deaths", Retry: relay.Retry{MaxAttempts: 1}}, {Box: "dead", To: to},
		}}))
		<-time.After(time.Minute)
		topic := w.dead().Topic
		stop()
		if got := letters(to); len(got) != 1 || got[0].Topic != "deaths" || got[0].Headers[store.HeaderDeadTopic] != topic {
			t.Errorf("the dead letters of a message with topic %q are %+v", topic, got)
		}
	})
}

// spaceless is a destination that rejects topics with a space.
type spaceless struct{ broker.Destination }

func (spaceless) CheckTopic(topic string) error {
	if strings.Contains(topic, " ") {
		return errors.New("the topic holds a space")
	}
	return nil
}

func TestATopicOfDeadLettersThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	read := func(s relay.Subscription) []relay.Subscription {
		s.To, s.Box = spaceless{w.to}, "dead"
		return []relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: "all deaths"}, s}
	}
	for name, c := range map[string]struct {
		list []relay.Subscription
		want string
	}{
		"no box":              {[]relay.Subscription{{To: w.to, DeadTopic: "deaths"}}, "DeadTopic is set without DeadTo"},
		"too long":            {[]relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: strings.Repeat("a", 256)}}, "at most 255 bytes"},
		"a NUL byte":          {[]relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: "a\x00"}}, "NUL"},
		"no UTF-8":            {[]relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: "\xff"}}, "valid UTF-8"},
		"nobody reads":        {[]relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: "all deaths"}}, ""},
		"rejected":            {read(relay.Subscription{}), "DeadTopic, at the destination of dead/default: the topic holds a space"},
		"of others":           {read(relay.Subscription{Where: store.Where{Topics: []string{"orders"}}}), ""},
		"excepted":            {read(relay.Subscription{Where: store.Where{Except: []store.Match{{Topics: []string{"all deaths"}}}}}), ""},
		"of a type excepted":  {read(relay.Subscription{Where: store.Where{Except: []store.Match{{Topics: []string{"all deaths"}, Types: []string{"a"}}}}}), "holds a space"},
		"sent by middleware":  {read(relay.Subscription{Use: []broker.Middleware{func(d broker.Destination) broker.Destination { return d }}}), ""},
		"of a name that fits": {[]relay.Subscription{{To: w.to, DeadTo: "dead", DeadTopic: "deaths"}, {Box: "dead", To: spaceless{w.to}}}, ""},
	} {
		_, err := relay.New(w.store, relay.Options{Subscriptions: c.list})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// losing is a store whose boxes of dead letters are gone after the start.
type losing struct {
	*memstore.Store
}

func (s losing) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	for i := range t.Settle {
		for k := range t.Settle[i].Park {
			if p := &t.Settle[i].Park[k]; p.DeadTo != "" {
				p.DeadTo = "gone"
			}
		}
	}
	return s.Store.Turn(ctx, t)
}

func TestADeadLetterThatIsNotWrittenIsToldOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, memstore.Options{}, membroker.Options{})
		if err := w.store.CreateBox(t.Context(), "dead"); err != nil {
			t.Fatal(err)
		}
		w.typed("bad", "small")
		var mu sync.Mutex
		var heard []string
		var log strings.Builder
		r, err := relay.New(losing{w.store}, relay.Options{
			Logger:        slog.New(slog.NewTextHandler(&log, nil)),
			Subscriptions: []relay.Subscription{{To: refusing{w.to}, DeadTo: "dead", Retry: relay.Retry{MaxAttempts: 1}}},
			OnError: func(err error) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, err.Error())
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := w.run(r)
		<-time.After(time.Minute)
		stop()
		w.dead()
		if !strings.Contains(log.String(), "dead letters could not be written") || !strings.Contains(strings.Join(heard, "\n"), "gone") {
			t.Errorf("OnError heard %q, and the log has\n%s", heard, log.String())
		}
	})
}

// older is a store that writes no dead letters.
type older struct{ *memstore.Store }

func (s older) Check(ctx context.Context) (store.Info, error) {
	info, err := s.Store.Check(ctx)
	info.Features.DeadLetters = false
	return info, err
}

func TestAStoreWithoutDeadLettersIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memstore.Options{}, membroker.Options{})
	r, err := relay.New(older{w.store}, relay.Options{Subscriptions: []relay.Subscription{{To: w.to, DeadTo: "dead"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "writes no dead letters") {
		t.Errorf("it ends with %v", err)
	}
}
