package ndjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postbag/postbag"
)

// Body is a payload in JSON: at most one of its fields is set.
type Body struct {
	Payload json.RawMessage `json:"payload,omitempty"`
	Base64  *string         `json:"payload_base64,omitempty"` //nolint:tagliatelle // as the stdout destination has it
}

// BodyOf writes a payload so that Bytes gives it back bit for bit: as a JSON value
// if its text is one without white space, and no text; else as a text if it is
// UTF-8, else as base64.
func BodyOf(payload []byte) Body {
	if len(payload) == 0 {
		return Body{}
	}
	var plain bytes.Buffer
	if payload[0] != '"' && showable(payload) && json.Compact(&plain, payload) == nil && bytes.Equal(plain.Bytes(), payload) {
		return Body{Payload: payload}
	}
	if text, err := json.Marshal(string(payload)); utf8.Valid(payload) && err == nil {
		return Body{Payload: text}
	}
	text := base64.StdEncoding.EncodeToString(payload)
	return Body{Base64: &text}
}

// showable says whether a text is the same after it was written to a terminal and
// read as JSON: anyone who writes it may put escapes in place of what does not show.
func showable(text []byte) bool {
	return utf8.Valid(text) && !loneSurrogate(text) &&
		bytes.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0
}

// Bytes returns the payload: of a text its bytes, of another value its JSON as it
// is written. Errors name the fault and never what is there.
func (b *Body) Bytes() ([]byte, error) {
	switch {
	case b.Payload != nil && b.Base64 != nil:
		return nil, errors.New(`has both "payload" and "payload_base64"; keep one`)
	case b.Base64 != nil:
		data, err := base64.StdEncoding.DecodeString(*b.Base64)
		if err != nil {
			return nil, errors.New(`has a "payload_base64" that is no base64; use the standard alphabet with padding`)
		}
		return data, nil
	case len(b.Payload) > 0 && b.Payload[0] == '"':
		var text string
		if err := json.Unmarshal(b.Payload, &text); err != nil {
			return nil, errors.New(`has a "payload" that is no text; fix its escapes`)
		}
		return []byte(text), nil
	}
	return b.Payload, nil
}

// message is a message to be published, in JSON.
type message struct {
	ID        string             `json:"id"`
	Topic     string             `json:"topic"`
	Key       string             `json:"key"`
	ShardKey  string             `json:"shard_key"` //nolint:tagliatelle // as in SQL
	Type      string             `json:"type"`
	Headers   map[string]*string `json:"headers"`
	NotBefore string             `json:"not_before"` //nolint:tagliatelle // as in SQL
	Body
}

// Parse reads one message. Errors name the fault and never what the line holds.
func Parse(line []byte) (postbag.Message, error) {
	var f message
	if err := decode(line, &f); err != nil {
		return postbag.Message{}, err
	}
	m := postbag.Message{Topic: f.Topic, Key: f.Key, ShardKey: f.ShardKey, Type: f.Type}
	var errs []error
	if f.ID != "" {
		id, err := postbag.ParseID(f.ID)
		if err != nil || id.IsZero() {
			errs = append(errs, errors.New(`has an "id" that is no UUID, or zero; leave it out to have one drawn`))
		}
		m.ID = id
	}
	if f.NotBefore != "" {
		at, err := time.Parse(time.RFC3339, f.NotBefore)
		if err != nil {
			errs = append(errs, errors.New(`has a "not_before" that is no time; write it as 2026-01-31T12:00:00Z`))
		}
		m.NotBefore = at
	}
	for name, value := range f.Headers {
		if value == nil {
			errs = append(errs, fmt.Errorf("has a header %.40q without a value; give it a text", name))
			continue
		}
		if m.Headers == nil {
			m.Headers = make(map[string]string, len(f.Headers))
		}
		m.Headers[name] = *value
	}
	payload, err := f.Bytes()
	m.Payload = payload
	return m, errors.Join(append(errs, err)...)
}

// decode reads a JSON object that has no fields but those of f.
func decode(line []byte, f *message) error {
	switch {
	case !utf8.Valid(line):
		return errors.New(`is not valid UTF-8; carry other bytes as "payload_base64"`)
	case len(line) == 0 || line[0] != '{':
		return errors.New(`is no JSON object; write {"topic": ..., "payload": ...}`)
	case loneSurrogate(line):
		return errors.New(`has a \u escape that is half a character; carry other bytes as "payload_base64"`)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(f)
	if err == nil && len(bytes.TrimSpace(line[d.InputOffset():])) > 0 {
		return errors.New("holds more than one value; write one object a line")
	}
	if err != nil {
		return decodeError(err)
	}
	return repeatedField(line)
}

func decodeError(err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is no JSON from byte %d on; fix it, and write each message on one line", e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(e.Value, " ") // the rest is the value itself
		return fmt.Errorf("has JSON %s as %q; write a %s", kind, e.Field, e.Type)
	}
	if _, name, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return fmt.Errorf("has a field %.42s that is not known; there are id, topic, key, shard_key, type, headers, "+
			"payload, payload_base64, not_before", name)
	}
	return errors.New("ends in the middle of a message; write each message whole, on one line")
}

// loneSurrogate says whether JSON text has a \u escape of half a character, which
// decoders silently replace.
func loneSurrogate(text []byte) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		u, ok := escapeAt(text, i)
		if !ok {
			i++
			continue
		}
		i += 5
		switch {
		case u>>10 == 0xdc00>>10:
			return true
		case u>>10 == 0xd800>>10:
			if low, ok := escapeAt(text, i+1); !ok || low>>10 != 0xdc00>>10 {
				return true
			}
			i += 6
		}
	}
	return false
}

// escapeAt reads \uXXXX at text[i].
func escapeAt(text []byte, i int) (uint32, bool) {
	if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
		return 0, false
	}
	var u uint32
	for _, c := range text[i+2 : i+6] {
		n := strings.IndexByte("0123456789abcdef", c|0x20)
		if n < 0 {
			return 0, false
		}
		u = u<<4 | uint32(n)
	}
	return u, true
}
