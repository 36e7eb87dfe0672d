package webhook

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/httpfield"
)

// maxID is the largest length of a webhook-id, in bytes: that of store.MaxMessageID.
const maxID = 255

// refusal is the answer to a request that can never be taken, as far as its header says
// so. The zero answer: read it.
func (s *Source) refusal(r *http.Request) answer {
	if r.Method != http.MethodPost {
		return refuse(http.StatusMethodNotAllowed, errors.New("webhook: the method is not POST; let the sender post to this address"))
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, errors.New("webhook: the content is encoded; let the sender post it without Content-Encoding"))
	}
	if !s.takesType(r.Header.Get("Content-Type")) {
		return refuse(http.StatusUnsupportedMediaType, errors.New("webhook: the content type is not taken; add it to SourceOptions.ContentTypes, or let the sender use another"))
	}
	if r.ContentLength > s.settings.MaxBytes {
		return s.tooLarge()
	}
	if err := s.badID(r.Header); err != nil {
		return refuse(http.StatusBadRequest, err)
	}
	return answer{}
}

func refuse(code int, err error) answer { return answer{code: code, err: err} }

func (s *Source) tooLarge() answer {
	err := fmt.Errorf("%w; of a Source it is SourceOptions.MaxBytes, which is %d", ErrTooLarge, s.settings.MaxBytes)
	return answer{code: http.StatusRequestEntityTooLarge, err: err, hangUp: true}
}

func (s *Source) takesType(text string) bool {
	if len(s.settings.ContentTypes) == 0 {
		return true
	}
	kind, _, err := mime.ParseMediaType(text)
	return err == nil && slices.Contains(s.settings.ContentTypes, kind)
}

// badID says what is wrong with a webhook-id. A full stop ends the id in what is signed, so
// that one inside would let the timestamp begin in the body.
func (s *Source) badID(header http.Header) error {
	values := header.Values(HeaderWebhookID)
	if len(values) == 0 && s.settings.Unsigned {
		return nil
	}
	id, err := single(header, HeaderWebhookID)
	switch {
	case err != nil:
		return err
	case len(id) > maxID:
		return malformed("%s has more than %d bytes", HeaderWebhookID, maxID)
	case !httpfield.Verbatim(id):
		return malformed("%s is not visible ASCII", HeaderWebhookID)
	case strings.Contains(id, ".") && !s.settings.Unsigned:
		return malformed("%s has a full stop", HeaderWebhookID)
	}
	return nil
}

// read reads the body, within its limit of size, and until the deadline that ServeHTTP has set.
func (s *Source) read(w http.ResponseWriter, r *http.Request) ([]byte, answer) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.settings.MaxBytes))
	if err == nil {
		// The deadline would end the wait for an ack.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		return body, answer{}
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, s.tooLarge()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("webhook: the body did not come within %s; raise SourceOptions.ReadTimeout, or look at the sender's network", s.settings.ReadTimeout)
		return nil, answer{code: http.StatusRequestTimeout, err: err, hangUp: true}
	}
	a := s.busy(errGone) // it ended early: the sender, or the connection
	a.hangUp = true
	return nil, a
}
