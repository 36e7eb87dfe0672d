package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/postbag/postbag"
)

// Route says which messages a handler takes. Make it with [On] or [OnRaw], and give it to
// [NewRouter]. The zero Route is refused there.
type Route[Tx any] struct {
	typ, topic string
	value      string // the Go type of an event; empty: none
	handle     Handler[Tx]
	fault      string // what is wrong with it
}

// On takes the messages of an event, and calls handle with the value that the event
// decodes: by its Codec, JSON if it has none. A message is the event's if it has its Type
// and its Topic. An event without a Topic takes its Type from every topic, because only the
// sender knows the name of its box. Topics are compared as they arrive: a destination may
// have put a prefix before them.
//
// A payload that cannot be decoded is an [ErrRejected]: the message is parked at once.
// Where a handler needs the message too, its id or headers, take [OnRaw] and Event.Decode.
func On[T, Tx any](event postbag.Event[T], handle func(ctx context.Context, tx Tx, v T) error) Route[Tx] {
	r := Route[Tx]{typ: event.Type, topic: event.Topic, value: reflect.TypeFor[T]().String()}
	switch {
	case event.Type == "":
		r.fault = "Event.Type is missing; set it, or use OnRaw for messages without a type"
	case handle == nil:
		r.fault = "the handler is nil; give the function that applies the event"
	}
	r.handle = func(ctx context.Context, tx Tx, m *Message) error {
		v, err := event.Decode(m.Message)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRejected, err)
		}
		return handle(ctx, tx, v)
	}
	return r
}

// OnRaw takes the messages of a type and a topic as they are. An empty topic takes the type
// from every topic, an empty typ every type of the topic. One of them is needed.
func OnRaw[Tx any](typ, topic string, handle Handler[Tx]) Route[Tx] {
	r := Route[Tx]{typ: typ, topic: topic, handle: handle}
	switch {
	case typ == "" && topic == "":
		r.fault = "type and topic are empty; give one of them, or use RouterOptions.Fallback"
	case handle == nil:
		r.fault = "the handler is nil; give the function that applies a message"
	}
	return r
}

// String names what the route takes, for errors.
func (r *Route[Tx]) String() string {
	s := fmt.Sprintf("type %.64q", r.typ)
	if r.typ == "" {
		s = "every type"
	}
	if r.topic == "" {
		s += " of every topic"
	} else {
		s += fmt.Sprintf(" of topic %.64q", r.topic)
	}
	if r.value != "" {
		s += " as " + r.value
	}
	return s
}

// Unknown says what becomes of a message that no route takes.
type Unknown int

const (
	// UnknownPark, the default, parks the message at once, with the reason. Behind a [Destination] it is
	// dead at once.
	UnknownPark Unknown = iota
	// UnknownSkip marks and acknowledges the message without any effect. A [Consumer] counts
	// it in ConsumerStats.Skipped. A later program that knows its type does not get it again.
	UnknownSkip
	// UnknownRetry is an error. The message is tried again by ConsumerOptions.Retry, and
	// parked after that. Meanwhile a program that knows its type can take over.
	UnknownRetry
)

// RouterOptions say what becomes of messages that no route takes. The zero RouterOptions
// parks them.
type RouterOptions[Tx any] struct {
	// Fallback takes messages that no route takes. Nil: Unknown says what becomes of them.
	Fallback Handler[Tx]
	// Unknown is for a router without a Fallback. Defaults to UnknownPark.
	Unknown Unknown
}

// NewRouter returns a handler that gives each message to one of routes. Their sequence does
// not matter. The first of these that is there takes the message: the route of its type and
// its topic, that of its type, that of its topic, RouterOptions.Fallback,
// RouterOptions.Unknown. Type and topic are compared byte by byte.
//
// The error names every route that is not whole, and both of two that take the same. The
// handler is safe for concurrent use, as far as those of the routes are.
func NewRouter[Tx any](o RouterOptions[Tx], routes ...Route[Tx]) (Handler[Tx], error) {
	r := router[Tx]{routes: map[routeName]Handler[Tx]{}, rest: o.Fallback}
	var errs []error
	switch {
	case o.Unknown < UnknownPark || o.Unknown > UnknownRetry:
		errs = append(errs, fmt.Errorf("inbox: RouterOptions.Unknown is %d; choose UnknownPark, UnknownSkip or UnknownRetry", o.Unknown))
	case o.Fallback != nil && o.Unknown != UnknownPark:
		errs = append(errs, errors.New("inbox: RouterOptions.Fallback and Unknown are both set; keep one, as Fallback takes all that is unknown"))
	case o.Fallback == nil:
		r.rest = unknown[Tx](o.Unknown)
	}
	if len(routes) == 0 {
		errs = append(errs, errors.New("inbox: there are no routes; make some with On, or use the Fallback itself as the handler"))
	}
	first := map[routeName]int{}
	for i := range routes {
		route := &routes[i]
		name := routeName{route.typ, route.topic}
		before, twice := first[name]
		switch {
		case route.fault != "" || route.handle == nil:
			errs = append(errs, fmt.Errorf("inbox: route %d (%s): %s", i, route, cmp.Or(route.fault, "it is empty; make it with On or OnRaw")))
		case twice:
			errs = append(errs, fmt.Errorf("inbox: route %d (%s) and route %d (%s) take the same messages; remove one, or set another Type or Topic",
				before, &routes[before], i, route))
		default:
			first[name], r.routes[name] = i, route.handle
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("inbox: new router:\n%w", err)
	}
	return r.handle, nil
}

// routeName says which messages a route takes. An empty part is every one.
type routeName struct{ typ, topic string }

// router gives messages to routes.
type router[Tx any] struct {
	routes map[routeName]Handler[Tx]
	rest   Handler[Tx]
}

func (r *router[Tx]) handle(ctx context.Context, tx Tx, m *Message) error {
	for _, name := range [...]routeName{{m.Type, m.Topic}, {typ: m.Type}, {topic: m.Topic}} {
		if handle, there := r.routes[name]; there {
			return handle(ctx, tx, m)
		}
	}
	return r.rest(ctx, tx, m)
}

// unknown is what a router does with a message that no route takes.
func unknown[Tx any](what Unknown) Handler[Tx] {
	return func(_ context.Context, _ Tx, m *Message) error {
		if what == UnknownSkip {
			if m.skipped != nil { // nil: no Consumer made it
				*m.skipped = true
			}
			return nil
		}
		says := fmt.Sprintf("no route takes type %.64q of topic %.64q; add one, or set RouterOptions.Fallback or Unknown", m.Type, m.Topic)
		if what == UnknownRetry {
			return errors.New("inbox: " + says)
		}
		return fmt.Errorf("%w: %s", ErrRejected, says)
	}
}
