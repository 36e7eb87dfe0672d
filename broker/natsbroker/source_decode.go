package natsbroker

import (
	"cmp"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/source"
)

// message is what a caller gets, but for its receipt.
func (s *Source) message(a arrived) source.Message {
	m := source.Message{
		Topic: a.msg.Subject, Headers: sourceHeaders(a.msg.Header, s.ordered()), Payload: a.msg.Data, Time: a.meta.Timestamp,
		Place: s.place(a.meta.Sequence.Stream), Partition: s.partition(),
	}
	if !s.ordered() {
		m.Deliveries = int(min(a.meta.NumDelivered, 1<<30))
	}
	return m
}

// sourceHeaders are the headers by name; the client does not keep the sequence of names.
// The pin, which the server adds at each delivery of a consumer with an order, is left out.
func sourceHeaders(header nats.Header, pinned bool) source.Headers {
	var all source.Headers
	for name, values := range header {
		if pinned && name == headerPin && len(values) > 0 {
			values = values[:len(values)-1]
		}
		for _, value := range values {
			all = append(all, source.Header{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(all, func(a, b source.Header) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
