package natsbroker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func with(m broker.Delivery, name, value string) broker.Delivery {
	m.Headers = map[string]string{name: value}
	return m
}

// Each refusal that the publishing path of a single server knows, from a server.
func TestRefusalsOfARealStream(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	full := func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardNew }
	passing := natsbroker.Options{PassHeaders: []string{
		"Nats-TTL", "Nats-Rollup", "Nats-Expected-Last-Sequence", "Nats-Expected-Last-Msg-Id", "Nats-Expected-Last-Subject-Sequence",
		"Nats-Schedule", "Nats-Schedule-Target", "Nats-Incr", "Nats-Stream-Source",
	}}
	for name, c := range map[string]struct {
		config  func(c *jetstream.StreamConfig)
		options natsbroker.Options
		before  int // messages that are accepted first
		header  [2]string
		outcome broker.Outcome
		reason  string
	}{
		"full by number": {
			config: func(c *jetstream.StreamConfig) { full(c); c.MaxMsgs = 2 }, before: 2,
			outcome: broker.Unavailable, reason: "10077: maximum messages exceeded",
		},
		"full by bytes": {
			config: func(c *jetstream.StreamConfig) { full(c); c.MaxBytes = 600 }, before: 2,
			outcome: broker.Unavailable, reason: "10077: maximum bytes exceeded",
		},
		"full for the subject": {
			config: func(c *jetstream.StreamConfig) { full(c); c.MaxMsgsPerSubject = 1; c.DiscardNewPerSubject = true }, before: 1,
			outcome: broker.Unavailable, reason: "10077: maximum messages per subject exceeded",
		},
		"no acknowledgements":    {config: func(c *jetstream.StreamConfig) { c.NoAck = true }, outcome: broker.Misconfigured, reason: "no_ack"},
		"a counter":              {config: func(c *jetstream.StreamConfig) { c.AllowMsgCounter = true }, outcome: broker.Misconfigured, reason: "counts"},
		"a TTL not allowed":      {options: passing, header: [2]string{"Nats-TTL", "1h"}, outcome: broker.Rejected, reason: "10166"},
		"a schedule not allowed": {options: passing, header: [2]string{"Nats-Schedule", "@at 2030-01-01T00:00:00Z"}, outcome: broker.Rejected, reason: "10188"},
		"a count not allowed":    {options: passing, header: [2]string{"Nats-Incr", "1"}, outcome: broker.Rejected, reason: "10168"},
		"an invalid TTL": {
			config: func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true }, options: passing, header: [2]string{"Nats-TTL", "soon"},
			outcome: broker.Rejected, reason: "10165",
		},
		"an invalid schedule": {
			config:  func(c *jetstream.StreamConfig) { c.AllowMsgSchedules = true; c.AllowRollup = true },
			options: passing, header: [2]string{"Nats-Schedule", "whenever"}, outcome: broker.Rejected, reason: "10189",
		},
		"a rollup not allowed":    {options: passing, header: [2]string{"Nats-Rollup", "all"}, outcome: broker.Rejected, reason: "10111"},
		"a sequence not met":      {options: passing, before: 1, header: [2]string{"Nats-Expected-Last-Sequence", "7"}, outcome: broker.Rejected, reason: "10071"},
		"a subject's not met":     {options: passing, before: 1, header: [2]string{"Nats-Expected-Last-Subject-Sequence", "7"}, outcome: broker.Rejected, reason: "10071"},
		"a last id not met":       {options: passing, before: 1, header: [2]string{"Nats-Expected-Last-Msg-Id", "x"}, outcome: broker.Rejected, reason: "10070"},
		"a source claimed":        {options: passing, header: [2]string{"Nats-Stream-Source", "x"}, outcome: broker.Rejected, reason: "10227"},
		"above its own size":      {config: func(c *jetstream.StreamConfig) { c.MaxMsgSize = 200 }, outcome: broker.Rejected, reason: "stream and server allow 200"},
		"above its headers' size": {header: [2]string{"h", strings.Repeat("é", 12_000)}, outcome: broker.Rejected, reason: "JetStream stores 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := s.connect(t)
			p := newPlace(t, nc).create(t, c.config)
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), c.options))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), c.before)...), broker.Accepted, "")
			m := publishtest.Messages(p.topic(), 1)[0]
			if c.header[0] != "" {
				m = with(m, c.header[0], c.header[1])
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m), c.outcome, c.reason)
			if held := p.held(t); held != c.before {
				t.Errorf("the stream holds %d messages, want %d", held, c.before)
			}
		})
	}
}

