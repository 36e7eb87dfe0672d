package membroker

import (
	"bytes"
	"maps"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// Record is a message that the broker stored. It shares nothing with the one
// that was sent.
type Record struct {
	broker.Delivery

	// Taken is when it was stored, by Options.Now.
	Taken time.Time
	// Call counts the calls of all clients; records of one call have one number.
	Call int
}

// Answer is what a sender was told of one message.
type Answer struct {
	broker.Result

	ID postbag.ID
	// Try counts, from one, how often the id had been sent.
	Try int
	// Given is when, by Options.Now.
	Given time.Time
}

func record(m broker.Delivery, taken time.Time, call int) Record {
	m.Headers = maps.Clone(broker.WithoutProperties(m.Headers))
	m.Payload = bytes.Clone(m.Payload)
	if m.Wire != nil {
		m.Wire = &broker.Wire{Headers: maps.Clone(m.Wire.Headers), ContentType: m.Wire.ContentType, Null: m.Wire.Null}
	}
	return Record{Delivery: m, Taken: taken, Call: call}
}

// holds says whether r is what storing m would make. Box, subscription, seq and attempt
// stay with the sender.
func (r *Record) holds(m broker.Delivery) bool {
	if r.Topic != m.Topic || !bytes.Equal(r.Payload, m.Payload) {
		return false
	}
	if r.Wire != nil && m.Wire != nil {
		return r.Wire.ContentType == m.Wire.ContentType && r.Wire.Null == m.Wire.Null && maps.Equal(r.Wire.Headers, m.Wire.Headers)
	}
	return r.Wire == nil && m.Wire == nil && r.Key == m.Key && r.Type == m.Type && r.At.Equal(m.At) && maps.Equal(r.Headers, m.Headers)
}
