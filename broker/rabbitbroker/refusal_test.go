package rabbitbroker_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// refused wants what every message and the probe of a destination is told, and
// nothing of secrets in it.
func refused(t *testing.T, d *rabbitbroker.Destination, topic string, outcome broker.Outcome, reason string) {
	t.Helper()
	results := publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(topic, 3)...)
	publishtest.Wants(t, results, outcome, reason)
	err := d.Probe(publishtest.Timeout(t, 20*time.Second))
	if broker.OutcomeOf(err) != outcome || !strings.Contains(err.Error(), reason) {
		t.Errorf("the probe says %v (%v), want %v with %q", broker.OutcomeOf(err), err, outcome, reason)
	}
	for _, err := range []error{results[0].Err, err} {
		if strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "wrong-word") {
			t.Errorf("an error holds a password: %v", err)
		}
	}
}

func TestALoginThatIsRefusedIsMisconfigured(t *testing.T) {
	t.Parallel()
	node := shared(t)
	name := func(o *rabbitbroker.Options, user string) { o.Login.User, o.Login.Password = user, "wrong-word" }
	for title, c := range map[string]struct {
		url    string
		change func(o *rabbitbroker.Options)
		reason string
	}{
		"a wrong password in the URL":           {url: node.URLAs(user, "wrong-word", "/"), reason: "refuses the login (403 ACCESS_REFUSED)"},
		"a wrong password in the options":       {url: node.URL("/"), change: func(o *rabbitbroker.Options) { name(o, user) }, reason: "refuses the login"},
		"a user that does not exist":            {url: node.URL("/"), change: func(o *rabbitbroker.Options) { name(o, "nobody") }, reason: "refuses the login"},
		"a virtual host that does not exist":    {url: node.URL("nowhere"), reason: "virtual host does not exist"},
		"a virtual host named in the options":   {url: node.URL("/"), change: func(o *rabbitbroker.Options) { o.Login.VHost = "nowhere" }, reason: "virtual host does not exist"},
		"a certificate where none can be shown": {url: node.URLTLS("/"), change: external(t, node), reason: "does not know this way to log in"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var o rabbitbroker.Options
			if c.change != nil {
				c.change(&o)
			}
			refused(t, publishtest.Closing(t, dial(t, c.url, o)), "some.queue", broker.Misconfigured, c.reason)
		})
	}
}

func external(t *testing.T, node *testserver.RabbitMQ) func(o *rabbitbroker.Options) {
	t.Helper()
	config, err := node.ClientTLS("app")
	if err != nil {
		t.Fatal(err)
	}
	return func(o *rabbitbroker.Options) { o.Login.TLS, o.Login.External = config, true }
}

func TestAUserWithoutRightsIsMisconfiguredUntilTheyAreGranted(t *testing.T) {
	t.Parallel()
	node := shared(t)
	poor := fmt.Sprintf("poor-%d", queueCount.Add(1))
	allow := func(vhost, name, configure, write, read string) {
		t.Helper()
		if err := node.Allow(t.Context(), vhost, name, configure, write, read); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(node.AddVHost(t.Context(), "guarded"), node.AddUser(t.Context(), poor, password)); err != nil {
		t.Fatal(err)
	}
	p := &place{url: node.URL("guarded"), kind: "classic", queue: "poor.made", exchange: "guarded-events"}
	p.create(t, nil)
	d := publishtest.Closing(t, dial(t, node.URLAs(poor, password, "guarded"), p.options()))
	refused(t, d, p.queue, broker.Misconfigured, "virtual host")

	allow("guarded", poor, "^$", "^$", "^$")
	publishtest.Eventually(t, "the user may enter", func() bool {
		r := publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0]
		return r.Outcome == broker.Misconfigured && strings.Contains(r.Err.Error(), "forbids this user to publish")
	})

	allow("guarded", poor, "^$", "^guarded-events$", "^$")
	if _, err := node.Ctl(t.Context(), "set_topic_permissions", "-p", "guarded", poor, "guarded-events", `^poor\.`, ".*"); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "the user may write", func() bool { // the server remembers rights for a moment
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
	mixed := append(publishtest.Messages("rich.made", 1), publishtest.Messages(p.queue, 20)...)
	mixed = append(mixed, publishtest.Messages("rich.other", 1)...)
	results := publishtest.Publish(t, d, 20*time.Second, mixed...)
	publishtest.Wants(t, []broker.Result{results[0], results[21]}, broker.Misconfigured, "forbids this user to publish")
	publishtest.Wants(t, results[1:21], broker.Accepted, "")
}

func TestAnUnroutableMessageIsMisconfiguredThoughAcknowledged(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for _, kind := range []string{"classic", "quorum", "stream"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, node, kind, true).create(t, nil)
			ch := channel(t, p.url)
			if err := errors.Join(ch.QueueUnbind(p.queue, "#", p.exchange, nil), ch.QueueBind(p.queue, "good.*", p.exchange, false, nil)); err != nil {
				t.Fatal(err)
			}
			d := publishtest.Closing(t, dial(t, p.url, p.options()))
			msgs := publishtest.Messages("good.one", 300)
			for i := range msgs {
				if i%3 == 0 {
					msgs[i].Topic = "bad.one"
				}
			}
			results := publishtest.Publish(t, d, 20*time.Second, msgs...)
			for i, r := range results {
				if i%3 == 0 {
					publishtest.Wants(t, results[i:i+1], broker.Misconfigured, "NO_ROUTE")
				} else if r.Outcome != broker.Accepted {
					t.Errorf("message %d is %v (%v), want accepted", i, r.Outcome, r.Err)
				}
			}
			if held := len(p.read(t)); held != 200 {
				t.Errorf("the queue holds %d messages, want 200", held)
			}
		})
	}
}

