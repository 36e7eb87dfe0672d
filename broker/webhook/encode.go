package webhook

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/postbag/postbag/broker"
)

const (
	userAgent = "Postbag-Webhook"
	// expectFrom is the payload size, in bytes, from which the endpoint is asked
	// before the payload is sent (Expect: 100-continue). An endpoint that refuses
	// a large body and hangs up would else cut its own answer off, and the message
	// would stay Unknown for ever.
	expectFrom = 1 << 20
)

// newRequest builds one attempt's request. It has no GetBody, so that the HTTP
// client has nothing to send a second time.
func newRequest(ctx context.Context, s *settings, t *target, m *broker.Delivery) *http.Request {
	r := &http.Request{
		Method:        http.MethodPost,
		URL:           t.url,
		Host:          t.url.Host,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        newHeader(s, t, m, s.now()),
		Body:          io.NopCloser(bytes.NewReader(m.Payload)),
		ContentLength: int64(len(m.Payload)),
	}
	if len(m.Payload) == 0 {
		// http.NoBody would be sent again after an HTTP/2 stream error. A body of
		// unknown length is not, and would be sent in chunks, were it not for these
		// two; the HTTP client skips the usual spelling of the header only.
		r.TransferEncoding = []string{"identity"}
		r.Header["content-length"] = []string{"0"}
	}
	return r.WithContext(ctx)
}

// fields collects headers of one value each, which share one piece of memory.
type fields struct {
	header http.Header
	values []string
}

func (f *fields) set(name, value string) {
	f.values = append(f.values, value)
	last := len(f.values)
	f.header[name] = f.values[last-1 : last : last]
}

func (f *fields) setEscaped(name, value string) {
	if value != "" {
		f.set(name, broker.Escape(value, ""))
	}
}

func newHeader(s *settings, t *target, m *broker.Delivery, now time.Time) http.Header {
	const most = 13 // fields set below
	own := m.Headers
	if m.Wire != nil {
		own = m.Wire.Headers
	}
	f := fields{header: make(http.Header, most+len(s.Header)+len(own)), values: make([]string, 0, most)}
	f.set("User-Agent", userAgent)
	if t.authorization != "" {
		f.set("Authorization", t.authorization)
	}
	maps.Copy(f.header, s.Header)
	if m.Wire == nil {
		f.set("Content-Type", contentType(m.Headers, s.ContentType))
	} else {
		f.set("Content-Type", cmp.Or(m.Wire.ContentType, s.ContentType))
	}
	if len(m.Payload) >= expectFrom {
		f.set("Expect", "100-continue")
	}
	id, stamp := webhookID(m), strconv.FormatInt(now.Unix(), 10)
	f.set(HeaderWebhookID, id)
	f.set(HeaderWebhookTimestamp, stamp)
	f.set(HeaderWebhookSignature, signature(s.keys, id, stamp, m.Payload))
	if m.Wire != nil {
		f.setWire(m.Wire)
		return f.header
	}
	f.set(broker.HeaderID, m.ID.String())
	f.set(broker.HeaderTime, broker.FormatTime(m.At))
	f.setEscaped(HeaderTopic, m.Topic)
	f.setEscaped(broker.HeaderKey, m.Key)
	f.setEscaped(broker.HeaderType, m.Type)
	if own = broker.WithoutProperties(own); len(own) > 0 {
		f.set(HeaderHeaders, encodeHeaders(own))
		addPlain(f.header, own)
	}
	return f.header
}
