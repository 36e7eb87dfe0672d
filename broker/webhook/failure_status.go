package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// StatusError is the error of a message that the endpoint answered and did not
// accept.
type StatusError struct {
	// Status is the answer's code, such as 404.
	Status int
	// Origin is the endpoint's scheme, host and port. Its path and query stay
	// out, as webhooks keep tokens there.
	Origin string

	outcome broker.Outcome
}

// Error names the endpoint and the status, and what to do. It holds nothing of
// the answer's body.
func (e *StatusError) Error() string {
	status := strconv.Itoa(e.Status)
	if text := http.StatusText(e.Status); text != "" {
		status += " " + text
	}
	return fmt.Sprintf("webhook: %s answered %s; %s", e.Origin, status, e.fix())
}

func (e *StatusError) fix() string {
	switch {
	case e.Status >= 300 && e.Status < 400:
		return "redirects are not followed: set the URL to where it leads"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return "check that both sides have the same secret, clock and credentials"
	case e.outcome == broker.Rejected:
		return "see the endpoint's log for what it does not take in this message"
	case e.outcome == broker.Misconfigured:
		return "check the URL and that the endpoint takes POST"
	}
	return "it is tried again; see the endpoint's log if this lasts"
}

// StatusOutcome is the outcome of an answer by its status code:
//
//	2xx                        Accepted
//	408, 423, 425, 429, 5xx    Unavailable
//	1xx, 3xx, and of the 4xx   Misconfigured
//	  401 to 407, 410, 411, 414, 417, 421, 426, 451
//	other 4xx                  Rejected, such as 400, 409, 413, 415, 422, 431
//	what is no status of HTTP  Unavailable, as RFC 9110, section 15, says
//
// A 4xx that says something of the endpoint, of the sender's rights or of the
// URL would meet every message alike, and so spends no message's attempts.
func StatusOutcome(status int) broker.Outcome {
	switch {
	case status >= 200 && status < 300:
		return broker.Accepted
	case status >= 100 && status < 400:
		return broker.Misconfigured
	case status < 100 || status >= 500:
		return broker.Unavailable
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests:
		return broker.Unavailable
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusGone,
		http.StatusLengthRequired, http.StatusRequestURITooLong, http.StatusExpectationFailed,
		http.StatusMisdirectedRequest, http.StatusUpgradeRequired, http.StatusUnavailableForLegalReasons:
		return broker.Misconfigured
	}
	return broker.Rejected
}

// retryAfter reads a Retry-After header (RFC 9110, section 10.2.3): seconds, or a
// date. It is zero when there is none that can be read or it lies in the past,
// and at most limit.
func retryAfter(value string, now time.Time, limit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if onlyDigits(value) {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(limit/time.Second) {
			return limit
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), limit)
}
