package adapters

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/proof/chaos"
)

// While a fault breaks the second topic, what is for that is not accepted and nothing says that more does not work; the first one takes
// all, and both do afterwards. The receiver of webhooks is a process of the harness: a run of that has its faults.
func TestAFaultOfOneTopicBreaksThatAndNoOther(t *testing.T) {
	t.Parallel()
	for _, k := range []chaos.Broker{NATS{}, Watermill{}, Redis{}, MQTT{}, Kafka{Nodes: 1}, RabbitMQ{}} {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			place, err := k.Start(t.Context(), chaos.Terms{Dir: t.TempDir(), Only: []string{"no other"}})
			servertest.Need(t, err)
			defer func() {
				if err := place.Close(); err != nil {
					t.Error(err)
				}
			}()
			both, ok := place.(chaos.Branched)
			if !ok {
				t.Fatal("it has one topic")
			}
			p := publishing{t: t, broker: k, place: place}
			p.await(broker.Accepted, place.Topic(), both.Branch())
			tried := 0
			for _, f := range place.Faults() {
				if f.Topic == "" {
					continue
				}
				tried++
				end, err := f.Begin(t.Context(), &chaos.Strike{})
				if err != nil || f.Topic != both.Branch() {
					t.Fatalf("%s, of the topic %q: %v", f.Name, f.Topic, err)
				}
				p.refused(f.Topic)
				p.await(broker.Accepted, place.Topic())
				if err := end(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.await(broker.Accepted, place.Topic(), f.Topic)
			}
			if tried == 0 {
				t.Error("no fault breaks one topic")
			}
		})
	}
}

// publishing publishes to a place, each time over a destination of its own.
type publishing struct {
	t      *testing.T
	broker chaos.Broker
	place  chaos.Place
}

func (p *publishing) publish(topic string) broker.Result {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	to, err := p.broker.Open(ctx, p.place.DSN())
	if err != nil {
		p.t.Fatal(err)
	}
	msgs := []broker.Delivery{{Message: postbag.Message{ID: postbag.NewID(), Topic: topic, Key: "k", Payload: []byte("{}")}, Attempt: 1, Seq: 1, At: time.Now()}}
	results := broker.Publish(ctx, to, msgs)
	closing, end := context.WithTimeout(context.WithoutCancel(p.t.Context()), 5*time.Second)
	defer end()
	_ = to.Close(closing) // it may have been cut off
	return results[0]
}

// await publishes to each topic until it has the outcome.
func (p *publishing) await(want broker.Outcome, topics ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for _, topic := range topics {
		var last broker.Result
		if chaos.Until(ctx, func() bool { last = p.publish(topic); return last.Outcome == want }) != nil {
			p.t.Fatalf("a message to %s is %v of %v: %v", topic, last.Outcome, last.Scope, last.Err)
		}
	}
}

// refused wants messages of a topic to be refused for that topic, or to get no answer at all. A server that takes a new
// configuration may hang up once, or know no login for a moment; only what it answers afterwards counts.
func (p *publishing) refused(topic string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	var last broker.Result
	reads := func() bool {
		return last.Scope == broker.ScopeDestination && (last.Outcome == broker.Unavailable || last.Outcome == broker.Misconfigured)
	}
	if chaos.Until(ctx, func() bool { last = p.publish(topic); return last.Outcome != broker.Accepted && !reads() }) != nil {
		p.t.Fatalf("a message to %s is %v of %v: %v", topic, last.Outcome, last.Scope, last.Err)
	}
	p.t.Logf("%s: %v of %v: %v", topic, last.Outcome, last.Scope, last.Err)
	if last.Outcome != broker.Unknown && (last.Scope != broker.ScopeTopic || last.Outcome == broker.Rejected) {
		p.t.Errorf("a message to %s is %v of %v: %v", topic, last.Outcome, last.Scope, last.Err)
	}
}