func TestAMissingExchangeFailsOnlyItsOwnMessages(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", true).create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Route: func(m broker.Delivery) (exchange, key string) {
		if m.Seq%4 == 1 {
			return "nowhere", m.Topic
		}
		return p.exchange, m.Topic
	}}))
	results := publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 200)...)
	for i := range results {
		if i%4 == 0 {
			publishtest.Wants(t, results[i:i+1], broker.Misconfigured, "exchange does not exist (404 NOT_FOUND)")
		} else {
			publishtest.Wants(t, results[i:i+1], broker.Accepted, "")
		}
	}
	if held := len(p.read(t)); held != 150 {
		t.Errorf("the queue holds %d messages, want 150, each once", held)
	}
}

func TestATooLargeMessageAmongManyIsRejectedAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	for title, o := range map[string]rabbitbroker.Options{
		"a limit that the server tells": {},
		"a limit from the options":      {MaxBytes: maxMessage},
		"a limit that is wrong":         {MaxBytes: 8 * maxMessage, Channels: 1},
	} {
		d := publishtest.Closing(t, dial(t, p.url, o))
		msgs := publishtest.Messages(p.queue, 50)
		msgs[20].Payload = make([]byte, maxMessage+1)
		msgs[33].Payload = make([]byte, maxMessage)
		results := publishtest.Publish(t, d, 20*time.Second, msgs...)
		publishtest.Wants(t, results[20:21], broker.Rejected, fmt.Sprint(maxMessage))
		publishtest.Wants(t, append(results[:20:20], results[21:]...), broker.Accepted, "")
		count := map[string]int{}
		for _, m := range p.read(t) {
			count[m.MessageId]++
		}
		for i, m := range msgs {
			n := count[m.ID.String()]
			if i == 20 && n != 0 || i != 20 && n == 0 || n > 1 && o.MaxBytes <= maxMessage {
				t.Errorf("%s: message %d is held %d times", title, i, n)
			}
		}
	}
}

// Such a message passes no check: here nothing is checked.
func TestAMessageThatClosesTheChannelIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", false).create(t, nil)
	for _, culprits := range []map[int]bool{{0: true}, {499: true}, {0: true, 100: true, 101: true, 333: true, 499: true}} {
		d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Channels: 1}))
		msgs := publishtest.Messages(p.queue, 500)
		for i := range culprits {
			msgs[i].Wire = &broker.Wire{Headers: map[string]string{"CC": "no list"}}
		}
		results := make([]broker.Result, len(msgs))
		rabbitbroker.PublishUnchecked(publishtest.Timeout(t, time.Minute), d, msgs, results)
		held := map[string]bool{}
		for _, m := range p.read(t) {
			held[m.MessageId] = true
		}
		for i, r := range results {
			want := broker.Accepted
			if culprits[i] {
				want = broker.Rejected
				publishtest.Wants(t, results[i:i+1], want, "closed the channel for the message (406 PRECONDITION_FAILED)")
			}
			if r.Outcome != want || held[msgs[i].ID.String()] != (want == broker.Accepted) {
				t.Errorf("message %d is %v (%v), and held: %v; want %v", i, r.Outcome, r.Err, held[msgs[i].ID.String()], want)
			}
		}
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 100)...), broker.Accepted, "")
	}
}

