package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/postbag/postbag/broker"
)

// failure is an attempt without an answer. Its text is made here: an error of
// the HTTP client may quote the URL, or bytes that the endpoint sent, which may be
// the payload.
type failure struct {
	outcome   broker.Outcome
	what, fix string
	// cause is an error whose own text is harmless, for errors.Is and As.
	cause error
}

func (f failure) result(origin string) broker.Result {
	err := &attemptError{text: fmt.Sprintf("webhook: %s: %s; %s", origin, f.what, f.fix), cause: f.cause}
	return broker.Result{Outcome: f.outcome, Err: err}
}

type attemptError struct {
	text  string
	cause error
}

func (e *attemptError) Error() string { return e.text }
func (e *attemptError) Unwrap() error { return e.cause }

const (
	fixLasting = "it is tried again; see whether the endpoint runs if this lasts"
	fixRepeat  = "it is sent again with the same id, which the endpoint should drop if it has it"
)

// failure classes an error of the HTTP client. ended is why the attempt was
// ended from here, if it was.
func (p *progress) failure(err, ended error) failure {
	switch {
	case ended != nil:
		return p.interrupted(ended)
	case !p.connected.Load():
		return connectFailure(err)
	case !p.maybeSent():
		return failure{broker.NotSent, "the connection was closed before the request began", "it is sent again", nil}
	}
	return exchangeFailure(err)
}

func (p *progress) interrupted(ended error) failure {
	f := failure{outcome: broker.NotSent, what: "nothing was sent", fix: "it is sent again", cause: ended}
	switch {
	case p.maybeSent():
		f.outcome, f.what, f.fix = broker.Unknown, "no answer came", fixRepeat
	case errors.Is(ended, errTimeout) && !p.connected.Load():
		f.outcome, f.what, f.fix = broker.Unavailable, "no connection was made", fixLasting
	}
	switch {
	case errors.Is(ended, errTimeout):
		f.what += " within the timeout"
		f.cause = context.DeadlineExceeded
	case errors.Is(ended, broker.ErrClosed):
		f.what += " before the destination was closed"
	default:
		f.what += " before the call's context ended"
	}
	return f
}

// connectFailure classes an error before there was a connection: nothing was
// sent.
func connectFailure(err error) failure {
	var (
		refused *refusal
		proxy   *proxyError
		lookup  *net.DNSError
		errno   syscall.Errno
	)
	switch {
	case errors.As(err, &refused):
		return failure{broker.Misconfigured, ErrRefusedAddress.Error() + ": " + refused.what, refusalFix, ErrRefusedAddress}
	case errors.As(err, &proxy):
		return failure{proxy.outcome(), proxy.Error(), "check the proxy and what it allows", nil}
	case errors.As(err, &lookup):
		return failure{broker.Unavailable, "its name cannot be resolved: " + lookup.Err, "check the URL's host and the resolver", nil}
	}
	if what := tlsRefusal(err); what != "" {
		return failure{broker.Misconfigured, what, "check the URL, the endpoint's certificate, RootCAs and Certificates", nil}
	}
	if errors.As(err, &errno) {
		return failure{broker.Unavailable, errno.Error(), fixLasting, errno}
	}
	return failure{broker.Unavailable, "no connection was made", fixLasting, nil}
}

func (e *proxyError) outcome() broker.Outcome {
	if outcome := StatusOutcome(e.status); outcome != broker.Accepted && outcome != broker.Rejected {
		return outcome
	}
	return broker.Misconfigured
}

// tlsRefusal says why two sides cannot agree on TLS, or "" if it was not that.
func tlsRefusal(err error) string {
	var (
		certificate *tls.CertificateVerificationError
		alert       *net.OpError
		other       *net.OpError
	)
	switch {
	case errors.As(err, &certificate):
		return printable(certificate.Error())
	case errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, new(tls.RecordHeaderError)):
		return "it does not speak TLS"
	case errors.As(err, &alert) && alert.Op == "remote error":
		if strings.Contains(alert.Err.Error(), "internal error") {
			return ""
		}
		return "it refused TLS: " + alert.Err.Error()
	case !errors.As(err, &other) && strings.HasPrefix(err.Error(), "tls: "):
		return printable(err.Error())
	}
	return ""
}

// exchangeFailure classes an error after the request may have been sent. All
// but two are Unknown.
func exchangeFailure(err error) failure {
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" && refusesCertificate(alert.Err.Error()) {
		// In TLS 1.3 a server refuses the client's certificate only here. It has
		// read no request from a client that it did not let in.
		return failure{broker.Misconfigured, "it refused this client's certificate: " + alert.Err.Error(), "check Certificates", nil}
	}
	if strings.Contains(err.Error(), "header list larger than peer's advertised limit") {
		return failure{broker.Rejected, "the message's headers are larger than it takes", "send less in headers", nil}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return failure{broker.Unknown, "the connection broke before an answer came: " + errno.Error(), fixRepeat, errno}
	}
	return failure{broker.Unknown, "the connection ended without an answer that is HTTP", fixRepeat, nil}
}

func refusesCertificate(alert string) bool {
	return strings.Contains(alert, "certificate") || strings.Contains(alert, "access denied")
}

// printable cuts text that another side had a hand in down to a short line.
func printable(text string) string {
	const most = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
