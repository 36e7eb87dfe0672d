package postbag

import "fmt"

// Event connects a Go type with its name on the wire. Declare it once, for the code that
// publishes it and the code that handles it:
//
//	var OrderCreated = postbag.Event[Order]{
//		Type: "order.created",
//		Key:  func(o Order) string { return o.ID },
//	}
//
// It is a plain value, safe for concurrent use as far as Key and Codec are.
type Event[T any] struct {
	// Type is the message's Type. Required.
	Type string
	// Topic is the message's Topic. Zero: the name of the box.
	Topic string
	// Key returns the message's Key. Nil: the event has no order with others.
	Key func(T) string
	// Codec encodes and decodes the payload. Defaults to JSONCodec.
	Codec Codec
}

// Message returns the message for v, without an ID. Publish draws one unless you set it
// before. If v cannot be encoded, the message keeps the error, and Publish returns it as
// a [MessageError] whose Unwrap is the codec's error.
func (e Event[T]) Message(v T) Message {
	m := Message{Topic: e.Topic, Type: e.Type}
	if e.Type == "" {
		m.fault = &MessageError{Field: "Type", Reason: "is missing; set Event.Type"}
		return m
	}
	if e.Key != nil {
		m.Key = e.Key(v)
	}
	payload, err := e.codec().Marshal(v)
	if err != nil {
		reason := fmt.Sprintf("of type %T cannot be encoded: %s; fix the value or Event.Codec", v, codecReason(err))
		m.fault = &MessageError{Field: "Payload", Reason: reason, Err: err}
		return m
	}
	m.Payload = payload
	return m
}

// Decode returns the value in m. If m has another Type, the error is [ErrEventType]. If
// the payload cannot be decoded, the error quotes no part of it, and its errors.Unwrap is
// the codec's own error.
func (e Event[T]) Decode(m Message) (T, error) {
	var v, zero T
	if e.Type == "" || m.Type != e.Type {
		return zero, fmt.Errorf("postbag: decode event %.64q from message type %.64q: %w", e.Type, m.Type, ErrEventType)
	}
	if err := e.codec().Unmarshal(m.Payload, &v); err != nil {
		return zero, &decodeError{event: e.Type, err: err}
	}
	return v, nil
}

func (e Event[T]) codec() Codec {
	if e.Codec == nil {
		return JSONCodec{}
	}
	return e.Codec
}

// decodeError hides a codec's text, which may quote the payload.
type decodeError struct {
	event string
	err   error
}

func (e *decodeError) Error() string {
	return fmt.Sprintf("postbag: decode event %.64q: %s; compare the sender's type and codec with the Event's", e.event, codecReason(e.err))
}

func (e *decodeError) Unwrap() error { return e.err }
