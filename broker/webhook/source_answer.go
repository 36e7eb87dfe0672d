package webhook

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// accepted is the status of a request that was acked.
const accepted = http.StatusNoContent

// answer is what a request is answered with. The zero answer is that of an ack.
type answer struct {
	code       int   // zero: accepted
	err        error // why
	retryAfter time.Duration
	hangUp     bool // the rest of the request is not read
}

// Reasons for 503.
var (
	errFull     = errors.New("webhook: too many requests are in hand; send it again")
	errStalled  = errors.New("webhook: nothing is stored at the moment; send it again")
	errLate     = errors.New("webhook: it was not stored in time; send it again")
	errReleased = errors.New("webhook: it was given back; send it again")
	errGone     = errors.New("webhook: the sender hung up; send it again")
)

// busy is an answer to a request that may come again.
func (s *Source) busy(why error) answer {
	return answer{code: http.StatusServiceUnavailable, err: why, retryAfter: s.settings.RetryAfter}
}

// write answers, and counts the answer.
func (s *Source) write(w http.ResponseWriter, a answer) {
	switch a.code {
	case 0:
		s.accepted.Add(1)
		w.WriteHeader(accepted)
		return
	case http.StatusServiceUnavailable:
		if s.unavailable.Add(1); errors.Is(a.err, errGone) {
			s.gone.Add(1) // perhaps it only stopped writing: without an answer it would read 200
		}
		w.Header().Set("Retry-After", strconv.FormatInt(int64((a.retryAfter+time.Second-1)/time.Second), 10))
	default:
		s.refused.Add(1)
		s.settings.OnFault(a.err)
	}
	if a.code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	if a.hangUp {
		w.Header().Set("Connection", "close")
	}
	text, _, _ := strings.Cut(a.err.Error(), ";") // what to do about it is for this side
	text += "\n"
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(a.code)
	_, _ = w.Write([]byte(text)) // a sender that does not read it has hung up
}
