package stdout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// line is a message as it is written. The order of the fields is that of the
// output.
type line struct {
	ID      postbag.ID        `json:"id"`
	Seq     int64             `json:"seq"`
	Topic   string            `json:"topic"`
	Key     string            `json:"key,omitempty"`
	Type    string            `json:"type,omitempty"`
	Time    string            `json:"time,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Content string            `json:"content_type,omitempty"`
	Payload *string           `json:"payload,omitempty"`
	Base64  []byte            `json:"payload_base64,omitempty"`
}

// encode appends the line of m. A text that JSON cannot hold, because it is no UTF-8,
// is an error, and nothing is appended.
func encode(b *bytes.Buffer, m *broker.Delivery) error {
	if err := texts(m); err != nil {
		return err
	}
	l := line{ID: m.ID, Seq: m.Seq, Topic: m.Topic, Key: m.Key, Type: m.Type, Headers: broker.WithoutProperties(m.Headers)}
	if !m.At.IsZero() {
		l.Time = broker.FormatTime(m.At)
	}
	if m.Wire != nil {
		l.Headers, l.Content = m.Wire.Headers, m.Wire.ContentType
	}
	switch {
	case m.Wire != nil && m.Wire.Null: // it has no payload, not an empty one
	case utf8.Valid(m.Payload):
		text := string(m.Payload)
		l.Payload = &text
	default:
		l.Base64 = m.Payload
	}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	before := b.Len()
	if err := encoder.Encode(l); err != nil {
		b.Truncate(before)
		return fmt.Errorf("stdout: the message cannot be written as JSON: %w; discard it", err)
	}
	return nil
}

// texts refuses what encoding/json would replace without a word.
func texts(m *broker.Delivery) error {
	valid := utf8.ValidString(m.Topic) && utf8.ValidString(m.Key) && utf8.ValidString(m.Type)
	headers := m.Headers
	if m.Wire != nil {
		headers = m.Wire.Headers
		valid = valid && utf8.ValidString(m.Wire.ContentType)
	}
	for name, value := range headers {
		valid = valid && utf8.ValidString(name) && utf8.ValidString(value)
	}
	if !valid {
		return errors.New("stdout: topic, key, type or a header is not UTF-8, which JSON cannot hold; encode it where it is published")
	}
	return nil
}
