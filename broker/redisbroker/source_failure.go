package redisbroker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// failure is an error of this source: what it was doing, what failed, what to do.
func (s *Source) failure(class error, doing, what, fix string) error {
	return &sourcekit.Error{
		Text:  fmt.Sprintf("redisbroker: %s, group %.64q, at %s: %s; %s", doing, s.options.Group, s.at, what, fix),
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

// Codes and texts of answers that a source treats in its own way.
const (
	codeNoGroup   = "NOGROUP"   // no such stream, or no such group in it
	codeUnblocked = "UNBLOCKED" // the stream was deleted while a read waited
	codeBusyGroup = "BUSYGROUP" // the group exists already
	codeNoRight   = "NOPERM"
	textNoKey     = "no such key"
)

// isCode says whether a server answered with this code.
func isCode(err error, code string) bool {
	var refused redis.Error
	if !errors.As(err, &refused) {
		return false
	}
	first, _, _ := strings.Cut(refused.Error(), " ")
	return first == code
}

// isGone says whether an answer means that a stream or its group is not there.
func isGone(err error) bool { return isCode(err, codeNoGroup) || isCode(err, codeUnblocked) }

// isNoKey says whether an answer means that the stream does not exist.
func isNoKey(err error) bool {
	return isCode(err, "ERR") && strings.Contains(err.Error(), textNoKey)
}

// translate gives an error of the client library, or one that a server answered, its
// class. One that has a class stays as it is.
func (s *Source) translate(doing string, err error) error {
	if _, ok := errors.AsType[*sourcekit.Error](err); ok || err == nil {
		return err
	}
	switch {
	case isCode(err, codeNoRight):
		return s.misconfigured(doing, "the server forbids this user a command, or a stream (NOPERM)", "grant what the reference page lists for sources")
	case isGone(err):
		return s.unavailable(doing, "a stream or its group is gone", "fetch, which looks what became of it")
	case isCode(err, "ERR") && (strings.Contains(err.Error(), textUnknown) || strings.Contains(err.Error(), textSyntax)):
		return s.misconfigured(doing, "the server does not know a command of a source, or an option of it", "use Redis 7 or later, and rename no command of streams")
	}
	f := translateError(err)
	what, fix, _ := strings.Cut(strings.TrimPrefix(f.Error(), string(adapter)+": "), "; ")
	what = strings.Replace(what, "refuses the message (", "refuses the command (", 1)
	switch f.Outcome {
	case broker.Misconfigured, broker.Rejected:
		return s.misconfigured(doing, what, fix)
	case broker.Unknown:
		return s.unavailable(doing, what, "call again, or let the messages come again")
	default:
		return s.unavailable(doing, what, fix)
	}
}

// where names what a client connects to, without user and password.
func where(client redis.UniversalClient) string {
	var all []string
	switch c := client.(type) {
	case *redis.Client:
		all = []string{c.Options().Addr}
	case *redis.ClusterClient:
		all = c.Options().Addrs
	}
	if len(all) == 0 {
		return "the client's server"
	}
	return strings.Join(all[:min(len(all), 3)], ",")
}
