package natsbroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func newPlaceNamed(t testing.TB, nc *nats.Conn, name string) place {
	t.Helper()
	return place{js: jetStream(t, nc), name: name}
}

func TestOptionsThatCannotBeUsedAreAnErrorOfNew(t *testing.T) {
	t.Parallel()
	_, err := natsbroker.New(nil, natsbroker.Options{Stream: "a.b", MaxPending: -1})
	for _, words := range []string{"Options.MaxPending", "Options.Stream", "no JetStream"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is not in %v", words, err)
		}
	}
}

func TestValidateNamesEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	subject := func(m broker.Delivery) string { return m.Topic }
	for name, c := range map[string]struct {
		options natsbroker.Options
		want    []string // none: valid
	}{
		"nothing":             {options: natsbroker.Options{}},
		"everything in order": {options: natsbroker.Options{Stream: "ORDERS", Prefix: "a.b.", MaxPending: 1, PassHeaders: []string{"Nats-TTL"}, Recheck: 1}},
		"a subject function":  {options: natsbroker.Options{Subject: subject}},
		"a stream's name":     {options: natsbroker.Options{Stream: "a b"}, want: []string{"Options.Stream"}},
		"a stream's wildcard": {options: natsbroker.Options{Stream: ">"}, want: []string{"Options.Stream"}},
		"a prefix's space":    {options: natsbroker.Options{Prefix: "a b."}, want: []string{"Options.Prefix"}},
		"a prefix's wildcard": {options: natsbroker.Options{Prefix: "*."}, want: []string{"Options.Prefix"}},
		"a prefix's dots":     {options: natsbroker.Options{Prefix: "a.."}, want: []string{"Options.Prefix"}},
		"prefix and subject":  {options: natsbroker.Options{Prefix: "a.", Subject: subject}, want: []string{"are both set"}},
		"pending":             {options: natsbroker.Options{MaxPending: -1}, want: []string{"Options.MaxPending"}},
		"recheck":             {options: natsbroker.Options{Recheck: -1}, want: []string{"Options.Recheck"}},
		"an id passed":        {options: natsbroker.Options{PassHeaders: []string{"Nats-Msg-Id"}}, want: []string{"which is set for every message"}},
		"a stream passed":     {options: natsbroker.Options{PassHeaders: []string{"Nats-Expected-Stream"}}, want: []string{"which is set for every message"}},
		"another passed":      {options: natsbroker.Options{PassHeaders: []string{"Trace-Id", "Nats-a b"}}, want: []string{"Trace-Id", "Nats-a b"}},
		"two logins":          {options: natsbroker.Options{Login: natsbroker.Login{User: "u", Token: "t"}}, want: []string{"Token and User"}},
		"files": {
			options: natsbroker.Options{Login: natsbroker.Login{CredentialsFile: "/does/not/exist"}}, want: []string{"Login.CredentialsFile"},
		},
		"all": {
			options: natsbroker.Options{Stream: ".", Prefix: " ", MaxPending: -1, Recheck: -1, Login: natsbroker.Login{NKeyFile: "/does/not/exist"}},
			want:    []string{"Options.Stream", "Options.Prefix", "Options.MaxPending", "Options.Recheck", "Login.NKeyFile"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.options.Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("Validate: %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Validate: %v, want %q in it", err, want)
				}
			}
		})
	}
}

func TestTheSubjectIsMadeOfTopicAndOptions(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	for name, c := range map[string]struct {
		options func(p place) natsbroker.Options
		topic   func(p place) string
	}{
		"the topic": {func(place) natsbroker.Options { return natsbroker.Options{} }, func(p place) string { return p.name + ".orders" }},
		"a prefix":  {func(p place) natsbroker.Options { return natsbroker.Options{Prefix: p.name + "."} }, func(place) string { return "orders" }},
		"a function": {func(p place) natsbroker.Options {
			return natsbroker.Options{Subject: func(m broker.Delivery) string { return p.name + "." + strings.ToLower(m.Topic) }}
		}, func(place) string { return "ORDERS" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, nc).create(t, nil)
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), c.options(p)))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(c.topic(p), 2)...), broker.Accepted, "")
			if got := p.read(t)[0].Subject(); got != p.name+".orders" {
				t.Errorf("the subject is %q, want %q", got, p.name+".orders")
			}
		})
	}
}

