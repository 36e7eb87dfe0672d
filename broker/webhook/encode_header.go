package webhook

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// Names of the headers of a webhook, beside those of package broker.
const (
	// HeaderWebhookID, HeaderWebhookTimestamp and HeaderWebhookSignature are
	// those of Standard Webhooks: an id of the message and the subscription, which
	// begins with the message's own, the seconds since 1970 of the attempt, and the
	// signatures, separated by spaces.
	HeaderWebhookID        = "Webhook-Id"
	HeaderWebhookTimestamp = "Webhook-Timestamp"
	HeaderWebhookSignature = "Webhook-Signature"
	// HeaderTopic is the message's topic.
	HeaderTopic = "Postbag-Topic"
	// HeaderHeaders holds all headers of the message exactly, as "name=value,
	// name2=value2" in the order of names. What is not visible ASCII, and '%',
	// ',' and '=', is percent-encoded. HTTP by itself folds the case of names,
	// trims values, and lets proxies rewrite both.
	HeaderHeaders = "Postbag-Headers"
)

// ours says whether name is set by this package in every request.
func ours(name string) bool {
	return httpfield.In(name, "content-type") || httpfield.HasPrefix(name, "webhook-", "postbag-")
}

// addPlain adds the headers that HTTP carries unchanged to h, for receivers that
// look for them there. A name that h has, or that two headers would share, stays
// out.
func addPlain(h http.Header, headers map[string]string) {
	added := make(map[string]bool, len(headers))
	for name, value := range headers {
		if !httpfield.IsToken(name) || ours(name) && name != broker.HeaderReplay || httpfield.Framing(name) || httpfield.Steering(name) {
			continue
		}
		canonical := http.CanonicalHeaderKey(name)
		if _, taken := added[canonical]; taken {
			delete(h, canonical)
			continue
		}
		if _, taken := h[canonical]; taken {
			continue
		}
		added[canonical] = true
		if httpfield.Verbatim(value) {
			h[canonical] = []string{value}
		}
	}
}

// contentType returns the message's own, if it has one that HTTP carries: of
// several spellings the first in order.
func contentType(headers map[string]string, otherwise string) string {
	first := ""
	for name, value := range headers {
		if strings.EqualFold(name, "content-type") && httpfield.Verbatim(value) && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" {
		return otherwise
	}
	return headers[first]
}

// encodeHeaders is the value of Postbag-Headers, the same for the same headers.
func encodeHeaders(headers map[string]string) string {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(broker.Escape(name, ",="))
		b.WriteByte('=')
		b.WriteString(broker.Escape(headers[name], ","))
	}
	return b.String()
}

// decodeHeaders undoes encodeHeaders, also where a proxy split or joined the
// lines as RFC 9110, section 5.3, allows.
func decodeHeaders(lines []string) (map[string]string, error) {
	var headers map[string]string
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			entry = strings.Trim(entry, " \t")
			if entry == "" {
				continue
			}
			name, value, ok := strings.Cut(entry, "=")
			if !ok {
				return nil, errors.New("an entry has no '='")
			}
			name = broker.Unescape(name)
			if _, twice := headers[name]; twice {
				return nil, errors.New("a name is there twice")
			}
			if headers == nil {
				headers = make(map[string]string)
			}
			headers[name] = broker.Unescape(value)
		}
	}
	return headers, nil
}
