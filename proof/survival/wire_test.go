package survival

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/webhook"
)

// What stands here reads messages as docs/reference says, with nothing of the
// product: percent-decoding, JSON and an HMAC.

// wireMessages reads the stream.
func (w *world) wireMessages() (out []postbag.Message) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		c, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return err
		}
		for {
			batch, err := c.Fetch(100, jetstream.FetchMaxWait(time.Second))
			if err != nil {
				return err
			}
			before := len(out)
			for m := range batch.Messages() {
				one, err := wireMessage(m)
				if err != nil {
					return err
				}
				out = append(out, one)
			}
			if len(out) == before {
				return batch.Error()
			}
		}
	})
	return out
}

func wireMessage(m jetstream.Msg) (out postbag.Message, err error) {
	out.Payload = m.Data()
	facts := map[string]string{}
	for name, values := range m.Headers() {
		if len(values) != 1 {
			return out, fmt.Errorf("header %q has %d values", name, len(values))
		}
		if strings.HasPrefix(name, "Nats-") || strings.HasPrefix(name, "Postbag-") {
			facts[name] = values[0]
			continue
		}
		if err := unescapeInto(&out, name, values[0]); err != nil {
			return out, err
		}
	}
	return out, factsInto(&out, facts["Postbag-Id"], "", facts["Postbag-Key"], facts["Postbag-Type"])
}

// unescapeInto adds a header of the message's own.
func unescapeInto(m *postbag.Message, name, value string) error {
	n, err := url.PathUnescape(name)
	v, err2 := url.PathUnescape(value)
	if m.Headers == nil {
		m.Headers = map[string]string{}
	}
	m.Headers[n] = v
	return errors.Join(err, err2)
}

func factsInto(m *postbag.Message, id, topic, key, kind string) (err error) {
	var errs [4]error
	m.ID, errs[0] = postbag.ParseID(id)
	m.Topic, errs[1] = url.PathUnescape(topic)
	m.Key, errs[2] = url.PathUnescape(key)
	m.Type, errs[3] = url.PathUnescape(kind)
	return errors.Join(errs[:]...)
}

// lineMessages reads lines of JSON.
func lineMessages(t *testing.T, text *bytes.Buffer) (out []postbag.Message) {
	t.Helper()
	d := json.NewDecoder(text)
	for {
		var l struct {
			ID               string
			Topic, Key, Type string
			Headers          map[string]string
			Payload          string
			PayloadBase64    []byte `json:"payload_base64"`
		}
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return out
		}
		m := postbag.Message{Topic: l.Topic, Key: l.Key, Type: l.Type, Headers: l.Headers, Payload: append(l.PayloadBase64, l.Payload...)}
		if err == nil {
			m.ID, err = postbag.ParseID(l.ID)
		}
		if err != nil {
			t.Fatalf("line %d: %v", len(out), err)
		}
		out = append(out, m)
	}
}

// receiver takes webhooks.
type receiver struct {
	t           *testing.T
	url, secret string

	mu  sync.Mutex
	all []postbag.Message
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, secret: webhook.NewSecret()}
	s := httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

func (r *receiver) messages() []postbag.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

func (r *receiver) take(w http.ResponseWriter, q *http.Request) {
	m, err := r.read(q)
	if err != nil {
		r.t.Errorf("a webhook is not as documented: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, m)
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) read(q *http.Request) (m postbag.Message, err error) {
	if m.Payload, err = io.ReadAll(q.Body); err != nil {
		return m, err
	}
	h := q.Header
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
	if err != nil {
		return m, err
	}
	sum := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(sum, "%s.%s.%s", h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), m.Payload) // a hash takes everything
	if h.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)) {
		return m, errors.New("the signature does not match")
	}
	for entry := range strings.SplitSeq(h.Get("Postbag-Headers"), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		if err := unescapeInto(&m, name, value); err != nil {
			return m, err
		}
	}
	return m, factsInto(&m, h.Get("Postbag-Id"), h.Get("Postbag-Topic"), h.Get("Postbag-Key"), h.Get("Postbag-Type"))
}