func TestARepeatWithinTheWindowIsAcceptedWithANote(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	m := publishtest.Messages(p.topic(), 3)
	for i, note := range []string{"", "duplicate"} {
		for _, r := range publishtest.Publish(t, d, 10*time.Second, m...) {
			if r.Outcome != broker.Accepted || r.Note != note {
				t.Errorf("delivery %d is %v with note %q, want accepted with %q", i+1, r.Outcome, r.Note, note)
			}
		}
	}
	if held := p.held(t); held != 3 {
		t.Errorf("the stream holds %d messages, want 3", held)
	}
}

func TestAPassedNATSHeaderTakesEffect(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{PassHeaders: []string{"Nats-TTL"}}))
	m := publishtest.Messages(p.topic(), 2)
	m[0] = with(m[0], "Nats-TTL", "1s")
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, m...), broker.Accepted, "")
	publishtest.Eventually(t, "the message with a TTL of a second is gone", func() bool { return p.held(t) == 1 })
}

func TestTwoPendingMessagesAtMostStillSendManyAndTheUnanswered(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{MaxPending: 2}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 300)...), broker.Accepted, "")
	if err := p.js.DeleteStream(t.Context(), p.name); err != nil {
		t.Fatal(err)
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 300)...), broker.Misconfigured, "no stream listens")
	p.create(t, nil)
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.topic(), 300)...), broker.Accepted, "")
}

func TestManySubjectsOfOneStreamNeedFewLookups(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	asked, err := nc.SubscribeSync("$JS.API.STREAM.>")
	if err != nil {
		t.Fatal(err)
	}
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 500)
	for i := range msgs {
		msgs[i].Topic = fmt.Sprintf("%s.order.%d", p.name, i)
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := asked.Pending(); err != nil || n != 2 {
		t.Errorf("the API was asked %d times (%v), want 2: which stream, and what it is", n, err)
	}
}

func TestExpiredLookupsOfManySubjectsAreRefreshedTogether(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Recheck: time.Second}))
	accept := func() { // new messages, because for repeats the API is asked what the stream holds
		msgs := publishtest.Messages(p.topic(), 100)
		for i := range msgs {
			msgs[i].Topic = fmt.Sprintf("%s.order.%d", p.name, i)
		}
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	}
	accept()
	asked, err := nc.SubscribeSync("$JS.API.STREAM.>")
	if err != nil {
		t.Fatal(err)
	}
	questions := 0
	publishtest.Eventually(t, "the stream is asked about again", func() bool {
		accept()
		var err error
		if err = nc.Flush(); err == nil {
			questions, _, err = asked.Pending()
		}
		if err != nil {
			t.Fatal(err)
		}
		return questions > 0
	})
	if questions > 4 { // two for the stream, and perhaps another two when the test itself was slow
		t.Errorf("the API was asked %d times for 100 subjects of one stream", questions)
	}
}

func TestASubjectFunctionThatPanicsRejectsTheMessageAlone(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{Subject: func(m broker.Delivery) string {
		return p.name + "." + string(m.Payload[8]) // "payload 0"
	}}))
	msgs := publishtest.Messages("any", 3)
	msgs[1].Payload = nil
	results := publishtest.Publish(t, d, 10*time.Second, msgs...)
	publishtest.Wants(t, results[1:2], broker.Rejected, "Options.Subject panicked")
	publishtest.Wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
}

func TestMessagesOfACallAreStoredInOrder(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	msgs := publishtest.Messages(p.topic(), 1000)
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
	for i, m := range p.read(t) {
		if got := m.Headers().Get(broker.HeaderID); got != msgs[i].ID.String() {
			t.Fatalf("message %d of the stream is %s, want %s", i, got, msgs[i].ID)
		}
	}
}

