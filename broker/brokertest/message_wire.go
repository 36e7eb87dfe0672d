package brokertest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postbag/postbag/broker"
)

// Wired is a message as a consumer sees it that knows nothing of Postbag.
type Wired struct {
	// Headers are all that the transport delivered, not decoded. The transport's own
	// headers may be among them.
	Headers map[string]string
	// ContentType is the transport's property, or its header of that name. The header
	// may be in Headers as well.
	ContentType string
	Payload     []byte
	// Null: there is no payload at all. Only where Harness.Nulls.
	Null bool
}

func wireCases() []testCase {
	return []testCase{
		{name: "what an encoder made arrives as it is, without facts beside it", needs: PartWire, run: encodedArrives},
		{name: "what an encoder made is not mixed up within a call", needs: PartWire, run: encodedInOneCall},
		{name: "what the transport cannot carry as encoded is rejected, not changed", needs: PartWire, run: encodedOdd},
		{name: "no payload and an empty one arrive as such", needs: PartWire, run: encodedNull},
		{name: "a fence holds for what an encoder made", needs: PartWire, run: encodedFence},
	}
}

// encoded makes a message as an encoder leaves it. Its payload tells it from all
// others of the case.
func (s *scene) encoded(w broker.Wire) broker.Delivery {
	m := s.message()
	m.Wire = &w
	return m
}

func encodedArrives(s *scene) {
	s.open()
	const made = "application/vnd.made+json; charset=utf-8"
	s.wireTrips(
		s.encoded(broker.Wire{}),
		s.encoded(broker.Wire{ContentType: made}),
		s.encoded(broker.Wire{Headers: map[string]string{"id": "1", "eventType": "Made", "ce-id": "a-1", "ce_source": "/made/here", "X-Made": canaryValue}}),
		s.encoded(broker.Wire{ContentType: made, Headers: map[string]string{
			"spaces": "in the middle", "percent": "100%25 %41 %zz", "marks": `a=b; c="d", (e) <f> {g} [h] \i`, "made": "by the encoder",
		}}),
	)
}

func encodedInOneCall(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for i := range 40 {
		headers := map[string]string{}
		for j := range i % 5 {
			headers[fmt.Sprintf("x-%d", j)] = fmt.Sprintf("%d-%d", i, j)
		}
		m := s.encoded(broker.Wire{Headers: headers, ContentType: fmt.Sprintf("text/x-%d", i)})
		if i%4 == 3 {
			m.Wire = nil
		}
		msgs = append(msgs, m)
	}
	s.wireTrips(msgs...)
}

func encodedOdd(s *scene) {
	s.open()
	odd := []broker.Wire{{ContentType: "a\r\nb"}, {ContentType: " a "}}
	for _, text := range []string{
		"", " ", " both ends ", "tab\t", "lines\r\nand\nmore", "grün", "🙂", "a:b", "\x01\x7f", "\xff", "(x)", "x=y",
		strings.Repeat("long", 80),
	} {
		odd = append(odd, broker.Wire{Headers: map[string]string{text: canaryValue}}, broker.Wire{Headers: map[string]string{"odd": text}})
	}
	for _, name := range s.h.Reserved {
		odd = append(odd, broker.Wire{Headers: map[string]string{name: "1"}})
	}
	var taken []broker.Delivery
	for _, w := range odd {
		m := s.encoded(w)
		results := s.publish(s.patient(), m)
		s.among(results, broker.Accepted, broker.Rejected)
		if results[0].Outcome == broker.Accepted {
			taken = append(taken, m)
		}
	}
	good := s.encoded(broker.Wire{Headers: map[string]string{"x": "1"}})
	s.accept(good)
	s.wired(append(taken, good)...)
}

