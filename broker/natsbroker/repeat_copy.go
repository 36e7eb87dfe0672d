package natsbroker

import (
	"bytes"
	"net/textproto"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
)

// headerTTL is how long the stream keeps a message. The server writes the least it
// allows in the place of a shorter time.
const headerTTL = jetstream.MsgTTLHeader

// original is a message as the stream would hold it.
type original struct {
	id, subject string
	headers     map[string]string
	body        []byte
}

// originalOf is what m would be at a subject, under an id.
func originalOf(m *broker.Delivery, subject, id string, pass map[string]bool) original {
	h := newHeaders(pass)
	h.set(m, subject, "", 0)
	o := original{id: id, subject: subject, headers: make(map[string]string, len(h.header)), body: m.Payload}
	for name, values := range h.header {
		o.headers[name] = carried(values[0])
	}
	delete(o.headers, headerMsgID) // it may be another by now: o.id
	return o
}

// carried is a value as the client library writes it.
func carried(value string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(textproto.TrimString(value))
}

// is says whether stored is this message at its subject: nothing keeps a producer from
// using an id twice. Where the server maps subjects, the subject is the one that the
// id was made for.
func (o *original) is(stored *jetstream.RawStreamMsg, mapped bool) bool {
	return stored.Header.Get(headerMsgID) == o.id && (stored.Subject == o.subject || mapped) &&
		bytes.Equal(stored.Data, o.body) && o.sameHeaders(stored)
}

// sameHeaders compares what a consumer reads, and what Options.PassHeaders tells the
// stream. Left out is what the server may have written (Nats-Stream-Source and such)
// and the name of the stream, which is sent once it is known.
func (o *original) sameHeaders(stored *jetstream.RawStreamMsg) bool {
	for name, value := range o.headers {
		got := stored.Header[name]
		if len(got) != 1 || got[0] != value && name != headerTTL {
			return false
		}
	}
	for name := range stored.Header {
		if _, ours := o.headers[name]; !ours && (name == headerTTL || !strings.HasPrefix(name, headerNats)) {
			return false
		}
	}
	return true
}
