package webhook

import (
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

const defaultMaxBytes = 8 << 20

// ReceiveOptions say what Receive takes. Only Secrets are required.
type ReceiveOptions struct {
	// Secrets are the sender's; while it changes one, both.
	Secrets []string
	// Tolerance is how far the timestamp may lie from this machine's clock.
	// Defaults to 5 minutes.
	Tolerance time.Duration
	// MaxBytes is the largest body taken, in bytes. Defaults to 8 MiB.
	MaxBytes int64
}

// Receive reads a webhook that a Destination sent: it verifies the signature and
// returns the message with its payload, topic, key, type and headers as they were
// published. ShardKey and NotBefore are up to the sender and stay empty.
//
// The same webhook may come again; its header webhook-id, which is signed, tells. The
// message's ID tells too where one subscription alone sends to this endpoint. Answer
// with StatusOf(err). Receive reads the body and leaves closing it to the server. It
// is safe for concurrent use.
func Receive(r *http.Request, o ReceiveOptions) (postbag.Message, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	body, err := readBody(r, o.MaxBytes)
	if err != nil {
		return postbag.Message{}, err
	}
	if err := Verify(o.Secrets, r.Header, body, o.Tolerance, time.Now()); err != nil {
		return postbag.Message{}, err
	}
	return decode(r.Header, body)
}

func readBody(r *http.Request, most int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > most {
		return nil, ErrTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("webhook: read body: %w; answer with 500, so that it is sent again", err)
	}
	if int64(len(body)) > most {
		return nil, ErrTooLarge
	}
	return body, nil
}

// decode builds the message of a verified request.
func decode(header http.Header, body []byte) (postbag.Message, error) {
	id, err := messageID(header.Get(HeaderWebhookID))
	if err != nil {
		return postbag.Message{}, malformed("%s does not begin with a UUID", HeaderWebhookID)
	}
	m := postbag.Message{ID: id, Payload: body}
	for name, field := range map[string]*string{
		HeaderTopic: &m.Topic, broker.HeaderKey: &m.Key, broker.HeaderType: &m.Type,
	} {
		if values := header.Values(name); len(values) > 1 {
			return postbag.Message{}, malformed("%s is there more than once", name)
		}
		*field = broker.Unescape(header.Get(name))
		if !utf8.ValidString(*field) {
			return postbag.Message{}, malformed("%s is not UTF-8", name)
		}
	}
	if m.Headers, err = decodeHeaders(header.Values(HeaderHeaders)); err != nil {
		return postbag.Message{}, malformed("%s: %w", HeaderHeaders, err)
	}
	return m, nil
}
