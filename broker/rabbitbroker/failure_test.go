package rabbitbroker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
	"github.com/postbag/postbag/broker/brokertest"
	"github.com/postbag/postbag/source"
)

// Words of servers that no test here can bring to say them; the others are in
// refusal_test.go.
func TestEveryServerErrorHasItsOutcome(t *testing.T) {
	t.Parallel()
	said := func(code int, reason string) *amqp.Error {
		return &amqp.Error{Code: code, Reason: reason, Server: true}
	}
	silent := &amqp.Error{Code: amqp.FrameError, Reason: "EOF"}
	for name, c := range map[string]struct {
		got  *broker.Error
		want broker.Outcome
	}{
		"a limit of connections":        {translateDial(said(530, "NOT_ALLOWED - connection refused: user limit (1) is reached")), broker.Unavailable},
		"a virtual host that is down":   {translateDial(said(541, "INTERNAL_ERROR - vhost '/' is down")), broker.Unavailable},
		"an operator":                   {translateDial(said(320, "CONNECTION_FORCED - broker forced connection closure")), broker.Unavailable},
		"a login, and silence":          {translateDial(amqp.ErrCredentials), broker.Unavailable},
		"a virtual host, and silence":   {translateDial(amqp.ErrVhost), broker.Unavailable},
		"a handshake, and silence":      {translateDial(silent), broker.Unavailable},
		"a client's certificate":        {translateDial(&amqp.Error{Code: 501, Reason: "remote error: tls: certificate required"}), broker.Misconfigured},
		"a name that is not known":      {translateDial(&net.DNSError{Err: "no such host", IsNotFound: true}), broker.Unavailable},
		"a topology, and silence":       {translateTopology(amqp.ErrClosed), broker.Unavailable},
		"a topology, and no connection": {translateTopology(errors.New("no route")), broker.Unavailable},
		"a topology without rights":     {translateTopology(said(403, "ACCESS_REFUSED - access to queue 'q' in vhost '/' refused")), broker.Misconfigured},
		"a topology of no such kind":    {translateTopology(said(503, "COMMAND_INVALID - unknown exchange type 'x'")), broker.Misconfigured},
		"a topology of a sick server":   {translateTopology(said(541, "INTERNAL_ERROR")), broker.Unavailable},
		"an exchange for the server":    {verdict(said(403, "ACCESS_REFUSED - cannot publish to internal exchange 'x' in vhost '/'")), broker.Misconfigured},
		"a locked resource":             {verdict(said(405, "RESOURCE_LOCKED - it is")), broker.Misconfigured},
		"what is not implemented":       {verdict(said(540, "NOT_IMPLEMENTED - immediate=true")), broker.Rejected},
		"a size":                        {verdict(said(406, "PRECONDITION_FAILED - message size 12 is larger than configured max size 10")), broker.Rejected},
		"a probe, and silence":          {translateProbe(amqp.ErrClosed), broker.Unavailable},
	} {
		if c.got.Outcome != c.want {
			t.Errorf("%s: %v (%v), want %v", name, c.got.Outcome, c.got, c.want)
		}
		scope := broker.ScopeDestination
		if name == "an exchange for the server" || name == "a locked resource" {
			scope = broker.ScopeTopic
		}
		if c.got.Scope != scope || brokerkit.Result(c.got).Scope != scope {
			t.Errorf("%s: the scope is %v, want %v", name, c.got.Scope, scope)
		}
		if !strings.Contains(c.got.Error(), "; ") {
			t.Errorf("%s: the error names no fix: %v", name, c.got)
		}
	}
}

