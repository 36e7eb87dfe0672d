package brokertest

import "github.com/postbag/postbag/broker"

func payloadCases() []testCase {
	return []testCase{
		{name: "a payload of no bytes arrives as no bytes", run: emptyPayload},
		{name: "a payload of every byte value arrives bit for bit", run: everyByteValue},
		{name: "a payload that looks like protocol arrives bit for bit", run: protocolLookalike},
		{name: "payloads of any size and content arrive bit for bit", run: randomPayloads},
	}
}

func emptyPayload(s *scene) {
	s.open().roundTrips(
		s.with(func(m *broker.Delivery) { m.Payload = nil }),
		s.with(func(m *broker.Delivery) { m.Payload = []byte{} }),
	)
}

func everyByteValue(s *scene) {
	s.open().roundTrips(
		s.with(func(m *broker.Delivery) { m.Payload = everyByte() }),
		s.with(func(m *broker.Delivery) { m.Payload = append(everyByte(), everyByte()...) }),
		s.with(func(m *broker.Delivery) { m.Payload = []byte{0} }),
	)
}

func protocolLookalike(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for _, text := range []string{
		"\r\n", "\n\n", "PUB x 1\r\n1\r\n", "+OK\r\n-ERR 'x'\r\n", "HTTP/1.1 200 OK\r\n\r\n", "*1\r\n$4\r\nQUIT\r\n",
		" leading and trailing ", "\ufeffbyte order mark", "null", `{"a":1,"a":2, "n":1e2}`, "%41%00", "\\u0000", "\x00\x00\x00",
	} {
		msgs = append(msgs, s.with(func(m *broker.Delivery) { m.Payload = []byte(text) }))
	}
	s.roundTrips(msgs...)
}

func randomPayloads(s *scene) {
	s.open()
	var msgs []broker.Delivery
	for range 40 {
		size := s.random.IntN(1 + min(s.room(), 64<<10))
		msgs = append(msgs, s.with(func(m *broker.Delivery) { m.Payload = s.bytes(size) }))
	}
	s.roundTrips(msgs...)
}

// roundTrips wants msgs accepted and held as they are.
func (s *scene) roundTrips(msgs ...broker.Delivery) {
	s.Helper()
	s.accept(msgs...)
	s.holds(msgs...)
}

// room is a payload size that the destination should take: what it declares, or
// else half of what the harness says is too large.
func (s *scene) room() int {
	switch limit := s.f.Destination.Features().MaxBytes; {
	case limit > 0:
		return limit
	case s.h.TooLarge > 0:
		return s.h.TooLarge / 2
	}
	return 1 << 20
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
