package rabbitbroker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestASecondHostIsUsedWhenTheFirstIsNotThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	a, b := servertest.Proxy(t, address(t, p.url)), servertest.Proxy(t, address(t, p.url))
	if err := a.Refuse(); err != nil {
		t.Fatal(err)
	}
	d := publishtest.Closing(t, dial(t, via(t, p.url, a.Addr())+", "+via(t, p.url, b.Addr()), rabbitbroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 3)...), broker.Accepted, "")
	if err := errors.Join(a.Resume(), b.Refuse()); err != nil {
		t.Fatal(err)
	}
	b.Cut()
	publishtest.Eventually(t, "the other host is used", func() bool {
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
	if a.Connections() != 1 || b.Connections() != 0 {
		t.Errorf("%d and %d connections, want the first host's one", a.Connections(), b.Connections())
	}
}

// A host that refuses the login says more than one that is not there.
func TestTheWorstOfSeveralHostsIsReported(t *testing.T) {
	t.Parallel()
	node := shared(t)
	wrong := node.URLAs(user, "wrong-word", "/")
	away := servertest.Proxy(t, address(t, wrong))
	if err := away.Refuse(); err != nil {
		t.Fatal(err)
	}
	for _, urls := range []string{wrong + "," + via(t, wrong, away.Addr()), via(t, wrong, away.Addr()) + "," + wrong} {
		refused(t, publishtest.Closing(t, dial(t, urls, rabbitbroker.Options{})), "some.queue", broker.Misconfigured, "refuses the login")
	}
}

func TestAConnectionClosedByAnOperatorLosesNoMessage(t *testing.T) {
	t.Parallel()
	node := shared(t)
	if err := node.AddVHost(t.Context(), "closing"); err != nil {
		t.Fatal(err)
	}
	p := &place{url: node.URL("closing"), kind: "classic", queue: "closing.made"}
	p.create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{}))
	all := publishtest.Plan(p.queue, 8, 60)
	publishtest.Traffic(t, d, all, 2, func() {
		if _, err := node.Ctl(t.Context(), "close_all_connections", "-p", "closing", "spring cleaning"); err != nil {
			t.Error(err)
		}
	})
	inOrder(t, p, all)
}

func TestTheTopologyIsDeclaredAtEachConnectionAndForAnUnroutableMessage(t *testing.T) {
	t.Parallel()
	node := shared(t)
	ch := channel(t, node.URL("/"))
	line := servertest.Proxy(t, address(t, node.URL("/")))
	topology := rabbitbroker.Topology{
		Exchanges: []rabbitbroker.Exchange{{Name: "made-events"}, {Name: "made-fan", Kind: "fanout"}},
		Queues: []rabbitbroker.Queue{
			{Name: "made-quorum"}, {Name: "made-classic", Type: "classic", Arguments: map[string]any{"x-max-length": 1000}}, {Name: "made-stream", Type: "stream"},
		},
		Bindings: []rabbitbroker.Binding{
			{Exchange: "made-events", Queue: "made-quorum", RoutingKey: "made.#"}, {Exchange: "made-fan", Queue: "made-classic"}, {Exchange: "made-fan", Queue: "made-stream"},
		},
	}
	o := rabbitbroker.Options{Topology: topology, Route: func(m broker.Delivery) (exchange, key string) {
		return map[bool]string{true: "made-events", false: "made-fan"}[m.Seq%2 == 0], m.Topic
	}}
	d := publishtest.Closing(t, dial(t, via(t, node.URL("/"), line.Addr()), o))
	send := func(when string) {
		t.Helper()
		publishtest.Eventually(t, when+" all is accepted", func() bool {
			for _, r := range publishtest.Publish(t, d, 20*time.Second, publishtest.Messages("made.one", 10)...) {
				if r.Outcome != broker.Accepted {
					return false
				}
			}
			return true
		})
	}
	send("at first")
	remove := func() {
		t.Helper()
		_, err1 := ch.QueueDelete("made-quorum", false, false, false)
		_, err2 := ch.QueueDelete("made-classic", false, false, false)
		if err := errors.Join(err1, err2, ch.ExchangeDelete("made-fan", false, false)); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	send("after a removal")
	remove()
	line.Cut()
	send("after a removal and a new connection")
}

// While a circuit is open a relay only probes: what the probe finds missing must be made by then.
func TestADeletedExchangeOfTheTopologyIsDeclaredAgain(t *testing.T) {
	t.Parallel()
	node := shared(t)
	ch := channel(t, node.URL("/"))
	for title, try := range map[string]func(*rabbitbroker.Destination) error{
		"a probe": func(d *rabbitbroker.Destination) error { return d.Probe(publishtest.Timeout(t, 20*time.Second)) },
		"a message": func(d *rabbitbroker.Destination) error {
			return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages("t", 1)...)[0].Err
		},
	} {
		t.Run(title, func(t *testing.T) {
			name := "gone-" + strings.ReplaceAll(title, " ", "-")
			d := publishtest.Closing(t, dial(t, node.URL("/"), rabbitbroker.Options{Exchange: name, Topology: rabbitbroker.Topology{
				Exchanges: []rabbitbroker.Exchange{{Name: name, Kind: "fanout"}}, Queues: []rabbitbroker.Queue{{Name: name}},
				Bindings: []rabbitbroker.Binding{{Exchange: name, Queue: name}},
			}}))
			if err := try(d); err != nil {
				t.Fatal(err)
			}
			if err := ch.ExchangeDelete(name, false, false); err != nil {
				t.Fatal(err)
			}
			publishtest.Eventually(t, "the exchange is there again", func() bool { return try(d) == nil })
		})
	}
}

