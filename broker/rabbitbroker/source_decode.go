package rabbitbroker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
)

// deliveryCount is the header in which a quorum queue says how often a message came back.
// It differs from delivery to delivery, and is no part of the message.
const deliveryCount = "x-delivery-count"

// message is what a caller gets, but for its receipt.
func (s *Source) message(d *amqp.Delivery) source.Message {
	m := decoded(d, s.options.Queue)
	m.Deliveries = deliveries(d)
	return m
}

// decoded is a message of a queue or a stream, but for its receipt, its place and how often it
// came.
func decoded(d *amqp.Delivery, queue string) source.Message {
	m := source.Message{
		Topic:       cmp.Or(d.RoutingKey, d.Exchange, queue),
		Headers:     sourceHeaders(d),
		ContentType: d.ContentType, MessageID: d.MessageId,
		Payload: d.Body, Time: d.Timestamp,
		Partition: source.Partition(queue),
	}
	if _, incomplete := d.Headers[incompleteName]; incomplete {
		m.Err = fmt.Errorf("rabbitbroker: headers are nested too deep, too many, or hold values of an unknown kind, and are left out: %w", source.ErrUndecodable)
	}
	return m
}

// deliveries is how often a message was delivered. A classic queue tells the first time from
// all others. A sender can have written the header of a quorum queue, and is not believed at
// the first time.
func deliveries(d *amqp.Delivery) int {
	if !d.Redelivered {
		return 1
	}
	count := int64(1)
	switch n := d.Headers[deliveryCount].(type) {
	case int64:
		count = n
	case int32:
		count = int64(n)
	case int16:
		count = int64(n)
	case int8:
		count = int64(n)
	case byte:
		count = int64(n)
	}
	return int(min(max(count, 1), 1<<30)) + 1
}

// sourceHeaders are the headers by name; the client does not keep the sequence of names.
// Properties that source.Message has no field for are among them, under their names in AMQP,
// unless there is such a header.
func sourceHeaders(d *amqp.Delivery) source.Headers {
	all := make(source.Headers, 0, len(d.Headers)+4)
	for name, value := range d.Headers {
		if name != deliveryCount && name != incompleteName {
			all = append(all, source.Header{Name: name, Value: headerText(value)})
		}
	}
	for _, p := range [...]source.Header{
		{Name: "content-encoding", Value: d.ContentEncoding},
		{Name: "correlation-id", Value: d.CorrelationId},
		{Name: "reply-to", Value: d.ReplyTo},
		{Name: "type", Value: otherType(d)},
		{Name: "app-id", Value: d.AppId},
	} {
		if _, there := d.Headers[p.Name]; p.Value != "" && !there {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b source.Header) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Clip(all)
}

// otherType is the property type, unless Postbag's own header says the same.
func otherType(d *amqp.Delivery) string {
	if known, _ := text(d.Headers[broker.HeaderType]); known == d.Type {
		return ""
	}
	return d.Type
}

// headerText is the value of a header as text.
func headerText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case int8, byte, int16, uint16, int32, uint32:
		return fmt.Sprint(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	}
	text, err := json.Marshal(value)
	if err != nil { // a number that JSON has not
		return fmt.Sprint(value)
	}
	return string(text)
}
