package postbag

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// cart is an aggregate.
type cart struct {
	id string
	DomainEvents
}

func (c *cart) add(item string) { c.Raise(Message{Topic: "carts", Key: c.id, Payload: []byte(item)}) }

func eventPublisher(t *testing.T) (*recording, *Publisher[*testTx]) {
	t.Helper()
	r := &recording{}
	p, err := NewPublisher[*testTx](r, PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func TestEventsOfAggregatesArePublishedTogetherAndOnce(t *testing.T) {
	t.Parallel()
	r, pub := eventPublisher(t)
	a, b := &cart{id: "a"}, &cart{id: "b"}
	a.add("one")
	b.add("two")
	a.add("three")
	for range 2 { // the second time there is nothing
		if err := pub.PublishEvents(t.Context(), &testTx{}, a, b); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, m := range r.only(t) {
		got = append(got, m.Key+" "+string(m.Payload))
	}
	if want := []string{"a one", "a three", "b two"}; !slices.Equal(got, want) {
		t.Errorf("published %q, want %q", got, want)
	}
}

func TestEventsThatCouldNotBePublishedAreKept(t *testing.T) {
	t.Parallel()
	r, pub := eventPublisher(t)
	r.appendErr = errors.New("no room")
	c := &cart{id: "a"}
	c.add("one")
	if err := pub.PublishEvents(t.Context(), &testTx{}, c); !errors.Is(err, r.appendErr) {
		t.Fatalf("the error is %v, want the store's", err)
	}
	if n := len(c.Raised()); n != 1 {
		t.Errorf("%d events are left, want 1", n)
	}
	r.appendErr = nil
	if err := pub.PublishEvents(t.Context(), &testTx{}, c); err != nil || len(c.Raised()) != 0 {
		t.Errorf("%v; %d events are left, want none", err, len(c.Raised()))
	}
}

func TestAnAggregateThatIsNilIsAnErrorBeforeAnythingIsPublished(t *testing.T) {
	t.Parallel()
	r, pub := eventPublisher(t)
	c := &cart{id: "a"}
	c.add("one")
	for name, a := range map[string]Aggregate{"nil": nil, "a nil pointer": (*cart)(nil)} {
		err := pub.PublishEvents(t.Context(), &testTx{}, c, a)
		if err == nil || !strings.Contains(err.Error(), "aggregate 1 is nil") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if len(r.appended) != 0 || len(c.Raised()) != 1 {
		t.Errorf("published %d times, and %d events are left, want none and 1", len(r.appended), len(c.Raised()))
	}
}

func TestWhatRaisedReturnsIsACopy(t *testing.T) {
	t.Parallel()
	c := &cart{id: "a"}
	c.add("one")
	c.Raised()[0].Topic = "another"
	if topic := c.Raised()[0].Topic; topic != "carts" {
		t.Errorf("the topic is %q", topic)
	}
}
