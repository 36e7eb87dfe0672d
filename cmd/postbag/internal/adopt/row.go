package adopt

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/ndjson"
)

// Row is a row of an original as it was read.
type Row struct {
	// N is its place in the list of what is to be imported.
	N int64
	// Ref names it, for people.
	Ref string
	// Gone says that it is there no more, or no longer undelivered.
	Gone bool
	// ID is the message's, made of the original's; empty if that is missing.
	ID               string
	Topic, Key, Type string
	// Headers is a JSON value, or empty.
	Headers string
	Payload []byte
}

// Fault is why a row cannot be converted.
type Fault struct {
	// Row names it.
	Row string `json:"row"`
	// Reason says what is wrong with it.
	Reason string `json:"reason"`
	// Behind is how many later rows of its key wait for it.
	Behind int `json:"behind"`
}

// letter is what go-outbox encodes: gob goes by the names of the fields.
type letter struct {
	Key     string
	Headers map[string]string
	Body    []byte
	Topic   string
}

// errKeyUnknown says that a row cannot even be asked for its key.
var errKeyUnknown = errors.New("its data is not what go-outbox writes, so that its key is unknown")

// message makes a message of a row. A message with a fault has its key, unless the
// error is errKeyUnknown.
func (p *Plan) message(r *Row) (postbag.Message, error) {
	m := postbag.Message{Key: r.Key, Type: r.Type, Payload: r.Payload}
	topic := r.Topic
	var faults []error
	if p.gob {
		var l letter
		if err := gob.NewDecoder(bytes.NewReader(r.Payload)).Decode(&l); err != nil {
			return m, errKeyUnknown
		}
		m.Key, m.Headers, m.Payload, topic = l.Key, l.Headers, l.Body, l.Topic
	}
	if p.Key != "" {
		m.Key = p.Key
	}
	if topic == "" {
		topic = p.topic
	}
	if topic == "" {
		topic = p.Box
	}
	m.Topic = strings.ReplaceAll(p.Topic, TopicHere, topic)
	if err := m.ID.UnmarshalText([]byte(r.ID)); err != nil || m.ID.IsZero() {
		faults = append(faults, errors.New("it has no id"))
	}
	if r.Headers != "" {
		headers, err := parseHeaders(r.Headers)
		if err != nil {
			faults = append(faults, err)
		}
		m.Headers = headers
	}
	if p.Slots.Check(&m) != nil {
		faults = append(faults, errors.New("its key is no decimal integer such as 42 or -7, and the box takes slots by number"))
	}
	faults = append(faults, check(m))
	return m, errors.Join(faults...)
}

// parseHeaders reads an object of headers. Values that are no texts become their
// JSON, as stores read them.
func parseHeaders(text string) (map[string]string, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, errors.New("its headers are no JSON object")
	}
	if name, found := ndjson.Repeated([]byte(text)); found {
		return nil, fmt.Errorf("its headers have the name %.64q twice", name)
	}
	headers := make(map[string]string, len(values))
	for name, raw := range values {
		var s string
		if string(raw) == "null" || json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		headers[name] = s
	}
	return headers, nil
}

// nowhere is an appender that drops what it gets: a publisher over it only checks.
type nowhere struct{}

func (nowhere) Append(context.Context, struct{}, string, []postbag.Message) error { return nil }
func (nowhere) Lock(context.Context, struct{}, string, []string) error            { return nil }
func (nowhere) Wake(string)                                                       {}

func (nowhere) Cancel(context.Context, struct{}, string, postbag.ID) (bool, error) {
	return false, nil
}

func (nowhere) InTx(ctx context.Context, fn func(context.Context, struct{}) error) error {
	return fn(ctx, struct{}{})
}

var checker = func() *postbag.Publisher[struct{}] {
	p, err := postbag.NewPublisher[struct{}](nowhere{}, postbag.PublisherOptions{MaxSize: postbag.MaxPayload})
	if err != nil {
		panic(err) // the options are constants
	}
	return p
}()

// check returns what is wrong with a message, in words that name no part of it.
func check(m postbag.Message) error {
	var faults []error
	for _, fault := range messageErrors(checker.Publish(context.Background(), struct{}{}, m)) {
		what := "its " + strings.ToLower(fault.Field)
		if fault.Header != "" {
			what = fmt.Sprintf("its header %.64q", fault.Header)
		}
		faults = append(faults, fmt.Errorf("%s %s", what, fault.Reason))
	}
	return errors.Join(faults...)
}

// messageErrors returns all faults that an error of Publish holds.
func messageErrors(err error) []*postbag.MessageError {
	var out []*postbag.MessageError
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case nil:
	case *postbag.MessageError:
		out = append(out, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, messageErrors(one)...)
		}
	case interface{ Unwrap() error }:
		out = messageErrors(e.Unwrap())
	}
	return out
}

// oneLine joins an error's lines.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", ", and ") }
