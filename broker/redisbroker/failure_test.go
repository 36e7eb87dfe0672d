package redisbroker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
	"github.com/postbag/postbag/broker/brokertest"
)

// Answers in the words of src/server.c, src/t_stream.c and src/acl.c of Redis 7.
func TestEveryAnswerOfAServerHasItsOutcome(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]broker.Outcome{
		"OOM command not allowed when used memory > 'maxmemory'.":                                         broker.Unavailable,
		"READONLY You can't write against a read only replica.":                                           broker.Unavailable,
		"LOADING Redis is loading the dataset in memory":                                                  broker.Unavailable,
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.":                broker.Unavailable,
		"CLUSTERDOWN Hash slot not served":                                                                broker.Unavailable,
		"CLUSTERDOWN The cluster is down":                                                                 broker.Unavailable,
		"TRYAGAIN Multiple keys request during rehashing of slot":                                         broker.Unavailable,
		"MOVED 3999 127.0.0.1:6381":                                                                       broker.Unavailable,
		"ASK 3999 127.0.0.1:6381":                                                                         broker.Unavailable,
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.":          broker.Unavailable,
		"UNKILLABLE The busy script was sent by a master instance in the context of replication":          broker.Unavailable,
		"NOREPLICAS Not enough good replicas to write.":                                                   broker.Unavailable,
		"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk": broker.Unavailable,
		"ERR max number of clients reached":                                                               broker.Unavailable,
		"SOMETHING that servers will invent":                                                              broker.Unavailable,

		"NOAUTH Authentication required.":                                                  broker.Misconfigured,
		"ERR Protocol error: unauthenticated multibulk length":                             broker.Misconfigured,
		"WRONGPASS invalid username-password pair or user is disabled.":                    broker.Misconfigured,
		"ERR invalid password":                                                             broker.Misconfigured,
		"ERR AUTH <password> called without any password configured for the default user.": broker.Misconfigured,
		"NOPERM this user has no permissions to run the 'xadd' command":                    broker.Misconfigured,
		"NOPERM this user has no permissions to access one of the keys used as arguments":  broker.Misconfigured,
		"DENIED Redis is running in protected mode because protected mode is enabled":      broker.Misconfigured,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                broker.Misconfigured,
		"CROSSSLOT Keys in request don't hash to the same slot":                            broker.Misconfigured,
		"NOPROTO unsupported protocol version":                                             broker.Misconfigured,
		"ERR The stream has exhausted the last possible ID, unable to add more items":      broker.Misconfigured,
		"ERR unknown command 'XADD', with args beginning with: 'orders' '*' 'Postbag-Id'":  broker.Misconfigured,
		"ERR syntax error": broker.Misconfigured,
		"ERR whatever":     broker.Misconfigured,

		"ERR Elements are too large to be stored": broker.Rejected,
		"ERR Protocol error: invalid bulk length": broker.Rejected,
	} {
		f := refusal(text)
		scope := broker.ScopeDestination
		for _, of := range []string{"WRONGTYPE", "MOVED", "ASK", "TRYAGAIN", "one of the keys", "Hash slot", "exhausted", "whatever", "SOMETHING"} {
			if strings.Contains(text, of) {
				scope = broker.ScopeTopic
			}
		}
		if f.Scope != scope || brokerkit.Result(f).Scope != scope {
			t.Errorf("%q has the scope %v, want %v", text, f.Scope, scope)
		}
		if f.Outcome != want {
			t.Errorf("%q is %v, want %v", text, f.Outcome, want)
		}
		if !strings.HasPrefix(f.Error(), "redisbroker: ") || !strings.Contains(f.Error(), "; ") || strings.Contains(f.Error(), "orders") {
			t.Errorf("%q: the error has no fix, or quotes what was sent: %v", text, f)
		}
	}
}

// A code with another scope for some of its texts has a name for each.
func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"NOPERM for a key": "NOPERM no permissions to access one of the keys used as arguments", "CLUSTERDOWN for a slot": "CLUSTERDOWN " + textSlot,
		"another code": "SOMETHING new", "another ERR": "ERR something new",
	}
	for code := range verdicts {
		texts[code] = code + " whatever"
	}
	for _, v := range plainVerdicts {
		texts[v.text] = "ERR it says " + v.text + " and more"
	}
	var answers []brokertest.Answer
	for name, text := range texts {
		f := refusal(text)
		answers = append(answers, brokertest.Answer{Name: name, Outcome: f.Outcome, Scope: f.Scope})
	}
	brokertest.AnswersMatchPage(t, "../../docs/reference/redis.md", answers...)
}

func TestErrorsOfTheClientHaveTheirOutcome(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]broker.Outcome{
		redis.Nil:                broker.Misconfigured,
		redis.ErrClosed:          broker.Unavailable,
		redis.ErrPoolTimeout:     broker.Unavailable,
		redis.ErrPoolExhausted:   broker.Unavailable,
		io.EOF:                   broker.Unknown,
		io.ErrUnexpectedEOF:      broker.Unknown,
		net.ErrClosed:            broker.Unknown,
		context.DeadlineExceeded: broker.Unknown,
		context.Canceled:         broker.Unknown,
		errors.New("whatever"):   broker.Unknown,
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}:                            broker.Unavailable,
		&net.OpError{Op: "read", Err: syscall.ECONNRESET}:                              broker.Unknown,
		&net.OpError{Op: "write", Err: syscall.EPIPE}:                                  broker.Unknown,
		&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}:           broker.Misconfigured,
		&net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}: broker.Unknown,
	} {
		wrapped := fmt.Errorf("wrapped: %w", err)
		if got := translateError(wrapped); got.Outcome != want {
			t.Errorf("%v is %v, want %v", err, got.Outcome, want)
		}
		if got := unwrittenError(wrapped); got.Outcome == broker.Unknown || got.Outcome == broker.Accepted {
			t.Errorf("%v, before anything was written, is %v", err, got.Outcome)
		}
	}
}
