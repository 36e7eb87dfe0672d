package webhook

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
	"github.com/postbag/postbag/source"
)

// message verifies a request that was read, and makes its message. It has no Receipt yet.
func (s *Source) message(r *http.Request, body []byte) (source.Message, answer) {
	if !s.settings.Unsigned {
		if err := verify(s.settings.keys, r.Header, body, s.settings.Tolerance, s.settings.now()); err != nil {
			return source.Message{}, refuse(StatusOf(err), err)
		}
	}
	for _, name := range []string{HeaderTopic, broker.HeaderKey, broker.HeaderType} {
		if len(r.Header.Values(name)) > 1 {
			return source.Message{}, refuse(http.StatusBadRequest, malformed("%s is there more than once", name))
		}
	}
	headers, err := headersOf(r.Header)
	if err != nil {
		return source.Message{}, refuse(http.StatusBadRequest, malformed("%s: %w", HeaderHeaders, err))
	}
	return source.Message{
		Topic: cmp.Or(s.settings.Topic(r), defaultTopic), Key: s.settings.Key(r), Headers: headers,
		ContentType: r.Header.Get("Content-Type"), Payload: body,
	}, answer{}
}

// idName is the name under which rules look for the id. Nothing else in a message has it.
const idName = "webhook-id"

// headersOf returns the headers of a message: its id, those that a Destination sent as
// Postbag-Headers, and the others that are the sender's own. Those that frame or steer a
// request stay out, and with them its credentials, and what differs in each attempt.
func headersOf(header http.Header) (source.Headers, error) {
	exact, err := decodeHeaders(header.Values(HeaderHeaders))
	if err != nil {
		return nil, err
	}
	all := make(source.Headers, 0, len(header)+len(exact))
	if id := header.Get(HeaderWebhookID); id != "" {
		all = append(all, source.Header{Name: idName, Value: id})
	}
	there := make(map[string]bool, len(exact))
	for _, name := range slices.Sorted(maps.Keys(exact)) {
		there[http.CanonicalHeaderKey(name)] = true
		if !httpfield.HasPrefix(name, "webhook-", "postbag-") {
			all = append(all, source.Header{Name: name, Value: exact[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if there[name] || httpfield.HasPrefix(name, "webhook-") || httpfield.In(name, HeaderHeaders) || httpfield.Framing(name) || httpfield.Steering(name) {
			continue
		}
		for _, value := range header[name] {
			all = append(all, source.Header{Name: name, Value: value})
		}
	}
	return all, nil
}
