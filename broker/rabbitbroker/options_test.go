package rabbitbroker_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/internal/publishtest"
)

func TestValidateNamesEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	route := func(broker.Delivery) (exchange, key string) { return "", "" }
	long := strings.Repeat("x", 256)
	for title, c := range map[string]struct {
		options rabbitbroker.Options
		want    []string // none: valid
	}{
		"nothing":           {options: rabbitbroker.Options{}},
		"templates":         {options: rabbitbroker.Options{Exchange: "{box}-{subscription}", RoutingKey: "a.{topic}.{type}.{key}.b", Retries: -1, MaxPending: 1}},
		"a route":           {options: rabbitbroker.Options{Route: route}},
		"a route and more":  {options: rabbitbroker.Options{Route: route, RoutingKey: "x"}, want: []string{"Options.Route"}},
		"an unknown field":  {options: rabbitbroker.Options{Exchange: "{payload}"}, want: []string{"Options.Exchange", "{payload} that does not exist"}},
		"half a field":      {options: rabbitbroker.Options{Exchange: "{topic", RoutingKey: "a}b"}, want: []string{"Options.Exchange", "Options.RoutingKey"}},
		"negative numbers":  {options: rabbitbroker.Options{MaxBytes: -1, MaxPending: -1, Channels: -1}, want: []string{"MaxBytes", "MaxPending", "Channels"}},
		"too many channels": {options: rabbitbroker.Options{Channels: 257}, want: []string{"Options.Channels is 257"}},
		"a login": {options: rabbitbroker.Options{Login: rabbitbroker.Login{
			Password: "secret-word", VHost: long, External: true, Heartbeat: time.Millisecond,
		}}, want: []string{"Login.Password", "Login.VHost", "Login.External is set without TLS", "Login.Heartbeat"}},
		"two logins": {options: rabbitbroker.Options{Login: rabbitbroker.Login{User: "a", External: true, TLS: &tls.Config{}}}, want: []string{"External is set beside User"}},
		"a topology": {options: rabbitbroker.Options{Topology: rabbitbroker.Topology{
			Exchanges: []rabbitbroker.Exchange{{Arguments: map[string]any{"x": struct{}{}}}},
			Queues:    []rabbitbroker.Queue{{Name: long, Type: "fast", Arguments: map[string]any{"x-queue-type": "quorum"}}},
			Bindings:  []rabbitbroker.Binding{{Queue: "q", RoutingKey: long}},
		}}, want: []string{
			"Exchanges[0] has a name of 0 bytes", "Exchanges[0].Arguments", "Queues[0] has a name of 256 bytes", "Queues[0].Type", "use Type",
			"Bindings[0] has a name of 0 bytes", "Bindings[0].RoutingKey",
		}},
	} {
		err := c.options.Validate()
		if len(c.want) == 0 && err != nil {
			t.Errorf("%s: %v", title, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error does not say %q: %v", title, want, err)
			}
		}
		if err != nil && strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: the error holds the password", title)
		}
	}
}

func TestURLsAreCheckedWithoutBeingQuoted(t *testing.T) {
	t.Parallel()
	for urls, want := range map[string]string{
		"amqp://a": "",
		"amqps://u:p@a:5671/vhost, amqp://b:5672/%2F": "",
		"":                                               "URL 1 is empty",
		"amqp://a,":                                      "URL 2 is empty",
		"amqp://u:secret-word@a:0":                       "port that is not between",
		"amqp://u:secret-word@a:70000":                   "port",
		"amqp://u:secret-word@":                          "names no host",
		"nats://u:secret-word@a":                         "scheme that is not amqp",
		"amqp://u:secret-word@a?heartbeat=1":             "belong into Options.Login",
		"amqp://u:secret word@a":                         "cannot be read",
		"amqp://u:secret-word@a/\x01":                    "cannot be read",
		"amqp://u:secret-word@a/" + repeat("v", 256):     "virtual host of more than 255 bytes",
		"amqp://a:5672,http://u:secret-word@b,amqp://:1": "URL 3 names no host",
	} {
		err := rabbitbroker.ValidURLs(urls)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error holds the password: %v", err)
		}
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func TestAMessageGoesWhereTheOptionsSay(t *testing.T) {
	t.Parallel()
	p := newPlace(t, shared(t), "classic", false).create(t, nil)
	for title, c := range map[string]struct {
		options      rabbitbroker.Options
		exchange, to string
	}{
		"the topic":  {rabbitbroker.Options{Exchange: "amq.topic"}, "amq.topic", "made"},
		"a template": {rabbitbroker.Options{Exchange: "amq.{type}", RoutingKey: "{box}.{subscription}-{key}"}, "amq.topic", "outbox.mail-k"},
		"plain text": {rabbitbroker.Options{Exchange: "amq.topic", RoutingKey: "always"}, "amq.topic", "always"},
		"a function": {rabbitbroker.Options{Route: func(m broker.Delivery) (exchange, key string) { return "amq.topic", m.Key + m.Topic }}, "amq.topic", "kmade"},
	} {
		ch := channel(t, p.url)
		if err := ch.QueueBind(p.queue, c.to, c.exchange, false, nil); err != nil {
			t.Fatal(err)
		}
		d := publishtest.Closing(t, dial(t, p.url, c.options))
		m := publishtest.Messages("made", 1)[0]
		m.Key, m.Type, m.Box, m.Subscription = "k", "topic", "outbox", "mail"
		publishtest.Wants(t, publishtest.Publish(t, d, 20*time.Second, m), broker.Accepted, "")
		held := p.read(t)
		if last := held[len(held)-1]; last.MessageId != m.ID.String() || last.RoutingKey != c.to || last.Exchange != c.exchange {
			t.Errorf("%s: it went to %q by %q, want %q by %q", title, last.Exchange, last.RoutingKey, c.exchange, c.to)
		}
	}
	panics := publishtest.Closing(t, dial(t, p.url, rabbitbroker.Options{Route: func(broker.Delivery) (exchange, key string) { panic("no") }}))
	publishtest.Wants(t, publishtest.Publish(t, panics, 20*time.Second, publishtest.Messages("made", 2)...), broker.Rejected, "Options.Route panicked")
}
