package rabbitbroker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/source"
)

func TestSourceOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	active := map[string]any{"x-single-active-consumer": true}
	good := rabbitbroker.SourceOptions{URL: "amqp://host", Queue: "q"}
	ordered := good
	ordered.Order, ordered.Topology.Queues = source.OrderStream, []rabbitbroker.Queue{{Name: "q", Arguments: active}}
	for name, o := range map[string]rabbitbroker.SourceOptions{"without an order": good, "with an order": ordered} {
		if err := o.Validate(); err != nil {
			t.Errorf("good options %s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		options rabbitbroker.SourceOptions
		want    []string
	}{
		"nothing": {want: []string{"URL", "SourceOptions.Queue has 0 bytes"}},
		"all at once": {
			options: rabbitbroker.SourceOptions{
				URL: "amqp://u:secret-word@", Queue: strings.Repeat("q", 256), Order: source.OrderPartition, Prefetch: 65_536,
				Login:    rabbitbroker.Login{Password: "secret-word"},
				Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: ""}}},
			},
			want: []string{"URL", "Queue has 256 bytes", "Order is partition", "Prefetch is 65536", "SourceOptions.Login.Password", "SourceOptions.Topology.Queues[0]"},
		},
		"a stream": {
			options: rabbitbroker.SourceOptions{URL: "amqp://h", Queue: "q", Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: "q", Type: "stream"}}}},
			want:    []string{`"q" is a stream`, "a stream needs"},
		},
		"an order without a queue": {
			options: rabbitbroker.SourceOptions{URL: "amqp://h", Queue: "q", Order: source.OrderStream},
			want:    []string{`no queue "q" with the argument x-single-active-consumer: true`},
		},
		"an order with priorities": {
			options: rabbitbroker.SourceOptions{URL: "amqp://h", Queue: "q", Order: source.OrderStream, Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{
				{Name: "q", Type: "classic", Arguments: map[string]any{"x-single-active-consumer": true, "x-max-priority": 3}},
			}}},
			want: []string{"x-max-priority"},
		},
	} {
		err := c.options.Validate()
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no fault says %q: %v", name, want, err)
			}
		}
		if strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: a fault quotes the login", name)
		}
	}
	if _, err := rabbitbroker.OpenSource(t.Context(), rabbitbroker.SourceOptions{}); err == nil || !strings.Contains(err.Error(), "SourceOptions.Queue") {
		t.Errorf("OpenSource of no options: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rabbitbroker.OpenSource(over, good); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenSource with a context that is over: %v", err)
	}
}
