package sourcetest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag/source"
)

func contentCases() []testCase {
	return []testCase{
		{name: "payloads of any size and content arrive bit for bit", run: payloadsArrive},
		{name: "headers and keys of any text arrive as they are", run: headersArrive},
		{name: "a name that several headers have keeps all values in their sequence", run: repeatedNames},
		{name: "no payload and an empty one arrive as such", run: nullsArrive},
		{name: "what a Fetch returned belongs to its caller", run: belongsToCaller},
	}
}

func payloadsArrive(s *scene) {
	s.open()
	src := s.join()
	allBytes := make([]byte, 256)
	for i := range allBytes {
		allBytes[i] = byte(i)
	}
	for _, payload := range [][]byte{
		[]byte("x"),
		{0},
		{0, 0, 0},
		[]byte(" \r\n\t "), []byte("\r\n.\r\n"), allBytes, []byte("{\"a\":1}\n"), []byte("%41%"), []byte("\xff\xfe"),
		s.bytes(1), s.bytes(1000), s.bytes(64 << 10), bytes.Repeat([]byte("ü"), 10_000),
	} {
		s.sendWith(func(m *source.Message) { m.Payload = payload })
	}
	s.whole(s.fetch(src, len(s.sent)))
}

func headersArrive(s *scene) {
	s.open()
	src := s.join()
	texts := []string{"x", "a b", "100%", "%41", "a:b;c=d,e", `"quoted"`, "{}[]()<>@\\/?'", strings.Repeat("long", 500)}
	if !s.h.Visible {
		texts = append(texts, "grün 漢字 🙂", "\u00a0\u2028\ufeff", "tab\there")
	}
	for i, text := range texts {
		s.sendWith(func(m *source.Message) {
			m.Headers = append(m.Headers, source.Header{Name: "text", Value: text}, source.Header{Name: "X-" + strconv.Itoa(i), Value: text})
			if !s.h.NoKeys {
				m.Key = text
			}
		})
	}
	s.sendWith(func(m *source.Message) {
		for i := range 40 {
			m.Headers = append(m.Headers, source.Header{Name: "many-" + strconv.Itoa(i), Value: strings.Repeat("v", i+1)})
		}
	})
	s.sendWith(func(m *source.Message) { m.Key = "" })
	s.whole(s.fetch(src, len(s.sent)))
}

func repeatedNames(s *scene) {
	if s.h.NoRepeats {
		s.Skip("the broker has each name of a header once")
	}
	s.open()
	src := s.join()
	s.sendWith(func(m *source.Message) {
		m.Headers = append(m.Headers, source.Header{Name: "again", Value: "first"}, source.Header{Name: "other", Value: "x"},
			source.Header{Name: "again", Value: "second"}, source.Header{Name: "again", Value: "first"})
	})
	s.whole(s.fetch(src, 1))
}

func nullsArrive(s *scene) {
	s.open()
	src := s.join()
	s.sendWith(func(m *source.Message) { m.Payload = []byte{} })
	if s.h.Nulls {
		s.sendWith(func(m *source.Message) { m.Payload, m.Null = nil, true })
	}
	s.whole(s.fetch(src, len(s.sent)))
}

func belongsToCaller(s *scene) {
	s.open()
	src := s.join()
	s.send(2)
	msgs := s.fetch(src, 2)
	kept := slices.Clone(msgs)
	for i := range kept {
		kept[i].Headers, kept[i].Payload = slices.Clone(msgs[i].Headers), bytes.Clone(msgs[i].Payload)
	}
	s.send(20)
	more := s.fetch(src, 20)
	for i := range msgs {
		if !bytes.Equal(msgs[i].Payload, kept[i].Payload) || !slices.Equal(msgs[i].Headers, kept[i].Headers) {
			s.Fatal("a later Fetch changed a message of an earlier one")
		}
	}
	for _, m := range slices.Concat(msgs, more) {
		clear(m.Payload)
		clear(m.Headers)
	}
	s.release(src, 0, slices.Concat(msgs, more)...)
	s.whole(s.fetch(src, 22)) // not as the caller left them
}

// whole wants exactly the messages that were sent, each once and unchanged, and in order.
func (s *scene) whole(msgs []source.Message) {
	s.Helper()
	s.all(msgs, every, none)
	s.inOrder(msgs)
	for _, m := range msgs {
		n := s.number(m)
		if d := s.difference(s.sent[n], m); d != "" {
			s.Errorf("message %d is not what was sent: %s", n, d)
		}
	}
}

// difference says where got is not what was sent, empty when it is. It quotes nothing long.
func (s *scene) difference(sent, got source.Message) string {
	switch {
	case got.Err != nil:
		return "it has an error: " + got.Err.Error()
	case !s.h.NoKeys && got.Key != sent.Key:
		return "the key is " + strconv.Quote(got.Key)
	case !bytes.Equal(got.Payload, sent.Payload):
		return "the payload has " + strconv.Itoa(len(got.Payload)) + " bytes, or others"
	case s.h.Nulls && got.Null != sent.Null:
		return "no payload and an empty one are mixed up"
	case got.Topic == "":
		return "it has no topic"
	}
	for i, one := range sent.Headers {
		if i > 0 && slices.ContainsFunc(sent.Headers[:i], func(h source.Header) bool { return h.Name == one.Name }) {
			continue
		}
		if !slices.Equal(s.values(got.Headers, one.Name), s.values(sent.Headers, one.Name)) {
			return "the header " + one.Name + " has other values"
		}
	}
	return ""
}

func (s *scene) values(headers source.Headers, name string) (all []string) {
	for _, one := range headers {
		if one.Name == name || s.h.FoldsNames && strings.EqualFold(one.Name, name) {
			all = append(all, one.Value)
		}
	}
	return all
}