func TestATopologyThatDiffersFromWhatExistsIsMisconfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: p.queue, Type: "quorum"}}}}))
	refused(t, d, p.queue, broker.Misconfigured, "Options.Topology cannot be declared (406 PRECONDITION_FAILED)")
	ch := channel(t, p.url)
	if _, err := ch.QueueDelete(p.queue, false, false, false); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "fixed", func() bool {
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
}

func TestAProbeSeesThatTheExchangeIsMissing(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for title, c := range map[string]struct {
		options rabbitbroker.Options
		want    broker.Outcome
	}{
		"the default exchange":    {rabbitbroker.Options{}, broker.Accepted},
		"an exchange":             {rabbitbroker.Options{Exchange: "amq.topic"}, broker.Accepted},
		"no such exchange":        {rabbitbroker.Options{Exchange: "nowhere"}, broker.Misconfigured},
		"an exchange of messages": {rabbitbroker.Options{Exchange: "{topic}"}, broker.Accepted},
	} {
		d := publishtest.Closing(t, dial(t, node.URL("/"), c.options))
		if err := d.Probe(publishtest.Timeout(t, 20*time.Second)); broker.OutcomeOf(err) != c.want {
			t.Errorf("%s: the probe says %v, want %v", title, err, c.want)
		}
	}
}

// What the reference page says of queues that acknowledge and do not keep is so.
func TestDurabilityOfAQueueFollowsItsSettings(t *testing.T) {
	t.Parallel()
	node := shared(t)
	for title, c := range map[string]struct {
		kind string
		args map[string]any
		held int
	}{
		"everything, without limits":                       {"classic", nil, 10},
		"the last, of a classic queue that drops its head": {"classic", map[string]any{"x-max-length": 3}, 3},
		"the last, of a quorum queue that drops its head":  {"quorum", map[string]any{"x-max-length": 3}, 3},
		"nothing, of a queue whose messages expire":        {"classic", map[string]any{"x-message-ttl": 0}, 0},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, node, c.kind, false).create(t, c.args)
			d := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{}))
			publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 10)...), broker.Accepted, "")
			publishtest.Eventually(t, fmt.Sprintf("the queue holds %d messages", c.held), func() bool { return depth(t, p) == c.held })
		})
	}
}