func encodedNull(s *scene) {
	s.open()
	null, empty := s.encoded(broker.Wire{Null: true}), s.encoded(broker.Wire{})
	null.Payload, empty.Payload = nil, []byte{}
	for i, m := range []broker.Delivery{null, empty} {
		s.accept(m)
		held := s.f.Wired(s.T)
		if len(held) != i+1 {
			s.Fatalf("the broker holds %d messages, want %d", len(held), i+1)
		}
	}
	nulls := 0
	for _, r := range s.f.Wired(s.T) {
		if len(r.Payload) > 0 {
			s.Errorf("a payload of %d bytes arrived, want none", len(r.Payload))
		}
		if r.Null {
			nulls++
		}
	}
	if s.h.Nulls && nulls != 1 {
		s.Errorf("%d payloads are null, want one of the two", nulls)
	}
}

func encodedFence(s *scene) {
	s.open()
	m := s.encoded(broker.Wire{Headers: map[string]string{"x": "1"}})
	s.accept(m)
	s.accept(m)
	want := 2
	if s.f.Destination.Features().Fences != "" {
		want = 1
	}
	if n := len(s.f.Wired(s.T)); n != want {
		s.Errorf("the message is stored %d times, want %d with the fence %q", n, want, s.f.Destination.Features().Fences)
	}
}

// wireTrips wants msgs accepted and held as encoded.
func (s *scene) wireTrips(msgs ...broker.Delivery) {
	s.Helper()
	var before []broker.Wire
	for _, m := range msgs {
		w := broker.Wire{}
		if m.Wire != nil {
			w = *m.Wire
			w.Headers = maps.Clone(w.Headers)
		}
		before = append(before, w)
	}
	s.accept(msgs...)
	for i, m := range msgs {
		if m.Wire != nil && (!maps.Equal(m.Wire.Headers, before[i].Headers) || m.Wire.ContentType != before[i].ContentType || m.Wire.Null != before[i].Null) {
			s.Errorf("Publish changed what the encoder made of message %d", i)
		}
	}
	s.wired(msgs...)
}

// wired wants the broker to hold exactly sent, each once, and those that were
// encoded as they were.
func (s *scene) wired(sent ...broker.Delivery) {
	s.Helper()
	held := s.f.Wired(s.T)
	if len(held) != len(sent) {
		s.Fatalf("the broker holds %d messages, want %d", len(held), len(sent))
	}
	for i, m := range sent {
		at := slices.IndexFunc(held, func(r Wired) bool { return bytes.Equal(r.Payload, m.Payload) })
		if at < 0 {
			s.Fatalf("the payload of message %d is not there", i)
		}
		if m.Wire == nil {
			continue
		}
		if d := s.wireDifference(m, held[at]); d != "" {
			s.Errorf("message %d is not what the encoder made: %s", i, d)
		}
	}
}

func (s *scene) wireDifference(sent broker.Delivery, got Wired) string {
	var found []string
	want, have := s.wireFold(sent.Wire.Headers), s.wireFold(got.Headers)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := have[name]; !ok {
			found = append(found, fmt.Sprintf("header %q is missing", name))
		} else if value != want[name] {
			found = append(found, fmt.Sprintf("header %q is %.200q, want %.200q", name, value, want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		_, asked := want[name]
		_, own := sent.Headers[name]
		if !asked && (own || strings.HasPrefix(strings.ToLower(name), "postbag-")) {
			found = append(found, fmt.Sprintf("header %q was added", name))
		}
	}
	if sent.Wire.ContentType != "" && got.ContentType != sent.Wire.ContentType {
		found = append(found, fmt.Sprintf("the content type is %.200q, want %.200q", got.ContentType, sent.Wire.ContentType))
	}
	return strings.Join(found, "; ")
}

// wireFold lowers names that HTTP, which has no case in them, delivers.
func (s *scene) wireFold(headers map[string]string) map[string]string {
	if !s.h.FoldsNames && s.h.Features.Binding != broker.BindingHTTP {
		return headers
	}
	folded := make(map[string]string, len(headers))
	for name, value := range headers {
		folded[strings.ToLower(name)] = value
	}
	return folded
}
