package postbagtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postbag/postbag"
)

// Want says what a published message must be like. Fields that are zero are not
// compared, so that the zero Want fits every message.
type Want struct {
	// Box, ID, Type, Topic, Key and ShardKey must be equal.
	Box      string
	ID       postbag.ID
	Type     string
	Topic    string
	Key      string
	ShardKey string
	// NoKey: the message must have no key.
	NoKey bool
	// Ordered: the message must have come by PublishOrdered.
	Ordered bool
	// Scheduled: the message must have a NotBefore.
	Scheduled bool
	// Headers must be among the message's, with these values.
	Headers map[string]string
	// Payload must be equal, byte for byte. An empty one that is not nil asks
	// for an empty payload.
	Payload []byte
	// JSON is what the payload must say as JSON: any value that encodes to it,
	// a json.RawMessage for instance. Spaces and the order of names are free.
	JSON any
	// Check returns an error for a message that does not fit.
	Check func(postbag.Message) error
}

// Event wants a message of e whose value is v: Type, Key and, if e has one,
// Topic are e's, and the payload decodes to a value that is deeply equal to v.
func Event[T any](e postbag.Event[T], v T) Want {
	like := e.Message(v)
	return Want{
		Type: e.Type, Topic: e.Topic, Key: like.Key,
		Check: func(m postbag.Message) error {
			got, err := e.Decode(m)
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(got, v) {
				return fmt.Errorf("value is %+v, want %+v", got, v)
			}
			return nil
		},
	}
}

// misfits returns what keeps rec from being what w wants, in words.
func (w Want) misfits(rec Record) []string {
	var all []string
	for _, f := range []struct{ name, got, want string }{
		{"box", rec.Box, w.Box},
		{"type", rec.Type, w.Type},
		{"topic", rec.Topic, w.Topic},
		{"key", rec.Key, w.Key},
		{"shard key", rec.ShardKey, w.ShardKey},
	} {
		if f.want != "" && f.got != f.want {
			all = append(all, fmt.Sprintf("%s is %q, want %q", f.name, f.got, f.want))
		}
	}
	if !w.ID.IsZero() && rec.ID != w.ID {
		all = append(all, fmt.Sprintf("id is %v, want %v", rec.ID, w.ID))
	}
	if w.NoKey && rec.Key != "" {
		all = append(all, fmt.Sprintf("key is %q, want none", rec.Key))
	}
	if w.Ordered && !rec.Ordered {
		all = append(all, "its key was not locked: it did not come by PublishOrdered")
	}
	if w.Scheduled && rec.NotBefore.IsZero() {
		all = append(all, "it is not scheduled")
	}
	return append(append(all, w.headerMisfits(rec)...), w.payloadMisfits(rec)...)
}

func (w Want) headerMisfits(rec Record) []string {
	var all []string
	for name, want := range w.Headers {
		if got, ok := rec.Headers[name]; !ok {
			all = append(all, fmt.Sprintf("header %q is missing, want %q", name, want))
		} else if got != want {
			all = append(all, fmt.Sprintf("header %q is %q, want %q", name, got, want))
		}
	}
	slices.Sort(all)
	return all
}

func (w Want) payloadMisfits(rec Record) []string {
	var all []string
	if w.Payload != nil && !bytes.Equal(rec.Payload, w.Payload) {
		all = append(all, fmt.Sprintf("payload is %s, want %s", quote(rec.Payload), quote(w.Payload)))
	}
	if w.JSON != nil {
		if err := sameJSON(rec.Payload, w.JSON); err != nil {
			all = append(all, err.Error())
		}
	}
	if w.Check != nil {
		if err := w.Check(rec.Message); err != nil {
			all = append(all, err.Error())
		}
	}
	return all
}

// sameJSON compares a payload with the JSON that v encodes to.
func sameJSON(payload []byte, v any) error {
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("the JSON wanted cannot be encoded: %w", err)
	}
	want, _ := plain(encoded) // it was encoded just now
	got, err := plain(payload)
	if err != nil {
		return fmt.Errorf("payload is %s, which is not JSON, want %s", quote(payload), quote(encoded))
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("payload is %s, want the JSON %s", quote(payload), quote(encoded))
	}
	return nil
}

// plain decodes JSON and keeps the digits of its numbers.
func plain(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// String names what w wants, as far as it identifies a message.
func (w Want) String() string {
	return describe([][2]string{
		{"box", w.Box}, {"type", w.Type}, {"topic", w.Topic}, {"key", w.Key}, {"shard key", w.ShardKey},
	})
}

// String names the message by what a Want can ask for.
func (rec Record) String() string {
	return describe([][2]string{
		{"box", rec.Box}, {"type", rec.Type}, {"topic", rec.Topic}, {"key", rec.Key}, {"shard key", rec.ShardKey},
	})
}

func describe(parts [][2]string) string {
	var words []string
	for _, part := range parts {
		if part[1] != "" {
			words = append(words, fmt.Sprintf("%s %q", part[0], part[1]))
		}
	}
	if len(words) == 0 {
		return "any message"
	}
	return strings.Join(words, ", ")
}

// quote shows bytes, the first 200 of them.
func quote(b []byte) string {
	const most = 200
	if len(b) > most {
		return fmt.Sprintf("%q... (%d bytes)", b[:most], len(b))
	}
	return fmt.Sprintf("%q", b)
}
