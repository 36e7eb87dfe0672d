package rabbitbroker

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// router says where a message goes.
type router struct {
	route         func(m broker.Delivery) (exchange, routingKey string)
	exchange, key template
}

func newRouter(o Options) router {
	return router{route: o.Route, exchange: parseTemplate(o.Exchange), key: parseTemplate(o.RoutingKey)}
}

func (r *router) of(m *broker.Delivery) (exchange, key string, f *broker.Error) {
	if r.route == nil {
		return r.exchange.render(m), r.key.render(m), nil
	}
	key, f = adapter.Ask("Options.Route", func() (key string) {
		exchange, key = r.route(*m)
		return key
	})
	return exchange, key, f
}

// CheckTopic implements [broker.TopicChecker].
func (d *Destination) CheckTopic(topic string) error { return d.options.CheckTopic(topic) }

// CheckTopic returns an error if the exchange or the routing key of a topic is too long for AMQP, whatever the
// rest of the message. Where Route makes them, it returns nil.
func (o Options) CheckTopic(topic string) error {
	if o.Route != nil || badTemplate(o.Exchange) != "" || badTemplate(o.RoutingKey) != "" {
		return nil
	}
	r := newRouter(o.withDefaults())
	exchange, key, _ := r.of(&broker.Delivery{Message: postbag.Message{Topic: topic}})
	if f := tooLong(exchange, key); f != nil {
		return f
	}
	return nil
}

// tooLong rejects a message whose exchange or routing key AMQP cannot carry.
func tooLong(exchange, key string) *broker.Error {
	switch {
	case len(exchange) > maxShort:
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the exchange's name has %d bytes, AMQP allows %d", len(exchange), maxShort),
			"use a shorter one")
	case len(key) > maxShort:
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the routing key has %d bytes, AMQP allows %d", len(key), maxShort),
			"use a shorter topic or key, or another Options.RoutingKey")
	}
	return nil
}

// template is text with fields in it, cut into pieces.
type template []piece

// piece is plain text, or a field where field is set.
type piece struct {
	text  string
	field func(m *broker.Delivery) string
}

var fields = map[string]func(m *broker.Delivery) string{
	"topic":        func(m *broker.Delivery) string { return m.Topic },
	"key":          func(m *broker.Delivery) string { return m.Key },
	"type":         func(m *broker.Delivery) string { return m.Type },
	"box":          func(m *broker.Delivery) string { return m.Box },
	"subscription": func(m *broker.Delivery) string { return m.Subscription },
}

// badTemplate says why text is no template, empty when it is one.
func badTemplate(text string) string {
	for rest := text; ; {
		plain, field, tail, found := cutField(rest)
		if strings.ContainsAny(plain, "{}") {
			return "has a brace without its other half; write {topic}, {key}, {type}, {box} or {subscription}"
		}
		if !found {
			return ""
		}
		if fields[field] == nil {
			return fmt.Sprintf("has a field {%.32s} that does not exist; use {topic}, {key}, {type}, {box} or {subscription}", field)
		}
		rest = tail
	}
}

// parseTemplate takes apart what badTemplate found good.
func parseTemplate(text string) template {
	var t template
	for rest := text; ; {
		plain, field, tail, found := cutField(rest)
		if plain != "" {
			t = append(t, piece{text: plain})
		}
		if !found {
			return t
		}
		t = append(t, piece{field: fields[field]})
		rest = tail
	}
}

// cutField cuts text at its first field.
func cutField(text string) (plain, field, tail string, found bool) {
	plain, rest, found := strings.Cut(text, "{")
	if !found {
		return text, "", "", false
	}
	field, tail, found = strings.Cut(rest, "}")
	if !found {
		return text, "", "", false
	}
	return plain, field, tail, true
}

func (t template) render(m *broker.Delivery) string {
	switch len(t) {
	case 0:
		return ""
	case 1:
		return t[0].of(m)
	}
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.of(m))
	}
	return b.String()
}

func (p piece) of(m *broker.Delivery) string {
	if p.field == nil {
		return p.text
	}
	return p.field(m)
}

// constantExchange is the exchange of all messages, if there is just one.
func (r *router) constantExchange() (name string, constant bool) {
	switch {
	case r.route != nil || len(r.exchange) > 1:
		return "", false
	case len(r.exchange) == 0:
		return "", true
	}
	return r.exchange[0].text, r.exchange[0].field == nil
}
