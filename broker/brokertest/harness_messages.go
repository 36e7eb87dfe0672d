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
	"github.com/postbag/postbag/internal/suitetest"
)

// What every message of the suite holds in the places that no error may quote.
const (
	canaryKey     = "canarykey"
	canaryValue   = "canaryvalue"
	canaryPayload = "canarypayload"
)

// message makes a plain good message with a key of its own.
func (s *scene) message() broker.Delivery {
	s.made++
	m := broker.Delivery{
		Message: postbag.Message{
			Topic:   s.f.Topic,
			Key:     fmt.Sprintf("%s-%d", canaryKey, s.made),
			Type:    "brokertest.made",
			Headers: map[string]string{"made": fmt.Sprintf("%s-%d", canaryValue, s.made)},
			Payload: fmt.Appendf(nil, `{"%s":%d}`, canaryPayload, s.made),
		},
		Box: "outbox", Subscription: "default",
		Seq:     int64(s.made),
		At:      time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC).Add(time.Duration(s.made) * time.Second),
		Attempt: 1,
	}
	m.ID = s.id()
	return m
}

// messages makes n of them.
func (s *scene) messages(n int) []broker.Delivery {
	msgs := make([]broker.Delivery, n)
	for i := range msgs {
		msgs[i] = s.message()
	}
	return msgs
}

// with makes a message and changes it.
func (s *scene) with(change func(m *broker.Delivery)) broker.Delivery {
	m := s.message()
	change(&m)
	return m
}

// ofKey makes n messages of one key.
func (s *scene) ofKey(key string, n int) []broker.Delivery {
	msgs := s.messages(n)
	for i := range msgs {
		msgs[i].Key = key
	}
	return msgs
}

// id is random, version 7 by its form.
func (s *scene) id() (id postbag.ID) {
	copy(id[:], s.bytes(len(id)))
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (s *scene) bytes(n int) []byte { return suitetest.Bytes(s.random, n) }

// text is any n characters of UTF-8 but NUL, rich in those that transports trip
// over.
func (s *scene) text(n int) string {
	const traps = "\r\n\t :;,=%\"'\\/<>()[]{}@?&#*.\x01\x1f\x7f\u0080\u00a0\u2028\ufeff\ufffdüé€漢🙂"
	all := []rune(traps)
	var b strings.Builder
	for range n {
		switch s.random.IntN(3) {
		case 0:
			b.WriteRune(all[s.random.IntN(len(all))])
		case 1:
			b.WriteByte(byte('A' + s.random.IntN(58)))
		default:
			b.WriteRune(rune(0x100 + s.random.IntN(0xD000)))
		}
	}
	return b.String()
}

func clone(msgs []broker.Delivery) []broker.Delivery {
	copied := slices.Clone(msgs)
	for i := range copied {
		copied[i].Headers = maps.Clone(msgs[i].Headers)
		copied[i].Payload = bytes.Clone(msgs[i].Payload)
	}
	return copied
}

func repeatsKey(msgs []broker.Delivery) bool {
	seen := map[string]bool{}
	for _, m := range msgs {
		if m.Key != "" && seen[m.Key] {
			return true
		}
		seen[m.Key] = true
	}
	return false
}
