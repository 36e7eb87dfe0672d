package redisbroker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// adapter is how errors begin.
const adapter = brokerkit.Adapter("redisbroker")

// translateError gives an error of the client library, or one that a server
// answered, its outcome, for a command that was written to a connection.
func translateError(err error) *broker.Error {
	var refused redis.Error
	var dial *net.OpError
	switch {
	case errors.Is(err, redis.Nil):
		return adapter.TopicFailure(broker.Misconfigured, "the stream does not exist", "create it (XGROUP CREATE ... MKSTREAM), or unset Options.Existing")
	case errors.As(err, &refused):
		return refusal(refused.Error())
	case brokerkit.BadCertificate(err):
		return adapter.Failure(broker.Misconfigured, "the server's certificate is not trusted", "set Options.Login.TLS with the authority that signed it")
	case errors.As(err, &dial) && dial.Op == "dial":
		return adapter.Failure(broker.Unavailable, "the server cannot be reached", "wait, or look whether it runs")
	case errors.Is(err, redis.ErrClosed):
		return adapter.Failure(broker.Unavailable, "the client is closed", "make a new one, and a new destination")
	case errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return adapter.Failure(broker.Unavailable, "all connections are in use", "wait, or raise the client's PoolSize")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return adapter.Failure(broker.Unknown, "no answer came in time", "send the message again")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return adapter.Lost()
	default:
		return adapter.Failure(broker.Unknown, "the connection was lost before the answer came (it failed with "+kind(err)+")", "send the message again")
	}
}

// unwritten turns an error that came before a command was written: the message is
// not there, whatever happened.
func unwrittenError(err error) *broker.Error {
	f := translateError(err)
	if f.Outcome == broker.Unknown {
		return adapter.Failure(broker.Unavailable, "the server cannot be reached, or is not ready", "wait, or look whether it runs")
	}
	return f
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// kind names an error by its type: its text may hold an address, and whatever a
// later version of the client puts there.
func kind(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("%T", err)
}

// Parts of answers by which refusals without a code of their own are told.
const (
	textSmallerID   = "equal or smaller than the target stream"
	textExhausted   = "exhausted the last possible ID"
	textTooLarge    = "too large to be stored"
	textBulkLength  = "Protocol error: invalid bulk length"
	textMaxClients  = "max number of clients reached"
	textInvalidAuth = "invalid password"
	textNoPassword  = "without any password configured"
	textNoLogin     = "unauthenticated"
	textUnknown     = "unknown command"
	textSyntax      = "syntax error"
	textKey         = " key"
	textSlot        = "Hash slot not served"
)

// isSmallerID says that the stream is past the entry's id.
func isSmallerID(err error) bool {
	return err != nil && strings.Contains(err.Error(), textSmallerID)
}

// refusal gives an answer that is an error its outcome. The answer's own words may
// quote what was sent, so only its code is repeated. What nobody knows is taken for one
// about the stream: others go on.
func refusal(text string) *broker.Error {
	code, _, _ := strings.Cut(text, " ")
	if v, ok := verdicts[code]; ok {
		f := adapter.Failure(v.outcome, "the server refuses the message ("+code+": "+v.what+")", v.fix)
		if ofStream(code, text) {
			f.Scope = broker.ScopeTopic
		}
		return f
	}
	if code != "ERR" {
		return adapter.TopicFailure(broker.Unavailable, "the server refuses the message ("+safeCode(code)+")", "look the code up in the Redis documentation")
	}
	for _, v := range plainVerdicts {
		if strings.Contains(text, v.text) {
			f := adapter.Failure(v.outcome, "the server refuses the message ("+v.what+")", v.fix)
			if v.text == textExhausted {
				f.Scope = broker.ScopeTopic
			}
			return f
		}
	}
	return adapter.TopicFailure(broker.Misconfigured, "the server refuses the command (ERR)", "look at its version and at the commands that it is configured to take")
}

// ofStream says whether an answer is about the one stream that it was asked for: what
// its name names, the right to it, or its slot in a cluster.
func ofStream(code, text string) bool {
	switch code {
	case "WRONGTYPE", "MOVED", "ASK", "TRYAGAIN":
		return true
	case "NOPERM":
		return strings.Contains(text, textKey)
	case "CLUSTERDOWN":
		return strings.Contains(text, textSlot)
	}
	return false
}

// safeCode is a code that is one: capital letters.
func safeCode(code string) string {
	if code == "" || len(code) > 20 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "unknown error"
	}
	return code
}