func TestAStreamThatIsEmptiedTakesMessagesAgain(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 3, jetstream.DiscardNew })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 3)...), broker.Accepted, "")
	m := publishtest.Messages(p.topic(), 1)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Unavailable, "make room")
	if err := p.stream(t).Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
}

// What was learnt of a stream grows old; the server's word is the last.
func TestAStreamThatOthersChangedIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	for name, c := range map[string]struct {
		change  func(c *jetstream.StreamConfig)
		outcome broker.Outcome
		first   string
		then    string
	}{
		"smaller": {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 200 }, broker.Rejected, "10054", "10054"}, // the limit known is kept until Recheck
		"sealed":  {func(c *jetstream.StreamConfig) { c.Sealed = true }, broker.Misconfigured, "10109", "is sealed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, nc).create(t, nil)
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
			config := p.stream(t).CachedInfo().Config
			c.change(&config)
			if _, err := p.js.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), c.outcome, c.first)
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), c.outcome, c.then)
		})
	}
}

func TestARaisedLimitIsSeenAfterRecheck(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 200 })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Recheck: time.Millisecond}))
	m := publishtest.Messages(p.topic(), 1)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Rejected, "allow 200")
	config := p.stream(t).CachedInfo().Config
	config.MaxMsgSize = -1
	if _, err := p.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); publishtest.Publish(t, d, 10*time.Second, m...)[0].Outcome != broker.Accepted; {
		if time.Now().After(deadline) {
			t.Fatal("a limit that was raised is not seen")
		}
	}
}

// Anyone who raised a limit and retries the message does not wait for Recheck.
func TestARaisedLimitIsSeenByTheRefusedMessage(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 200 })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Recheck: time.Hour}))
	m := publishtest.Messages(p.topic(), 1)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Rejected, "allow 200")
	config := p.stream(t).CachedInfo().Config
	config.MaxMsgSize = -1
	if _, err := p.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	m[0].Attempt = 2 // its second attempt, a moment after the first
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
}

func TestAStreamThatIsNotThereIsMisconfigured(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for name, options := range map[string]func(p place) natsbroker.Options{
		"looked up": func(place) natsbroker.Options { return natsbroker.Options{} },
		"named":     func(p place) natsbroker.Options { return natsbroker.Options{Stream: p.name} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := s.connect(t)
			p := newPlace(t, nc)
			// An ordinary subscriber hears a message in place of the missing stream: the server then has a listener, and
			// nobody answers.
			heard := make(chan *nats.Msg, 100)
			if _, err := nc.ChanSubscribe(p.name+".>", heard); err != nil {
				t.Fatal(err)
			}
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), options(p)))
			m := publishtest.Messages(p.topic(), 3)
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "create")
			if len(heard) != 0 {
				t.Errorf("%d messages were sent though no stream takes them", len(heard))
			}
			p.create(t, nil)
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")

			if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
				t.Fatal(err)
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 500*time.Millisecond, m...), broker.Unknown, "no answer")
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Misconfigured, "create")
		})
	}
}

func TestADeletedStreamWithoutOtherSubscribersIsMisconfiguredAtOnce(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 50)...), broker.Misconfigured, "no stream listens")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to see that nobody listens", took)
	}
}

