package brokerkit

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/postbag/postbag/broker"
)

// Adapter is the name of an adapter's package. Its errors begin with it.
type Adapter string

// Failure is an error of the adapter: what failed, and what to do.
func (a Adapter) Failure(outcome broker.Outcome, what, fix string) *broker.Error {
	return &broker.Error{Outcome: outcome, Err: fmt.Errorf("%s: %s; %s", string(a), what, fix)}
}

// TopicFailure is a Failure of one topic only.
func (a Adapter) TopicFailure(outcome broker.Outcome, what, fix string) *broker.Error {
	f := a.Failure(outcome, what, fix)
	f.Scope = broker.ScopeTopic
	return f
}

// NotInTime is the fate of a message that was not sent before its call's context ended.
func (a Adapter) NotInTime() *broker.Error {
	return a.Failure(broker.NotSent, "the context ended before the message was sent", "send it again")
}

// NoAnswer is the fate of a message that was not answered before its call's context
// ended.
func (a Adapter) NoAnswer() *broker.Error {
	return a.Failure(broker.Unknown, "no answer came before the context ended", "send the message again")
}

// Abandoned is the fate of a message that was not answered before a Close stopped
// waiting.
func (a Adapter) Abandoned() *broker.Error {
	return a.Failure(broker.Unknown, "the destination was closed before the answer came", "send the message again")
}

// Lost is the fate of a message that was sent over a connection that ended.
func (a Adapter) Lost() *broker.Error {
	return a.Failure(broker.Unknown, "the connection was lost before the answer came", "send the message again")
}

// Closed is the fate of a message that came after Close.
func Closed() *broker.Error { return &broker.Error{Outcome: broker.NotSent, Err: broker.ErrClosed} }

// Result is the fate of a message that met f.
func Result(f *broker.Error) broker.Result {
	return broker.Result{Outcome: f.Outcome, Scope: f.Scope, Err: f}
}

// ReportAll reports one fate of all messages of a call.
func ReportAll(msgs []broker.Delivery, report func(i int, r broker.Result), r broker.Result) {
	for i := range msgs {
		report(i, r)
	}
}

// NotSent turns the failure of a step before the sending, such as a look-up or a login,
// into the failure of the messages that waited for it. None of them was sent.
func NotSent(f *broker.Error) *broker.Error {
	if f.Outcome == broker.Unknown || f.Outcome == broker.Rejected {
		return &broker.Error{Outcome: broker.Unavailable, Scope: f.Scope, Err: f.Err}
	}
	return f
}

// Ask calls a function that a user gave as an option. It turns a panic in that function
// into a failure of the message, because the panic would end the process otherwise.
func (a Adapter) Ask(option string, function func() string) (answer string, f *broker.Error) {
	defer func() {
		if recover() != nil {
			f = a.Failure(broker.Rejected, option+" panicked", "fix the function, or the message")
		}
	}()
	return function(), nil
}

// BadCertificate says whether a TLS handshake failed because the server's certificate is
// not trusted.
func BadCertificate(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, roots := errors.AsType[x509.SystemRootsError](err)
	return verification || authority || name || invalid || roots
}
