package natsbroker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

func TestSourceOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	good := natsbroker.SourceOptions{URL: "nats://host", Stream: "S", Consumer: "c"}
	if err := good.Validate(); err != nil {
		t.Errorf("good options: %v", err)
	}
	err := natsbroker.SourceOptions{
		Stream: "a.b", Subjects: []string{"a..b", "a.>", "a.>", ">.a"}, Order: source.OrderPartition, AckWait: time.Millisecond, MaxUnacked: -1,
		Login: natsbroker.Login{User: "u", Token: password},
	}.Validate()
	if err == nil {
		t.Fatal("bad options have no fault")
	}
	for _, want := range []string{
		"SourceOptions.URL is empty", "SourceOptions.Stream", "SourceOptions.Consumer", `"a..b", which has an empty token`, `"a.>" twice`,
		`">.a", which has a wildcard`, "Order is partition", "AckWait is 1ms", "MaxUnacked is -1", "SourceOptions.Login has Token and User",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault says %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), password) {
		t.Error("a fault quotes the login")
	}
	_, err = natsbroker.OpenSource(t.Context(), natsbroker.SourceOptions{})
	if err == nil || !strings.Contains(err.Error(), "SourceOptions.Stream") {
		t.Errorf("OpenSource of no options: %v", err)
	}
}

// Each setting that would make a promise untrue is refused by name, and the consumer stays as it is.
func TestAConsumerWhoseSettingsBreakAPromiseIsRefused(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	for name, c := range map[string]struct {
		change func(c *jetstream.ConsumerConfig)
		option func(o *natsbroker.SourceOptions)
		want   string
	}{
		"acks none":      {change: func(c *jetstream.ConsumerConfig) { c.AckPolicy = jetstream.AckNonePolicy }, want: "ack_policy is none"},
		"acks all":       {change: func(c *jetstream.ConsumerConfig) { c.AckPolicy = jetstream.AckAllPolicy }, want: "ack_policy is all"},
		"few deliveries": {change: func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 5 }, want: "max_deliver is 5"},
		"a backoff":      {change: func(c *jetstream.ConsumerConfig) { c.BackOff = []time.Duration{time.Second}; c.MaxDeliver = 9 }, want: "backoff is set"},
		"no payloads":    {change: func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true }, want: "headers_only"},
		"ends by itself": {change: func(c *jetstream.ConsumerConfig) { c.InactiveThreshold = time.Hour }, want: "inactive_threshold is 1h0m0s"},
		"in memory":      {change: func(c *jetstream.ConsumerConfig) { c.MemoryStorage = true }, want: "mem_storage"},
		"with an order": {change: func(c *jetstream.ConsumerConfig) {
			c.PriorityPolicy, c.PriorityGroups = jetstream.PriorityPolicyPinned, []string{"postbag"}
		}, want: "priority_policy is set"},
		"without an order": {option: func(o *natsbroker.SourceOptions) { o.Order = source.OrderStream }, want: "it has no order"},
		"another wait":     {option: func(o *natsbroker.SourceOptions) { o.AckWait = time.Minute }, want: "ack_wait is 30s, SourceOptions.AckWait is 1m0s"},
		"another limit":    {option: func(o *natsbroker.SourceOptions) { o.MaxUnacked = 7 }, want: "max_ack_pending is 1000, SourceOptions.MaxUnacked is 7"},
		"other subjects":   {option: func(o *natsbroker.SourceOptions) { o.Subjects = []string{"x.y"} }, want: "SourceOptions.Subjects are [\"x.y\"]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, server.connect(t)).create(t, nil)
			config := jetstream.ConsumerConfig{Durable: "readers"}
			if c.change != nil {
				c.change(&config)
			}
			if _, err := p.js.CreateConsumer(t.Context(), p.name, config); err != nil {
				t.Fatal(err)
			}
			o := p.taking(server.url())
			if c.option != nil {
				c.option(&o)
			}
			_, err := natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), o)
			if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), password) {
				t.Error("the error quotes the password")
			}
		})
	}
}

func TestAPushConsumerIsRefused(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	if _, err := p.js.CreatePushConsumer(t.Context(), p.name, jetstream.ConsumerConfig{Durable: "readers", DeliverSubject: "x"}); err != nil {
		t.Fatal(err)
	}
	_, err := natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), p.taking(server.url()))
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "push consumer") {
		t.Errorf("the error is %v", err)
	}
}

func TestAStreamWhoseConsumersEndByThemselvesIsRefusedBeforeOneIsMade(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, func(c *jetstream.StreamConfig) { c.ConsumerLimits.InactiveThreshold = time.Hour })
	_, err := natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), p.taking(server.url()))
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "consumer_limits") {
		t.Errorf("the error is %v", err)
	}
	if n := p.stream(t).CachedInfo().State.Consumers; n != 0 {
		t.Errorf("%d consumers were made", n)
	}
}

func TestAStreamThatDoesNotExistIsMisconfigured(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	_, err := natsbroker.OpenSource(publishtest.Timeout(t, 10*time.Second), newPlace(t, server.connect(t)).taking(server.url()))
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "the stream does not exist; create it") {
		t.Errorf("the error is %v", err)
	}
}

// Limits of the consumer on single requests are kept, and the features are the consumer's.
func TestAConsumerThatExistsIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	if _, err := p.js.CreateConsumer(t.Context(), p.name, jetstream.ConsumerConfig{
		Durable: "readers", AckWait: 7 * time.Second, MaxAckPending: 50, MaxRequestBatch: 3, MaxRequestExpires: 2 * time.Second, MaxRequestMaxBytes: 4096,
		FilterSubject: p.topic(),
	}); err != nil {
		t.Fatal(err)
	}
	s := opened(t, p.taking(server.url()))
	if f := s.Features(); f.AckWait != 7*time.Second || f.MaxUnacked != 50 {
		t.Errorf("the features are %+v", f)
	}
	p.store(t, 0, 10)
	msgs, _ := fetched(t, s, 10)
	wantPayloads(t, msgs, numbers(0, 10))
	acked(t, s, 0, msgs...)
	nothing(t, s, 3*time.Second)
}

func TestNewOnlyLeavesOutWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	p := newPlace(t, server.connect(t)).create(t, nil)
	p.store(t, 0, 3)
	o := p.taking(server.url())
	o.NewOnly = true
	s := opened(t, o)
	p.store(t, 3, 2)
	msgs, _ := fetched(t, s, 2)
	wantPayloads(t, msgs, numbers(3, 5))
}
