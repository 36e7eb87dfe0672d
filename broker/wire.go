package broker

import (
	"strings"
	"time"
)

// Wire is what an encoder made of a message, besides topic, key and payload, which it
// puts into the Delivery itself. A destination sends it in place of the plain form. It
// adds no Postbag-* header, and none of Message.Headers. What the transport itself needs
// (a deduplication id, a signature) stays. So do Delivery.ID and everything else that the
// destination knows of the message.
//
// An encoder makes headers that its transport can carry; Features.Binding tells it the
// rules. A destination never changes a header silently. If it cannot carry one byte for
// byte, or its transport would obey it, the message is Rejected. Nobody changes a Wire
// once it is made.
type Wire struct {
	// Headers are sent under exactly these names. A transport whose header names have no
	// case (HTTP) may fold them. Nil or empty: none.
	Headers map[string]string
	// ContentType is sent as the transport's own content-type property (AMQP,
	// MQTT), or else as its header of that name: Content-Type in HTTP and NATS,
	// content-type in Kafka and Redis. Empty: none, or the destination's default.
	ContentType string
	// Null says that there is no payload at all, for transports that distinguish this
	// from an empty payload (a Kafka tombstone). Delivery.Payload is then empty.
	Null bool
}

// Values of Features.Binding.
const (
	BindingAMQP  = "amqp"
	BindingHTTP  = "http"
	BindingKafka = "kafka"
	BindingMQTT  = "mqtt"
	BindingNATS  = "nats"
	BindingRedis = "redis"
)

// Names of the headers that carry a message's id, key, type and time on the wire, unless
// an encoder says otherwise. Postbag-Key and Postbag-Type are absent if empty.
const (
	HeaderID   = "Postbag-Id"
	HeaderKey  = "Postbag-Key"
	HeaderType = "Postbag-Type"
	HeaderTime = "Postbag-Time"
)

// HeaderReplay is the header of messages that a replay sends again: its value is the
// replay's name. A relay adds it to Delivery.Headers. Destinations send it as it is.
const HeaderReplay = "Postbag-Replay"

// factPrefix begins the names of headers in which destinations carry facts.
const factPrefix = "Postbag-"

// IsFact says whether destinations keep a header's name for facts of messages, so that a
// header of a message's own travels under another one.
func IsFact(name string) bool { return strings.HasPrefix(name, factPrefix) && name != HeaderReplay }

// TimeFormat is the form of Postbag-Time: RFC 3339 with microseconds, in UTC.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// FormatTime returns t in TimeFormat.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeFormat) }

// Escape percent-encodes every byte of s outside visible ASCII, and '%' itself,
// so that a transport with ASCII headers carries any text. extra names further
// bytes to encode, such as ':' in a NATS header name. Text that needs none is
// returned as it is.
func Escape(s, extra string) string {
	n := 0
	for i := range len(s) {
		if escaped(s[i], extra) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for i := range len(s) {
		if c := s[i]; escaped(c, extra) {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(c byte, extra string) bool {
	return c <= ' ' || c >= 0x7f || c == '%' || strings.IndexByte(extra, c) >= 0
}

// Unescape is the inverse of Escape. A '%' that two hexadecimal digits do not
// follow is left as it stands.
func Unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				b.WriteByte(hi<<4 | lo)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
