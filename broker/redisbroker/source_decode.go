package redisbroker

import (
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
)

// arrived is an entry that no Fetch has returned yet.
type arrived struct {
	spot

	fields     []string // names and values in turn
	deliveries int
	at         time.Time // when its ack wait began, or a little before
}

// size is what an entry takes in memory, about.
func (a arrived) size() int {
	size := len(a.id)
	for _, text := range a.fields {
		size += len(text)
	}
	return size
}

// message is what a caller gets, but for its receipt.
func (s *Source) message(a arrived) source.Message {
	of := s.streams[a.stream]
	m := source.Message{
		Topic: of.topic, Partition: source.Partition(of.name), Deliveries: a.deliveries,
		Place: source.Place{Source: s.options.Log, Partition: of.name},
	}
	m.Place.Offset, m.Place.Minor, _ = numbers(a.id)
	plain := s.read(&m, a.fields)
	if at, ok := idTime(m.Place.Offset); ok {
		m.Time = at
	} else if text, ok := m.Headers.Get(broker.HeaderTime); ok {
		m.Time, _ = time.Parse(broker.TimeFormat, text) // zero: the sender does not say
	}
	if topic, ok := m.Headers.Get(fieldTopic); ok && plain && topic != "" {
		m.Topic = topic
	}
	return m
}

// read puts fields into headers and payload. It says whether the entry is one of a
// destination in its plain form.
func (s *Source) read(m *source.Message, fields []string) (plain bool) {
	payloads := 0
	m.Headers = make(source.Headers, 0, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := fields[i], fields[i+1]
		plain = plain || name == broker.HeaderID
		if name == s.options.PayloadField {
			if payloads++; payloads == 1 {
				m.Payload = []byte(value)
				continue
			}
		}
		m.Headers = append(m.Headers, source.Header{Name: name, Value: value})
	}
	if plain {
		for i := range m.Headers {
			m.Headers[i].Name = headerOf(m.Headers[i].Name)
		}
	}
	switch {
	case payloads == 0:
		m.Err = fmt.Errorf("redisbroker: the entry has no field %.64q, where the payload should be (SourceOptions.PayloadField): %w", s.options.PayloadField, source.ErrUndecodable)
	case payloads > 1:
		m.Err = fmt.Errorf("redisbroker: the entry has %d fields %.64q, and the payload can be any of them: %w", payloads, s.options.PayloadField, source.ErrUndecodable)
	}
	return plain
}

// headerOf is the name of the header that a destination put into a field. One that would
// pass for a fact of the message stays as it is.
func headerOf(field string) string {
	name, moved := strings.CutPrefix(field, prefixHeader)
	if !moved || len(name) >= len(prefixFact) && strings.EqualFold(name[:len(prefixFact)], prefixFact) {
		return field
	}
	return name
}

// idTime is the time in an entry's id, if it is one of the server's: from 2001 to 2286.
func idTime(ms uint64) (time.Time, bool) {
	if ms < 1e12 || ms >= 1e13 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)), true
}
