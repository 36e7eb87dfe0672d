package webhook

import (
	"errors"
	"net/http"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// setWire adds the headers that an encoder made, in place of the package's own.
func (f *fields) setWire(w *broker.Wire) {
	for name, value := range w.Headers {
		f.set(http.CanonicalHeaderKey(name), value)
	}
}

// wireFault says why HTTP cannot carry what an encoder made as it is, nil when it
// can. An encoder is the operator's, and may set headers that a message may not.
func (s *settings) wireFault(w *broker.Wire) error {
	if w == nil {
		return nil
	}
	if w.ContentType != "" && !httpfield.Verbatim(w.ContentType) {
		return errors.New("webhook: the encoder's content type is not visible ASCII; write it as application/json is written")
	}
	seen := make(map[string]bool, len(w.Headers))
	for name, value := range w.Headers {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpfield.IsToken(name):
			return errors.New("webhook: the encoder made a header whose name is not an HTTP token; use letters, digits and hyphens")
		case httpfield.In(name, "content-type") || httpfield.HasPrefix(name, "webhook-") || httpfield.Framing(name):
			return errors.New("webhook: the encoder made a header that Postbag or HTTP itself sets, such as Content-Type or Webhook-Id; leave it out")
		case !httpfield.Verbatim(value):
			return errors.New("webhook: the encoder made a header whose value is empty or not visible ASCII; encode it first")
		case seen[canonical]:
			return errors.New("webhook: the encoder made two headers whose names differ in case only, which HTTP does not tell apart; keep one")
		case s.Header[canonical] != nil:
			return errors.New("webhook: the encoder made a header that Options.Header sets too; keep one")
		}
		seen[canonical] = true
	}
	return nil
}