func TestAnotherStreamThanTheOneNamedIsMisconfigured(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	mine, other := newPlace(t, nc).create(t, nil), newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Stream: mine.name}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(other.topic(), 2)...), broker.Misconfigured, "10060")
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(mine.topic(), 2)...), broker.Accepted, "")
	if len(other.read(t)) != 0 {
		t.Error("a message went to the wrong stream")
	}
}

func TestAReplyOfAnotherSubscriberIsNotAnAcknowledgement(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	for _, subject := range []string{p.name + ".>"} {
		if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte("thank you")) }); err != nil {
			t.Fatal(err)
		}
	}
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 20)...), broker.Accepted, "")
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 500*time.Millisecond, publishtest.Messages(p.topic(), 3)...), broker.Unknown, "no stream answered")
}

func TestAMessageToAnInvalidSubjectIsRejectedAloneAndNotSent(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	for _, topic := range []string{"", "a b", "*", p.name + ".>", p.name + "..x", "$JS.API.STREAM.DELETE." + p.name, p.name + ".x\r\n"} {
		msgs := publishtest.Messages(p.topic(), 3)
		msgs[1].Topic = topic
		results := publishtest.Publish(t, d, 10*time.Second, msgs...)
		publishtest.Wants(t, results[1:2], broker.Rejected, "use a topic of tokens")
		publishtest.Wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
	}
	if held := p.held(t); held != 14 {
		t.Errorf("the stream holds %d messages, want 14", held)
	}
}

func TestAServerWithoutJetStreamIsUnavailable(t *testing.T) {
	t.Parallel()
	nc := startServer(t, func(o *server.Options) { o.JetStream = false }).connect(t)
	for name, options := range map[string]natsbroker.Options{"looked up": {}, "named": {Stream: "S"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), options))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("x.y", 2)...), broker.Unavailable, "JetStream does not answer")
			if got := broker.OutcomeOf(d.Probe(publishtest.Timeout(t, 10*time.Second))); got != broker.Unavailable {
				t.Errorf("the probe says %v", got)
			}
		})
	}
}

func TestAStreamThatDropsMessagesUnderLoadIsUnavailable(t *testing.T) {
	t.Parallel()
	nc := startServer(t, func(o *server.Options) { o.StreamMaxBufferedMsgs = 30 }).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	all := publishtest.Messages(p.topic(), 2000)
	results := publishtest.Publish(t, d, 30*time.Second, all...)
	var dropped []broker.Delivery
	for i, r := range results {
		if r.Outcome != broker.Accepted {
			publishtest.Wants(t, results[i:i+1], broker.Unavailable, "10167")
			dropped = append(dropped, all[i])
		}
	}
	if len(dropped) == 0 {
		t.Fatal("nothing was dropped; the test wants more messages than the stream can hold before it")
	}
	for some := range slices.Chunk(dropped, 10) {
		publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, some...), broker.Accepted, "")
	}
	if held := p.held(t); held != len(all) {
		t.Errorf("the stream holds %d messages, want %d", held, len(all))
	}
}

func TestAServerOutOfSpaceIsUnavailable(t *testing.T) {
	t.Parallel()
	nc := startServer(t, func(o *server.Options) { o.JetStreamMaxMemory, o.JetStreamMaxStore = 64<<10, 64<<10 }).connect(t)
	for name, storage := range map[string]jetstream.StorageType{"memory": jetstream.MemoryStorage, "file": jetstream.FileStorage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.Storage = storage })
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
			var last broker.Result
			for range 40 {
				m := publishtest.Messages(p.topic(), 1)
				m[0].Payload = make([]byte, 8<<10)
				if last = publishtest.Publish(t, d, 10*time.Second, m...)[0]; last.Outcome != broker.Accepted {
					break
				}
			}
			publishtest.Wants(t, []broker.Result{last}, broker.Unavailable, "raise the limits")
		})
	}
}