// verdict is what an answer means.
type verdict struct {
	outcome   broker.Outcome
	what, fix string
}

// verdicts are by the code that an answer begins with (src/server.c,
// createSharedObjects, of Redis 7).
var verdicts = map[string]verdict{
	"OOM":         {broker.Unavailable, "it has used up maxmemory", "trim streams, or raise maxmemory"},
	"READONLY":    {broker.Unavailable, "it is a replica", "wait for the fail-over to end, or connect to the primary"},
	"LOADING":     {broker.Unavailable, "it is loading its data", "wait"},
	"MASTERDOWN":  {broker.Unavailable, "it is a replica without its primary", "wait, or look at the primary"},
	"CLUSTERDOWN": {broker.Unavailable, "the cluster is not whole", "wait, or look at its nodes"},
	"TRYAGAIN":    {broker.Unavailable, "the stream's slot is being moved", "wait"},
	"MOVED":       {broker.Unavailable, "another node has the stream's slot", "wait; give a cluster's client if this stays"},
	"ASK":         {broker.Unavailable, "the stream's slot is being moved", "wait; give a cluster's client if this stays"},
	"BUSY":        {broker.Unavailable, "it runs a script", "wait, or kill the script"},
	"UNKILLABLE":  {broker.Unavailable, "it runs a script", "wait"},
	"NOREPLICAS":  {broker.Unavailable, "it has fewer replicas than min-replicas-to-write", "wait, or look at the replicas"},
	"MISCONF":     {broker.Unavailable, "it cannot write its data to disk", "make room on its disk"},
	"NOAUTH":      {broker.Misconfigured, "it asks for a login", "set user and password"},
	"WRONGPASS":   {broker.Misconfigured, "user or password is wrong, or the user is off", "check user and password"},
	"NOPERM":      {broker.Misconfigured, "the user has no right to the command or the stream", "grant XADD on the streams, and XRANGE and XINFO with Options.Fence"},
	"DENIED":      {broker.Misconfigured, "it is in protected mode", "set a password, or protected-mode no"},
	"WRONGTYPE":   {broker.Misconfigured, "what the stream's name names is no stream", "use another topic, prefix or key space"},
	"CROSSSLOT":   {broker.Misconfigured, "the streams are in different slots", "give a cluster's client"},
	"NOPROTO":     {broker.Misconfigured, "it does not speak the client's protocol", "set the client's Protocol to 2"},
}

// plainVerdicts are by text, for answers whose code is ERR.
var plainVerdicts = []struct {
	text string
	verdict
}{
	{textTooLarge, verdict{broker.Rejected, "the message is too large for an entry", "send less"}},
	{textBulkLength, verdict{broker.Rejected, "a part of the message is above proto-max-bulk-len", "send less, or raise proto-max-bulk-len"}},
	{textExhausted, verdict{broker.Misconfigured, "the stream has no ids left", "use another stream"}},
	{textMaxClients, verdict{broker.Unavailable, "it has as many clients as maxclients", "wait, or raise maxclients"}},
	{textInvalidAuth, verdict{broker.Misconfigured, "the password is wrong", "check it"}},
	{textNoPassword, verdict{broker.Misconfigured, "it has no password, and was given one", "leave the password out, or set requirepass"}},
	{textNoLogin, verdict{broker.Misconfigured, "it asks for a login", "set user and password"}},
	{textUnknown, verdict{broker.Misconfigured, "it does not know the command", "use Redis 5 or later, and do not rename XADD"}},
	{textSyntax, verdict{broker.Misconfigured, "it does not know an option of the command", "use Redis 6.2 or later, or unset Options.Existing and MaxAge"}},
}
