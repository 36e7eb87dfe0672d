package natsbroker

import (
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
)

const (
	headerNats           = "Nats-"
	headerMsgID          = jetstream.MsgIDHeader
	headerExpectedStream = jetstream.ExpectedStreamHeader

	// maxHeader is what JetStream stores of headers, in bytes on the wire.
	maxHeader = 1<<16 - 1
	// headerFrame is "NATS/1.0\r\n" and the empty line, headerLine the ": " and
	// "\r\n" of one header.
	headerFrame, headerLine = 12, 4
	// idLength is that of a message's id as text.
	idLength = 36
)

// noName are the characters of visible ASCII that the client library refuses in
// header names (headerSize in nats.go).
const noName = "\"()/,:;<=>?@[\\]{}"

// escapeName makes a header name that NATS carries.
func escapeName(name string) string { return broker.Escape(name, noName) }

// obeyed says whether the server, a client or Message would take a header of this
// name for its own.
func obeyed(name string) bool {
	return strings.HasPrefix(name, headerNats) || broker.IsFact(name) ||
		name == "Status" || name == "Description"
}

// disarm encodes the first letter of a name as well, so that nobody obeys it and
// Unescape still gives the name back.
func disarm(name string) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[name[0]>>4], digits[name[0]&15]}) + name[1:]
}

// headers builds the headers of one message after the other in the same memory:
// a nats.Msg is encoded before PublishMsg returns.
type headers struct {
	pass   map[string]bool
	header nats.Header
	values []string
	msgID  msgID
	text   []byte // of ids and time
	size   int    // on the wire
}

func newHeaders(pass map[string]bool) *headers {
	return &headers{pass: pass, header: make(nats.Header, 8), values: make([]string, 0, 8)}
}

// passes are the names that Options.PassHeaders lets through.
func passes(names []string) map[string]bool {
	pass := make(map[string]bool, len(names))
	for _, name := range names {
		pass[name] = true
	}
	return pass
}

// set makes the headers of m, for a subject of a stream whose name is known or empty;
// after is as in msgID.append.
func (h *headers) set(m *broker.Delivery, subject, stream string, after uint64) {
	clear(h.header)
	h.values, h.size = h.values[:0], headerFrame
	msgID, id, at := h.idsAndTime(m, subject, after)
	h.add(headerMsgID, msgID)
	if stream != "" {
		h.add(headerExpectedStream, stream)
	}
	if text := ttl(m); text != "" {
		h.add(headerTTL, text)
	}
	if m.Wire != nil {
		h.setWire(m.Wire)
		return
	}
	h.add(broker.HeaderID, id)
	if m.Key != "" {
		h.add(broker.HeaderKey, broker.Escape(m.Key, ""))
	}
	if m.Type != "" {
		h.add(broker.HeaderType, broker.Escape(m.Type, ""))
	}
	if at != "" {
		h.add(broker.HeaderTime, at)
	}
	for name, value := range m.Headers {
		if broker.IsProperty(name) {
			continue
		}
		h.own(name, value)
	}
}

// idsAndTime writes them as one text, for one allocation. The id for the stream begins
// with that of the message.
func (h *headers) idsAndTime(m *broker.Delivery, subject string, after uint64) (msgID, id, at string) {
	h.text = h.msgID.append(h.text[:0], m, subject, after)
	end := len(h.text)
	if !m.At.IsZero() {
		h.text = m.At.UTC().AppendFormat(h.text, broker.TimeFormat)
	}
	all := string(h.text)
	return all[:end], all[:idLength], all[end:]
}

// own adds a header of the message's own.
func (h *headers) own(name, value string) {
	switch safe := escapeName(name); {
	case h.pass[safe]:
		h.add(safe, value)
	case obeyed(safe):
		h.add(disarm(safe), broker.Escape(value, ""))
	default:
		h.add(safe, broker.Escape(value, ""))
	}
}

func (h *headers) add(name, value string) {
	h.values = append(h.values, value)
	last := len(h.values) - 1
	h.header[name] = h.values[last : last+1 : last+1]
	h.size += len(name) + len(value) + headerLine
}

const headerContentType = "Content-Type"

// setWire adds the headers that an encoder made, in place of the package's own.
func (h *headers) setWire(w *broker.Wire) {
	if w.ContentType != "" {
		h.add(headerContentType, w.ContentType)
	}
	for name, value := range w.Headers {
		h.add(name, value)
	}
}

// badWire says why NATS cannot carry what an encoder made as it is, nil when it
// can.
func badWire(w *broker.Wire, pass map[string]bool) *broker.Error {
	if w == nil {
		return nil
	}
	if !plainValue(w.ContentType) {
		return adapter.Failure(broker.Rejected, "the encoder's content type has a line break, or a space at an end", "write it as application/json is written")
	}
	for name, value := range w.Headers {
		switch {
		case !plainName(name):
			return adapter.Failure(broker.Rejected, "the encoder made a header whose name NATS cannot carry", "use letters, digits and hyphens")
		case obeyed(name) && !strings.HasPrefix(name, "Postbag-") && !pass[name]:
			return adapter.Failure(broker.Rejected, "the encoder made a header that the server or a client would obey",
				"leave out Nats-*, Status and Description, or name it in Options.PassHeaders")
		case !plainValue(value):
			return adapter.Failure(broker.Rejected, "the encoder made a header whose value has a line break, or a space at an end", "encode it first")
		case name == headerContentType && w.ContentType != "":
			return adapter.Failure(broker.Rejected, "the encoder made a content type twice", "leave it out of the headers")
		}
	}
	return nil
}

// plainName says whether the client library takes a header name as it is.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(noName, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// plainValue says whether the client library sends a header value as it is.
func plainValue(value string) bool {
	return !strings.ContainsAny(value, "\r\n") && strings.Trim(value, " \t") == value
}
