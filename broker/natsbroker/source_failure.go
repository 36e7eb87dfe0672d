package natsbroker

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// failure is an error of this source: what it was doing, what failed, what to do.
func (s *Source) failure(class error, doing, what, fix string) error {
	return &sourcekit.Error{
		Text:  fmt.Sprintf("natsbroker: %s stream %q, consumer %q, at %s: %s; %s", doing, s.options.Stream, s.options.Consumer, hosts(s.nc), what, fix),
		Class: class,
	}
}

// unavailable and misconfigured are the classes of failure.
func (s *Source) unavailable(doing, what, fix string) error {
	return s.failure(source.ErrUnavailable, doing, what, fix)
}

func (s *Source) misconfigured(doing, what, fix string) error {
	return s.failure(source.ErrMisconfigured, doing, what, fix)
}

// translate gives an error of the client library, or of the JetStream API, its class. One
// that has a class stays as it is.
func (s *Source) translate(doing string, err error) error {
	if _, ok := errors.AsType[*sourcekit.Error](err); ok || err == nil {
		return err
	}
	switch {
	case errors.Is(err, errForbidden):
		return s.misconfigured(doing, "the server forbids this user to ask the JetStream API", "grant what the reference page lists for sources")
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return s.misconfigured(doing, "the stream does not exist", "create it, or name another in SourceOptions.Stream")
	}
	if refused, ok := errors.AsType[jetstream.JetStreamError](err); ok && refused.APIError() != nil {
		e := refused.APIError()
		v := verdict(e)
		what := fmt.Sprintf("JetStream refuses (error %d: %s)", e.ErrorCode, e.Description)
		if v.outcome == broker.Unavailable || v.outcome == broker.Unknown {
			return s.unavailable(doing, what, v.fix)
		}
		return s.misconfigured(doing, what, v.fix)
	}
	f := translateError(err)
	what, fix, _ := strings.Cut(strings.TrimPrefix(f.Error(), string(adapter)+": "), "; ")
	switch f.Outcome {
	case broker.Unknown:
		return s.unavailable(doing, "no answer came ("+err.Error()+")", "wait, or look at the server")
	case broker.Misconfigured, broker.Rejected:
		return s.misconfigured(doing, what, fix)
	default:
		return s.unavailable(doing, what, fix)
	}
}

// disconnected says why the source cannot reach a server now, nil if it can.
func (s *Source) disconnected(doing string) error {
	switch s.nc.Status() {
	case nats.CONNECTED:
		return nil
	case nats.CLOSED:
		return s.translate(doing, nats.ErrConnectionClosed)
	case nats.DRAINING_SUBS, nats.DRAINING_PUBS:
		return s.translate(doing, nats.ErrConnectionDraining)
	default:
	}
	err := s.nc.LastError()
	if s.owned != nil {
		err = s.owned.get()
	}
	if err != nil && translateError(err).Outcome == broker.Misconfigured { // the login is refused
		return s.translate(doing, err)
	}
	return s.translate(doing, nats.ErrDisconnected)
}

// denied says that the server forbids a publish that the source needs, nil if nothing is
// known of that; before is the connection's last error of earlier.
func (s *Source) denied(doing string, before error) error {
	subject, denied := deniedPublish(s.nc, before)
	switch {
	case !denied:
		return nil
	case strings.HasPrefix(subject, ackPrefix):
		return s.misconfigured(doing, "the server forbids this user to ack", "let it publish to "+ackPrefix+">")
	case subject == s.nextSubject:
		return s.misconfigured(doing, "the server forbids this user to ask for messages", "let it publish to "+subject)
	}
	return nil
}

// hosts are where the servers of a connection are, without user and password.
func hosts(nc *nats.Conn) string {
	var all []string
	for _, text := range nc.Servers() {
		if u, err := url.Parse(text); err == nil && u.Host != "" && len(all) < 3 {
			all = append(all, u.Host)
		}
	}
	if len(all) == 0 {
		return "an unknown server"
	}
	return strings.Join(all, ",")
}