func TestAnExchangeDeletedUnderLoadFailsOnlyItsOwnMessages(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "quorum", true).create(t, nil)
	ch := channel(t, p.url)
	doomed := p.exchange + "-doomed"
	declare := func() {
		t.Helper()
		if err := errors.Join(ch.ExchangeDeclare(doomed, "topic", true, false, false, false, nil), ch.QueueBind(p.queue, "#", doomed, false, nil)); err != nil {
			t.Fatal(err)
		}
	}
	declare()
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Route: func(m broker.Delivery) (exchange, key string) {
		if m.Seq%7 == 1 {
			return doomed, m.Topic
		}
		return p.exchange, m.Topic
	}}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 50)...), broker.Accepted, "") // both exchanges are known now
	if err := ch.ExchangeDelete(doomed, false, false); err != nil {
		t.Fatal(err)
	}
	msgs := publishtest.Messages(p.queue, 500)
	for i, r := range publishtest.Publish(t, d, 30*time.Second, msgs...) {
		want := broker.Accepted
		if msgs[i].Seq%7 == 1 {
			want = broker.Misconfigured
		}
		if r.Outcome != want {
			t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, want)
		}
	}
	declare()
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs...), broker.Accepted, "")
}

func TestAFullQueueThatRefusesIsUnavailableAndLosesNoMessage(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for _, kind := range []string{"classic", "quorum"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, node, kind, false).create(t, amqp.Table{"x-max-length": 5, "x-overflow": "reject-publish"})
			d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Retries: 1}))
			accepted := map[string]bool{}
			results := publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)
			publishtest.Eventually(t, "the queue is full", func() bool {
				m := publishtest.Messages(p.queue, 1)
				results = publishtest.Publish(t, d, 20*time.Second, m...)
				if results[0].Outcome == broker.Accepted {
					accepted[m[0].ID.String()] = true
				}
				return results[0].Outcome != broker.Accepted
			})
			publishtest.Wants(t, results, broker.Unavailable, "basic.nack")
			msgs := publishtest.Messages(p.queue, 100)
			results = publishtest.Publish(t, d, 20*time.Second, msgs...)
			for i, r := range results {
				switch r.Outcome {
				case broker.Accepted:
					accepted[msgs[i].ID.String()] = true
				case broker.Unavailable:
				default:
					t.Errorf("message %d is %v (%v)", i, r.Outcome, r.Err)
				}
			}
			held := map[string]bool{}
			for _, m := range p.read(t) {
				held[m.MessageId] = true
			}
			for id := range accepted {
				if !held[id] {
					t.Errorf("a message was accepted that the queue does not hold")
				}
			}
			publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 3)...), broker.Accepted, "")
		})
	}
}

func TestARefusedMessageIsSentAgainWithinItsCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
	line := servertest.Proxy(t, address(t, p.url))
	d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), rabbitbroker.Options{Retries: 10}))
	for full := false; !full; {
		full = publishtest.Publish(t, publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Retries: -1})), 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Unavailable
	}
	nack := testserver.NewTrap("\x00\x3c\x00\x78", testserver.Forward) // basic.nack
	line.Watch(testserver.Down, nack.Watch)
	results := make(chan []broker.Result, 1)
	m := publishtest.Messages(p.queue, 1)
	go func() { results <- publishtest.Publish(t, d, time.Minute, m...) }()
	<-nack.Sprung()
	p.read(t) // which makes room, and may take the message already
	publishtest.Wants(t, <-results, broker.Accepted, "")
	stored := 0
	for _, held := range p.read(t) {
		if held.MessageId == m[0].ID.String() {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("the queue has held the message %d times after the retry, want once", stored)
	}
}

func TestAServerThatIsNotThereIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	if err := line.Refuse(); err != nil {
		t.Fatal(err)
	}
	d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), rabbitbroker.Options{}))
	refused(t, d, p.queue, broker.Unavailable, "cannot be reached")
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "it is there", func() bool { return d.Probe(t.Context()) == nil })
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 3)...), broker.Accepted, "")
}

func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	node := shared(t)
	p := newPlace(t, node, "classic", false).create(t, nil)
	trusting, err := node.ClientTLS("")
	if err != nil {
		t.Fatal(err)
	}
	other := trusting.Clone()
	other.ServerName = "elsewhere.example"
	good := publishtest.Closing(t, dial(t, node.URLTLS("/"), rabbitbroker.Options{Login: rabbitbroker.Login{TLS: trusting}}))
	publishtest.Wants(t, publishtest.Publish(t, good, 20*time.Second, publishtest.Messages(p.queue, 3)...), broker.Accepted, "")
	for title, c := range map[string]struct {
		url    string
		config *tls.Config
	}{
		"an authority that is not known": {node.URLTLS("/"), nil},
		"another name":                   {node.URLTLS("/"), other},
		"a port without TLS":             {node.URL("/"), trusting},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			d := publishtest.Closing(t, dial(t, c.url, rabbitbroker.Options{Login: rabbitbroker.Login{TLS: c.config}}))
			refused(t, d, p.queue, broker.Misconfigured, "TLS with the server fails")
		})
	}
}