func TestAnswersAreReportedOneByOne(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	// A message to a subject with an ordinary listener and no stream has no answer.
	if _, err := nc.Subscribe("silent.x", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	silent := newPlaceNamed(t, nc, "silent").create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages("silent.x", 1)...), broker.Accepted, "")
	if err := silent.js.DeleteStream(t.Context(), "silent"); err != nil {
		t.Fatal(err)
	}
	msgs := publishtest.Messages(p.topic(), 5)
	msgs[0].Topic = "silent.x"
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	reported := make(chan int, len(msgs))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Publish(ctx, msgs, func(i int, r broker.Result) {
			if (r.Outcome == broker.Accepted) != (i > 0) {
				t.Errorf("message %d is %v (%v)", i, r.Outcome, r.Err)
			}
			reported <- i
		})
	}()
	var early []int
	for range 4 {
		early = append(early, <-reported)
	}
	if slices.Contains(early, 0) {
		t.Error("the message without an answer was reported with the others")
	}
	cancel()
	<-ended
	if last := <-reported; last != 0 {
		t.Errorf("message %d was reported last, want 0", last)
	}
}

func TestCloseLeavesAGivenConnectionOpenAndOthersAtWork(t *testing.T) {
	t.Parallel()
	nc := startServer(t, nil).connect(t)
	p := newPlace(t, nc).create(t, nil)
	first := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	second := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, first, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Accepted, "")
	publishtest.Wants(t, publishtest.Publish(t, second, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Accepted, "")
	before := nc.NumSubscriptions()
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := nc.NumSubscriptions(); after != before-1 {
		t.Errorf("the connection has %d subscriptions, %d before Close; want the inbox gone", after, before)
	}
	publishtest.Wants(t, publishtest.Publish(t, second, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Accepted, "")
	if !nc.IsConnected() {
		t.Error("Close closed a connection that was handed in")
	}
}

func TestAConnectionThatIsClosedOrDrainingIsUnavailable(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for name, end := range map[string]func(nc *nats.Conn) error{
		"closed":  func(nc *nats.Conn) error { nc.Close(); return nil },
		"drained": func(nc *nats.Conn) error { return nc.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := s.connect(t)
			p := newPlace(t, nc).create(t, nil)
			d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
			if err := end(nc); err != nil {
				t.Fatal(err)
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 2)...), broker.Unavailable, "")
			if err := d.Probe(t.Context()); broker.OutcomeOf(err) != broker.Unavailable {
				t.Errorf("Probe: %v", err)
			}
		})
	}
}

// A connection that buffers while it is away must not be given anything then:
// it would be sent after the relay was told that it was not.
func TestNothingIsBufferedWhileTheConnectionIsDown(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	nc := s.connect(t, nats.ReconnectBufSize(8<<20))
	p := newPlace(t, nc).create(t, nil)
	d := publishtest.Made[*natsbroker.Destination](t)(natsbroker.New(jetStream(t, nc), natsbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
	s.stop()
	publishtest.Eventually(t, "the connection sees that the server is gone", func() bool { return !nc.IsConnected() })
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 5)...), broker.Unavailable, "cannot be reached")
	s.start(t)
	publishtest.Eventually(t, "the connection is back", nc.IsConnected)
	publishtest.Wants(t, publishtest.Publish(t, d, 10*time.Second, publishtest.Messages(p.topic(), 1)...), broker.Accepted, "")
	if held := p.held(t); held != 2 {
		t.Errorf("the stream holds %d messages, want 2: one before and one after", held)
	}
}

func TestDialSucceedsIfTheServerStartsLater(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.stop()
	d, err := natsbroker.Dial(t.Context(), s.url(), natsbroker.Options{Login: natsbroker.Login{User: user, Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Closing(t, d)
	m := publishtest.Messages("P.made", 2)
	publishtest.Wants(t, publishtest.Publish(t, d, 5*time.Second, m...), broker.Unavailable, "")
	s.start(t)
	newPlaceNamed(t, s.connect(t), "P").create(t, nil)
	publishtest.Eventually(t, "accepted once the server is there", func() bool {
		return publishtest.Publish(t, d, 5*time.Second, m...)[1].Outcome == broker.Accepted
	})
}

func TestDialWithAContextThatIsOver(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := natsbroker.Dial(over, "nats://127.0.0.1:1", natsbroker.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial: %v, want the context's error", err)
	}
}
