package brokertest

import (
	"fmt"
	"maps"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

func headerCases() []testCase {
	return []testCase{
		{name: "header values of any text arrive as they are", run: headerValues},
		{name: "header names of any text arrive as they are", run: headerNames},
		{name: "random headers arrive as they are", run: randomHeaders},
		{name: "many and long headers arrive as they are", run: manyHeaders},
		{name: "header names that differ in case stay apart", run: headerCase},
		{name: "no headers, key or type at all is a good message", run: bareMessage},
		{name: "keys of any text arrive as they are", run: keyTexts},
		{name: "types of any text arrive as they are", run: typeTexts},
		{name: "a header with a meaning for the broker does no harm", run: reservedHeaders},
		{name: "the header of a replay arrives under its own name", run: replayHeader},
		{name: "properties of other transports do not go out as headers", run: foreignProperties},
		{name: "a property that the destination does not have is rejected", run: unknownProperty},
	}
}

func headerValues(s *scene) {
	s.open().headersRoundTrip(map[string]string{
		"empty": "", "spaces": "  both ends  ", "tab": "\tx\t", "lines": "a\r\nb\nc\rd", "colon": "a: b", "comma": "a, b;c=\"d\"",
		"percent": "%41%zz%", "plus": "a+b", "quoted": "=?UTF-8?Q?x?=", "control": "\x01\x1f\x7f", "umlaut": "grün",
		"emoji": "🙂", "wide": "漢字",
		"separator": "\u2028\u0085\ufeff", "replacement": "\ufffd",
	})
}

func headerNames(s *scene) {
	s.open().headersRoundTrip(map[string]string{
		"with space": "1", "with:colon": "2", "with%25percent": "3", "mit-umlaut-ü": "4", "🙂": "5", "line\r\nbreak": "6", "semi;colon": "7",
		`quote"d`: "8", "(brackets)[]{}<>": "9", "a/b?c=d": "10",
		"x@y": "11", "back\\slash": "12", " both ends ": "13", "\ttab": "14",
		"dotted.name": "15", "under_score": "16", "\x01control": "17",
	})
}

func randomHeaders(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for range 50 {
		msgs = append(msgs, s.with(func(m *broker.Delivery) {
			m.Headers = map[string]string{}
			for i := range s.random.IntN(6) {
				m.Headers[fmt.Sprintf("%d%s", i, strings.ToLower(s.text(8)))] = s.text(s.random.IntN(24))
			}
		}))
	}
	s.roundTrips(msgs...)
}

func manyHeaders(s *scene) {
	s.open()
	many := map[string]string{}
	for i := range 64 {
		many[fmt.Sprintf("header-%d", i)] = strings.Repeat("v", i)
	}
	s.roundTrips(
		s.with(func(m *broker.Delivery) { m.Headers = many }),
		s.with(func(m *broker.Delivery) { m.Headers = map[string]string{"long": strings.Repeat("long ", 1600)} }),
	)
}

func headerCase(s *scene) {
	s.open()
	if s.h.FoldsNames {
		s.Skip("the transport folds header names")
	}
	s.headersRoundTrip(map[string]string{"trace-id": "1", "Trace-Id": "2", "TRACE-ID": "3"})
}

func bareMessage(s *scene) {
	s.open().roundTrips(s.with(func(m *broker.Delivery) { m.Headers, m.Key, m.Type = nil, "", "" }))
}

func keyTexts(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for _, key := range append(s.texts(), strings.Repeat("k", postbag.MaxKey)) {
		msgs = append(msgs, s.with(func(m *broker.Delivery) { m.Key = key }))
	}
	s.roundTrips(msgs...)
}

func typeTexts(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for _, text := range append(s.texts(), strings.Repeat("t", postbag.MaxName)) {
		msgs = append(msgs, s.with(func(m *broker.Delivery) { m.Type = text }))
	}
	s.roundTrips(msgs...)
}

func reservedHeaders(s *scene) {
	s.open()
	before, after := s.message(), s.message()
	s.accept(before)
	sent := []broker.Delivery{before}
	for _, name := range s.h.Reserved {
		m := s.with(func(m *broker.Delivery) { m.Headers = map[string]string{name: "1"} })
		results := s.publish(s.patient(), m)
		s.among(results, broker.Accepted, broker.Rejected)
		if results[0].Outcome == broker.Accepted {
			sent = append(sent, m)
		}
	}
	s.accept(after)
	s.holds(append(sent, after)...)
}

// propertiesOf are the destination's own namespace of properties, empty if it has none.
func (s *scene) propertiesOf() string {
	if _, has := broker.HeaderCheckerOf(s.f.Destination); !has {
		return ""
	}
	if s.h.Features.Binding == broker.BindingAMQP {
		return "rabbitmq."
	}
	return s.h.Features.Binding + "."
}

func replayHeader(s *scene) {
	s.open()
	s.roundTrips(s.with(func(m *broker.Delivery) { m.Headers = map[string]string{broker.HeaderReplay: "replay-1", "own": "2"} }))
}

func foreignProperties(s *scene) {
	s.open()
	m := s.with(func(m *broker.Delivery) { m.Headers = map[string]string{"kept": "1", "x-kafka.is": "no property"} })
	sent := m
	sent.Headers = maps.Clone(m.Headers)
	for _, namespace := range []string{"kafka.", "mqtt.", "nats.", "rabbitmq."} {
		if namespace != s.propertiesOf() {
			sent.Headers[namespace+"whatever"] = "of another's"
		}
	}
	s.accept(sent)
	s.holds(m)
	for _, held := range s.stored(m) {
		for name := range held.Headers {
			if strings.Contains(name, "whatever") { // also if its first letters are encoded
				s.Errorf("the broker holds the header %q", name)
			}
		}
	}
}

func unknownProperty(s *scene) {
	s.open()
	own := s.propertiesOf()
	if own == "" {
		s.Skip("the destination has no properties")
	}
	bad := s.with(func(m *broker.Delivery) { m.Headers = map[string]string{own + "no-such-property": "x"} })
	good := s.message()
	results := s.publish(s.patient(), bad, good)
	s.only(results, map[int]bool{0: true})
	if err := results[0].Err; err == nil || !strings.Contains(err.Error(), own+"no-such-property") {
		s.Errorf("the error does not name the header: %v", err)
	}
	s.holds(good)
}

// headersRoundTrip sends the headers together and one by one.
func (s *scene) headersRoundTrip(headers map[string]string) {
	s.Helper()
	msgs := []broker.Delivery{s.with(func(m *broker.Delivery) { m.Headers = headers })}
	for name, value := range headers {
		msgs = append(msgs, s.with(func(m *broker.Delivery) { m.Headers = map[string]string{name: value} }))
	}
	s.roundTrips(msgs...)
}

// texts are distinct texts that transports trip over.
func (s *scene) texts() []string {
	texts := []string{
		"plain", " both ends ", "with space", "tab\t", "lines\r\nand\nmore", "%41", "100%", "a:b", "a/b",
		"a.b", "*", ">", "#", "+", "$SYS", "'; drop",
		`"quoted"`, "\x01\x7f", "grün", "漢字", "🙂", "\u2028", "\ufeffmark", "null", "0",
	}
	for range 10 {
		texts = append(texts, "r"+s.text(40))
	}
	return texts
}