// The client library gives errors of the system as they are.
func TestAConnectionOfAStreamThatEndsInAnyWayIsUnavailableAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := &StreamSource{subject: subject{noun: "stream", name: "orders", where: "host:5672", options: "StreamOptions"}}
	for _, err := range []error{
		&net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}, io.EOF, errLineLost, amqp.ErrClosed, &amqp.Error{Code: amqp.FrameError, Reason: "EOF"},
	} {
		got := s.streamFailure(err)
		if want := `rabbitbroker: fetch from stream "orders", at host:5672: the connection was lost; wait, or look whether the server runs`; got.Error() != want || !errors.Is(got, source.ErrUnavailable) {
			t.Errorf("%v: %v", err, got)
		}
	}
	told := s.misconfigured(doingKeep, "it is no position", "update")
	if got := s.streamFailure(told); !errors.Is(got, told) {
		t.Errorf("an error that says what to do became %v", got)
	}
}

// A code that is treated as most are has no row of its own.
func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	var answers []brokertest.Answer
	for what, of := range map[string]func(*amqp.Error) *broker.Error{
		"publishing": verdict, "connecting": translateHandshake, "declaring": func(e *amqp.Error) *broker.Error { return translateTopology(e) },
	} {
		at := func(code int, text string) brokertest.Answer {
			f := of(&amqp.Error{Code: code, Reason: "NAME - " + text, Server: true})
			return brokertest.Answer{Name: fmt.Sprintf("%s: %d", what, code), Outcome: f.Outcome, Scope: f.Scope}
		}
		if limited := at(amqp.NotAllowed, "a limit is reached"); what == "connecting" {
			limited.Name += " for a limit"
			answers = append(answers, limited)
		}
		most := at(599, "")
		most.Name = what + ": another code"
		answers = append(answers, most)
		for code := 200; code < 600; code++ {
			if a := at(code, "text"); a.Outcome != most.Outcome || a.Scope != most.Scope {
				answers = append(answers, a)
			}
		}
	}
	brokertest.AnswersMatchPage(t, "../../docs/reference/rabbitmq.md", answers...)
}

// The server's words repeat what a message holds; errors do not.
func TestErrorsHoldTheServersCodeButNotItsText(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"ACCESS_REFUSED - access to topic 'secret' in exchange 'x'": "403 ACCESS_REFUSED",
		"secret": "403",
		"a secret that goes on for quite a while and then - more": "403",
	} {
		if got := codeName(&amqp.Error{Code: 403, Reason: reason}); got != want {
			t.Errorf("%q became %q, want %q", reason, got, want)
		}
	}
}

func TestEscapedHeaderNamesAreRestored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CC", "BCC", "x-death", "Postbag-Id", "%", "%41", "%%", "%zz", "\x00"} {
		if name[0] != 0 && !obeyed(name) {
			t.Errorf("%q would go out as it is", name)
		}
		if back := rearm(disarm(name)); back != name {
			t.Errorf("%q comes back as %q", name, back)
		}
	}
	for _, name := range []string{"", "cc", "x-y", "a%41", "postbag-id"} {
		if obeyed(name) || rearm(name) != name {
			t.Errorf("%q is changed", name)
		}
	}
}

func FuzzNamesOnTheWire(f *testing.F) {
	for _, name := range []string{"", "CC", "%", "%43C", "x-death", "Postbag-", "plain"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		wire := name
		if obeyed(name) {
			wire = disarm(name)
		}
		if back := rearm(wire); back != name {
			t.Errorf("%q goes out as %q and comes back as %q", name, wire, back)
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"", "{topic}", "a.{key}{type}.b", "{", "}", "{}", "{{topic}}", "{topic"} {
		f.Add(text, "t", "k")
	}
	f.Fuzz(func(t *testing.T, text, topic, key string) {
		if badTemplate(text) != "" {
			return
		}
		m := broker.Delivery{Message: postbag.Message{Topic: topic, Key: key, Type: "ty"}, Box: "bo", Subscription: "su"}
		got := parseTemplate(text).render(&m)
		want := strings.NewReplacer("{topic}", topic, "{key}", key, "{type}", "ty", "{box}", "bo", "{subscription}", "su").Replace(text)
		if got != want {
			t.Errorf("%q with topic %q and key %q is %q, want %q", text, topic, key, got, want)
		}
	})
}
