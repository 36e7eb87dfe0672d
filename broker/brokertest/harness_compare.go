package brokertest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// received is m as a broker should hold it.
func received(m broker.Delivery) Received {
	return Received{
		ID: m.ID, Topic: m.Topic, Key: m.Key, Type: m.Type,
		At: m.At, Headers: m.Headers, Payload: m.Payload,
	}
}

// difference says where got is not what was sent, empty when it is.
func difference(sent broker.Delivery, got Received) string {
	var found []string
	differs := func(what string, a, b any) {
		if a != b {
			found = append(found, fmt.Sprintf("%s is %.200q, want %.200q", what, fmt.Sprint(b), fmt.Sprint(a)))
		}
	}
	differs("id", sent.ID.String(), got.ID.String())
	differs("topic", sent.Topic, got.Topic)
	differs("key", sent.Key, got.Key)
	differs("type", sent.Type, got.Type)
	differs("time", wireTime(sent.At), wireTime(got.At))
	for _, name := range slices.Sorted(maps.Keys(sent.Headers)) {
		value, ok := got.Headers[name]
		if !ok {
			found = append(found, fmt.Sprintf("header %q is missing", name))
			continue
		}
		differs(fmt.Sprintf("header %q", name), sent.Headers[name], value)
	}
	if !bytes.Equal(sent.Payload, got.Payload) {
		found = append(found, payloadDifference(sent.Payload, got.Payload))
	}
	return strings.Join(found, "; ")
}

func wireTime(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return broker.FormatTime(t)
}

func payloadDifference(want, got []byte) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("payload has %d bytes, want %d, and differs from byte %d on", len(got), len(want), at)
}

// fold lowers the header names of a transport that does not keep their case.
func (s *scene) fold(headers map[string]string) map[string]string {
	if !s.h.FoldsNames {
		return headers
	}
	folded := make(map[string]string, len(headers))
	for name, value := range headers {
		folded[strings.ToLower(name)] = value
	}
	return folded
}

// stored reads the truth, and checks each message there against the one that
// was sent with its id: nothing unknown, nothing changed.
func (s *scene) stored(sent ...broker.Delivery) []Received {
	s.Helper()
	byID := make(map[postbag.ID]broker.Delivery, len(sent))
	for _, m := range sent {
		m.Headers = s.fold(m.Headers)
		byID[m.ID] = m
	}
	held := s.f.Stored(s.T)
	for i, r := range held {
		m, ok := byID[r.ID]
		if !ok {
			s.Fatalf("the broker holds a message that was not sent: number %d, id %v", i, r.ID)
		}
		r.Headers = s.fold(r.Headers)
		if d := difference(m, r); d != "" {
			s.Fatalf("message %v is not what was sent: %s", r.ID, d)
		}
	}
	return held
}

// holds wants the broker to hold exactly sent, each once and unchanged, those of
// a key in this order.
func (s *scene) holds(sent ...broker.Delivery) {
	s.Helper()
	held := s.stored(sent...)
	count := counts(held)
	for i, m := range sent {
		if n := count[m.ID]; n != 1 {
			s.Fatalf("the broker holds message %d of %d %d times, want once", i, len(sent), n)
		}
	}
	s.inOrder(sent, held)
}

// inOrder wants the first occurrences in held to follow sent, key by key.
func (s *scene) inOrder(sent []broker.Delivery, held []Received) {
	s.Helper()
	place := map[postbag.ID]int{}
	for i, r := range held {
		if _, seen := place[r.ID]; !seen {
			place[r.ID] = i
		}
	}
	last := map[string]int{}
	for i, m := range sent {
		at, ok := place[m.ID]
		if !ok || m.Key == "" {
			continue
		}
		if before, ok := last[m.Key]; ok && at < before {
			s.Fatalf("message %d overtook an earlier one of its key", i)
		}
		last[m.Key] = at
	}
}

func counts(held []Received) map[postbag.ID]int {
	count := map[postbag.ID]int{}
	for _, r := range held {
		count[r.ID]++
	}
	return count
}