func depth(t *testing.T, p *place) int {
	t.Helper()
	q, err := channel(t, p.url).QueueDeclarePassive(p.queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

func TestDialSaysWhatIsWrongWithItsArguments(t *testing.T) {
	t.Parallel()
	_, err := rabbitbroker.Dial(t.Context(), "http://user:secret-word@host,,amqp://", rabbitbroker.Options{MaxPending: -1, Exchange: "{nothing}"})
	for _, want := range []string{"URL 1", "URL 2 is empty", "URL 3 names no host", "Options.MaxPending", "Options.Exchange"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "secret-word") {
		t.Error("the error holds the password")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rabbitbroker.Dial(over, "amqp://127.0.0.1", rabbitbroker.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with a context that is over: %v", err)
	}
}

// A host that takes connections and says nothing is no reason to wait for ever.
func TestAHostThatNeverAnswersIsUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	d, err := rabbitbroker.Dial(t.Context(), "amqp://"+listener.Addr().String(), rabbitbroker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages("some.queue", 2)...), broker.Unavailable, "")
	if err := d.Close(publishtest.Timeout(t, 20*time.Second)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestTheConnectionToASilentServerEndsByHeartbeat(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), rabbitbroker.Options{Login: rabbitbroker.Login{Heartbeat: 2 * time.Second}}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...), broker.Accepted, "")
	line.BlackHole(testserver.Down)
	publishtest.Wants(t, publishtest.Publish(t, d, time.Minute, publishtest.Messages(p.queue, 3)...), broker.Unknown, "the connection was lost")
	publishtest.Wants(t, publishtest.Publish(t, d, time.Minute, publishtest.Messages(p.queue, 3)...), broker.Unavailable, "")
	line.Cut()
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "it speaks again", func() bool {
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
}

// The queue's process is made to stand still, as a quorum queue does that has no
// majority.
func TestAQueueThatDoesNotAnswerDelaysNoOther(t *testing.T) {
	t.Parallel()
	node := shared(t)
	stuck, good := newPlace(t, node, "classic", false).create(t, nil), newPlace(t, node, "quorum", false).create(t, nil)
	control := func(word string) {
		t.Helper()
		_, err := node.Ctl(t.Context(), "eval", fmt.Sprintf(
			`{ok, Q} = rabbit_amqqueue:lookup({resource, <<"/">>, queue, <<"%s">>}), ok = sys:%s(amqqueue:get_pid(Q)).`, stuck.queue, word))
		if err != nil {
			t.Fatal(err)
		}
	}
	control("suspend")
	d := publishtest.Closing(t, dial(t, good.url, rabbitbroker.Options{Channels: 1}))
	msgs := append(publishtest.Messages(stuck.queue, 3), publishtest.Messages(good.queue, 50)...) // the first of all must be alone
	msgs = append(msgs, publishtest.Messages(stuck.queue, 2)...)
	msgs[10].Payload = make([]byte, 100<<10) // and this one
	answered := make(chan int, len(msgs))
	ctx, cancel := context.WithCancel(publishtest.Timeout(t, time.Minute))
	ended := make(chan struct{})
	var outcomes [60]broker.Outcome
	go func() {
		defer close(ended)
		d.Publish(ctx, msgs, func(i int, r broker.Result) {
			outcomes[i] = r.Outcome
			answered <- i
		})
	}()
	for range 50 {
		if i := <-answered; i < 3 || i >= 53 || outcomes[i] != broker.Accepted {
			t.Fatalf("message %d is %v, want the others accepted", i, outcomes[i])
		}
	}
	cancel()
	<-ended
	for _, i := range []int{0, 1, 2, 53, 54} {
		if outcomes[i] != broker.Unknown {
			t.Errorf("message %d to the queue that stands still is %v, want unknown", i, outcomes[i])
		}
	}
	control("resume")
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, msgs[0]), broker.Accepted, "")
	if held := len(stuck.read(t)); held != 6 {
		t.Errorf("the queue holds %d messages once it goes on, want 5 and a repeat", held)
	}
}

func TestACallWhoseContextEndsAtMaxPendingSendsNothingMore(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	line := servertest.Proxy(t, address(t, p.url))
	d := publishtest.Closing(t, dial(t, via(t, p.url, line.Addr()), rabbitbroker.Options{Channels: 1, MaxPending: 10}))
	publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...), broker.Accepted, "")
	line.Delay(testserver.Down, time.Hour)
	results := publishtest.Publish(t, d, time.Second, publishtest.Messages(p.queue, 100)...)
	publishtest.Wants(t, results[:10], broker.Unknown, "no answer came before the context ended")
	publishtest.Wants(t, results[10:], broker.NotSent, "before the message was sent")
	// Nobody waits for those ten any more: others take their place.
	publishtest.Wants(t, publishtest.Publish(t, d, time.Second, publishtest.Messages(p.queue, 5)...), broker.Unknown, "no answer came before the context ended")
	for range 5 { // until the channel is given up for what it owes
		publishtest.Publish(t, d, 300*time.Millisecond, publishtest.Messages(p.queue, 10)...)
	}
	line.Cut()
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "all is well again", func() bool {
		return publishtest.Publish(t, d, 20*time.Second, publishtest.Messages(p.queue, 1)...)[0].Outcome == broker.Accepted
	})
}
