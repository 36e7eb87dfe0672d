package natsbroker_test

import (
	"maps"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// noted wants messages accepted with a note.
func noted(t *testing.T, d *natsbroker.Destination, note string, msgs ...broker.Delivery) {
	t.Helper()
	for i, r := range publishtest.Publish(t, d, 10*time.Second, msgs...) {
		if r.Outcome != broker.Accepted || r.Note != note {
			t.Errorf("message %d is %v (%v) with note %q, want accepted with %q", i, r.Outcome, r.Err, r.Note, note)
		}
	}
}

// subjects counts what the stream holds by subject.
func (p place) subjects(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, m := range p.read(t) {
		n[m.Subject()]++
	}
	return n
}

// Two subscriptions of one box, one stream: what is new to a subject, or to a
// subscription, is no repeat.
func TestTwoSubscriptionsIntoOneStreamBothStoreTheirMessages(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	msgs := publishtest.Messages("orders", 5)
	for _, name := range []string{"a", "b"} {
		d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Prefix: p.name + "." + name + "."}))
		for i := range msgs {
			msgs[i].Box, msgs[i].Subscription = "outbox", name
		}
		noted(t, d, "", msgs...)
		noted(t, d, "duplicate", msgs...)
	}
	if got := p.subjects(t); got[p.name+".a.orders"] != 5 || got[p.name+".b.orders"] != 5 {
		t.Errorf("the stream holds %v, want 5 of each", got)
	}
}

func TestTheNatsMsgIdDependsOnBoxSubscriptionAndSubject(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)[0]
	for _, change := range []func(){
		func() {}, func() { m.Box = "other" }, func() { m.Subscription = "other" }, func() { m.Topic += ".other" },
	} {
		change()
		noted(t, d, "", m)
		noted(t, d, "duplicate", m)
	}
	if held := p.held(t); held != 4 {
		t.Errorf("the stream holds %d messages, want 4", held)
	}
}

// A stream remembers ids of messages that it has no more. What was purged, expired or
// consumed is not there, whatever the stream says.
func TestARepeatIsStoredAgainIfTheStreamDeletedTheMessage(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 70)
	noted(t, d, "", msgs...)
	if err := p.stream(t).Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, msgs...), broker.Accepted, "")
		if held := p.held(t); held != len(msgs) {
			t.Errorf("the stream holds %d messages, want %d", held, len(msgs))
		}
	}
}

// Somebody else's message under the id is not this one.
func TestARepeatIsStoredIfItsIDIsThatOfAnotherMessage(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Duplicates = time.Minute })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)[0]
	noted(t, d, "", m)
	id := p.read(t)[0].Headers().Get("Nats-Msg-Id")
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	p.create(t, nil)
	if _, err := p.js.Publish(t.Context(), p.name+".elsewhere", []byte("foreign"), jetstream.WithMsgID(id)); err != nil {
		t.Fatal(err)
	}
	noted(t, d, "", m)
	noted(t, d, "duplicate", m)
	if got := p.subjects(t); got[p.topic()] != 1 {
		t.Errorf("the stream holds %v, want the message once", got)
	}
}

func TestAnotherMessageWithTheSameIDIsStored(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)[0]
	noted(t, d, "", m)
	other := m
	other.Payload = []byte("somebody used the id twice")
	noted(t, d, "", other)
	noted(t, d, "duplicate", m)
	if held := p.held(t); held != 2 {
		t.Errorf("the stream holds %d messages, want both", held)
	}
}

// What a consumer reads of a message is its headers too.
func TestAnotherMessageWithTheSameIDAndPayloadIsStored(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{PassHeaders: []string{"Nats-TTL"}}))
	first := publishtest.Messages(p.topic(), 1)[0]
	first.Key, first.Headers = "a", map[string]string{"Tenant": "red", "Trace": "ü %\r\n "}
	stored := 0
	for what, change := range map[string]func(m *broker.Delivery){
		"the first":             func(*broker.Delivery) {},
		"another value":         func(m *broker.Delivery) { m.Headers["Tenant"] = "blue" },
		"a header more":         func(m *broker.Delivery) { m.Headers["More"] = "" },
		"a header less":         func(m *broker.Delivery) { delete(m.Headers, "Tenant") },
		"another key":           func(m *broker.Delivery) { m.Key = "b" },
		"another type":          func(m *broker.Delivery) { m.Type = "order.paid" },
		"it expires":            func(m *broker.Delivery) { m.Headers["Nats-TTL"] = "1h" },
		"what an encoder makes": func(m *broker.Delivery) { m.Wire = &broker.Wire{ContentType: "text/plain"} },
	} {
		m := first
		m.Headers = maps.Clone(first.Headers)
		change(&m)
		stored++
		noted(t, d, "", m)
		noted(t, d, "duplicate", m)
		if held := p.held(t); held != stored {
			t.Fatalf("%s: the stream holds %d messages, want %d", what, held, stored)
		}
	}
}

func TestARepeatIsRecognisedIfTheServerRaisedItsTTL(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) {
		c.AllowMsgTTL, c.AllowRollup, c.SubjectDeleteMarkerTTL = true, true, time.Hour
	})
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{PassHeaders: []string{"Nats-TTL"}}))
	m := publishtest.Messages(p.topic(), 1)
	m[0].Headers = map[string]string{"Nats-TTL": "1m"}
	noted(t, d, "", m...)
	if got := p.read(t)[0].Headers().Get("Nats-TTL"); got != "3600" {
		t.Errorf("the stored Nats-TTL is %q, so this tests nothing", got)
	}
	noted(t, d, "duplicate", m...)
}

func TestARepeatIsStoredAgainIfTheStreamMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *server.Options) {
		o.Username, o.Password = "", ""
		o.Users = []*server.User{
			{Username: user, Password: password},
			{Username: "relay", Password: password, Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: []string{"$JS.API.STREAM.MSG.GET.*"}},
			}},
		}
	})
	p := newPlace(t, s.connect(t)).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, connect(t, s.url(), nats.UserInfo("relay", password))), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 3)
	for n := 1; n <= 3; n++ {
		noted(t, d, "", msgs...)
		if held := p.held(t); held != n*len(msgs) {
			t.Errorf("the stream holds %d messages, want %d", held, n*len(msgs))
		}
	}
}

// The subject that is stored is the server's where it maps them.
func TestARepeatIsRecognisedIfTheStreamMapsSubjects(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc)
	p.create(t, func(c *jetstream.StreamConfig) {
		c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: p.name + ".>", Destination: p.name + ".mapped.>"}
	})
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)
	noted(t, d, "", m...)
	noted(t, d, "duplicate", m...)
	if held := p.held(t); held != 1 {
		t.Errorf("the stream holds %d messages, want 1", held)
	}
}

func TestARepeatOfALargeMessageIsRecognised(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 1)
	m[0].Payload = make([]byte, 1<<20-1024)
	noted(t, d, "", m...)
	noted(t, d, "duplicate", m...)
}
