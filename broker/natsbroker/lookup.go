package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
)

// ask asks the JetStream API. Where it may not be asked the target is one of
// which nothing is known but, perhaps, the name.
func (s *streams) ask(ctx context.Context, subject string) (*target, *broker.Error) {
	name := s.named
	if name == "" {
		forbidden, f := s.question(ctx, func(ctx context.Context) (err error) {
			name, err = s.js.StreamNameBySubject(ctx, subject)
			return err
		}, "no stream listens to the topic's subject", "create one, or add the subject to one")
		if f != nil || forbidden {
			return &target{subjects: []string{subject}}, f
		}
	}
	var stream jetstream.Stream
	forbidden, f := s.question(ctx, func(ctx context.Context) (err error) {
		stream, err = s.js.Stream(ctx, name)
		return err
	}, fmt.Sprintf("stream %q does not exist", name), "create it, or name another in Options.Stream")
	if f != nil || forbidden {
		return &target{name: name, subjects: []string{subject}}, f
	}
	return newTarget(stream.CachedInfo().Config), nil
}

// question runs a request about a stream, and says what an answer that is none
// means for a message that waits for it: the API may not be asked, which need not
// keep it waiting, or a failure. missing and fix are for a stream that is not
// there.
func (s *streams) question(ctx context.Context, run func(context.Context) error, missing, fix string) (forbidden bool, f *broker.Error) {
	err := s.request(ctx, run)
	switch {
	case err == nil:
		return false, nil
	case errors.Is(err, errForbidden):
		return true, nil
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return false, adapter.TopicFailure(broker.Misconfigured, missing, fix)
	}
	f = translateError(err)
	if f.Outcome == broker.Unknown { // it is the question that was not answered; the message has not been sent
		f = adapter.Failure(broker.Unavailable, "JetStream did not say in time which stream takes the message", "wait, or look at its servers")
	}
	return false, f
}

// errForbidden says that the user may not ask this of the JetStream API.
var errForbidden = errors.New("natsbroker: the server forbids this user to ask the JetStream API; grant it, or name Options.Stream")

// request runs one request to the API.
func (s *streams) request(ctx context.Context, run func(ctx context.Context) error) error {
	return request(ctx, s.js.Conn(), isAPI, run)
}

// request runs one request to the API, on subjects that are mine. A user without the
// right to ask gets no answer, only a word on the connection, which request looks for.
func request(ctx context.Context, nc *nats.Conn, mine func(subject string) bool, run func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := nc.LastError()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-look.C:
			if subject, denied := deniedPublish(nc, before); denied && mine(subject) {
				cancel()
				return errors.Join(errForbidden, <-done)
			}
		}
	}
}

// lookInterval is how soon a denial is noticed.
const lookInterval = 50 * time.Millisecond

// isAPI says whether subject is one of those that request publishes to, whatever
// prefix or domain the account's API has.
func isAPI(subject string) bool {
	return strings.Contains(subject, ".STREAM.NAMES") || strings.Contains(subject, ".STREAM.INFO.") || strings.HasSuffix(subject, ".INFO") ||
		strings.Contains(subject, "."+readSubject)
}

// deniedPublish returns the subject of a denied publish that the connection heard
// of since before, which was its last error then. The server's words are
// (client.pubPermissionViolation in nats-server), and answers nothing:
//
//	-ERR 'Permissions Violation for Publish to "subject"'
func deniedPublish(nc *nats.Conn, before error) (subject string, denied bool) {
	err := nc.LastError()
	if !errors.Is(err, nats.ErrPermissionViolation) || err == before { //nolint:errorlint // the very same error is an old one
		return "", false
	}
	_, rest, ok := strings.Cut(err.Error(), `Publish to "`)
	if !ok {
		return "", false
	}
	subject, _, ok = strings.Cut(rest, `"`)
	return subject, ok
}
