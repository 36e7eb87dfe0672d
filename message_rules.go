package postbag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// rules are what every message of a publisher keeps. They are checked before
// any SQL, so that a fault costs the caller nothing but the call.
type rules struct {
	maxSize int
	json    bool
	custom  func(*Message) error // nil: none
}

// check returns the faults of all messages, or nil. Their IDs are filled in.
// ordered asks for a key in each.
func (r rules) check(msgs []Message, ordered bool) error {
	var f faults
	for i := range msgs {
		before := f.count()
		r.message(&f, i, &msgs[i])
		if r.custom != nil && f.count() == before {
			r.own(&f, i, msgs[i])
		}
		if ordered && msgs[i].Key == "" {
			f.add(&MessageError{Index: i, Field: "Key", Reason: "is empty, and PublishOrdered orders by it; set it, or use Publish"})
		}
	}
	distinctIDs(&f, msgs)
	oneShardKey(&f, msgs)
	return f.err()
}

func (r rules) message(f *faults, i int, m *Message) {
	if m.fault != nil {
		fault := *m.fault
		fault.Index = i
		f.add(&fault)
	}
	text(f, i, "Topic", m.Topic, MaxName)
	text(f, i, "Key", m.Key, MaxKey)
	text(f, i, "ShardKey", m.ShardKey, MaxKey)
	text(f, i, "Type", m.Type, MaxName)
	if m.Headers != nil {
		headers(f, i, m.Headers)
	}
	if m.fault == nil {
		r.payload(f, i, m.Payload)
	}
	if !m.NotBefore.IsZero() && !sane(m.NotBefore) {
		f.add(&MessageError{
			Index: i, Field: "NotBefore",
			Reason: "is not between the years 1970 and 9999; give the time it is due, or none for now",
		})
	}
}

// own asks the publisher's own check, with a copy of m.
func (r rules) own(f *faults, i int, m Message) {
	if err := r.custom(&m); err != nil {
		f.add(&MessageError{Index: i, Field: "Check", Reason: "refuses it: " + err.Error(), Err: err})
	}
}

// sane refuses times that come of a wrong unit, and that databases cannot hold.
func sane(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1970 && year <= 9999
}

func (r rules) payload(f *faults, i int, payload []byte) {
	if len(payload) > r.maxSize {
		f.add(tooLong(i, "Payload", len(payload), r.maxSize, "send a reference to it, or raise PublisherOptions.MaxSize"))
		return
	}
	if r.json {
		if reason := notJSON(payload); reason != "" {
			f.add(&MessageError{Index: i, Field: "Payload", Reason: reason})
		}
	}
}

// text checks one of a message's short texts.
func text(f *faults, i int, field, s string, limit int) {
	if len(s) > limit {
		f.add(tooLong(i, field, len(s), limit, "shorten it"))
	}
	if reason := notText(s); reason != "" {
		f.add(&MessageError{Index: i, Field: field, Reason: reason})
	}
}

func tooLong(i int, field string, got, allowed int, fix string) *MessageError {
	reason := fmt.Sprintf("holds %d bytes, %d allowed; %s", got, allowed, fix)
	return &MessageError{Index: i, Field: field, Reason: reason, Got: got, Allowed: allowed}
}

// notText says why databases and brokers could not all carry s as text.
func notText(s string) string {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		return "holds a NUL byte; leave it out, or carry it in the payload"
	case !utf8.ValidString(s):
		return "is not valid UTF-8; encode it, or carry it in the payload"
	}
	return ""
}

// notJSON says why payload is not JSON, by place and never by content.
func notJSON(payload []byte) string {
	const fix = "; encode it, or leave ValidateJSON off"
	if json.Valid(payload) {
		if !utf8.Valid(payload) {
			return "is JSON with text that is not valid UTF-8" + fix
		}
		return ""
	}
	if len(bytes.TrimSpace(payload)) == 0 {
		return "is empty, which is not JSON" + fix
	}
	var raw json.RawMessage
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(payload, &raw)); ok {
		return fmt.Sprintf("is not JSON from byte %d on%s", syntax.Offset, fix)
	}
	return "is not JSON" + fix
}
