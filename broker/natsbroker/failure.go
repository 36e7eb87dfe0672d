package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// adapter is how errors begin.
const adapter = brokerkit.Adapter("natsbroker")

// translateError gives an error of the client library, or of the JetStream API,
// its outcome. What it cannot place is Unknown, which costs a repeat at most.
func translateError(err error) *broker.Error {
	var js jetstream.JetStreamError
	if errors.As(err, &js) && js.APIError() != nil {
		return refusal(js.APIError())
	}
	in := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case in(nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired):
		return adapter.Failure(broker.Misconfigured, "the server refuses the login ("+err.Error()+")", "check user, password or credentials")
	case in(nats.ErrPermissionViolation):
		return adapter.Failure(broker.Misconfigured, "the server forbids this user to publish or to ask", "grant the permission")
	case in(nats.ErrNoResponders, jetstream.ErrNoStreamResponse):
		return adapter.Failure(broker.Unavailable, "JetStream does not answer", "wait, or enable JetStream on the server")
	case in(nats.ErrConnectionClosed, nats.ErrInvalidConnection):
		return adapter.Failure(broker.Unavailable, "the connection is closed for good",
			"make one that reconnects for ever: nats.MaxReconnects(-1)")
	case in(nats.ErrConnectionDraining, nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		nats.ErrNoServers, nats.ErrStaleConnection, nats.ErrMaxConnectionsExceeded, nats.ErrMaxAccountConnectionsExceeded):
		return adapter.Failure(broker.Unavailable, "the server cannot be reached ("+err.Error()+")", "wait, or look whether it runs")
	case in(nats.ErrMaxPayload, nats.ErrBadSubject, nats.ErrBadHeaderMsg, nats.ErrInvalidMsg):
		return adapter.Failure(broker.Rejected, "the client refuses the message ("+err.Error()+")", "change it, or discard it")
	case in(nats.ErrHeadersNotSupported):
		return adapter.Failure(broker.Misconfigured, "the server knows no headers", "use NATS 2.2 or later with headers on")
	case in(context.DeadlineExceeded, context.Canceled, nats.ErrTimeout):
		return adapter.Failure(broker.Unknown, "no answer came in time", "send the message again")
	default:
		return adapter.Failure(broker.Unknown, "the message may not have been sent ("+err.Error()+")", "send it again")
	}
}

// Codes of the JetStream API that the client library has no name for; the list is
// server/errors.json of nats-server.
const (
	codeAccountResources   jetstream.ErrorCode = 10002
	codeClusterNotAvail    jetstream.ErrorCode = 10008
	codeClusterNotLeader   jetstream.ErrorCode = 10009
	codeInsufficient       jetstream.ErrorCode = 10023
	codeMemoryResources    jetstream.ErrorCode = 10028
	codeNoAccount          jetstream.ErrorCode = 10035
	codeStorageResources   jetstream.ErrorCode = 10047
	codeStreamNotMatch     jetstream.ErrorCode = 10060
	codeSequenceNotMatch   jetstream.ErrorCode = 10063
	codeWrongLastMsgID     jetstream.ErrorCode = 10070
	codeStoreFailed        jetstream.ErrorCode = 10077
	codeHeaderTooLarge     jetstream.ErrorCode = 10097
	codeSealed             jetstream.ErrorCode = 10109
	codeRollupFailed       jetstream.ErrorCode = 10111
	codeStreamOffline      jetstream.ErrorCode = 10118
	codeDuplicateInProcess jetstream.ErrorCode = 10158
	codeTTLInvalid         jetstream.ErrorCode = 10165
	codeTTLDisabled        jetstream.ErrorCode = 10166
	codeTooManyRequests    jetstream.ErrorCode = 10167
	codeCounterDisabled    jetstream.ErrorCode = 10168
	codeCounterMissing     jetstream.ErrorCode = 10169
	codeCounterPayload     jetstream.ErrorCode = 10170
	codeCounterInvalid     jetstream.ErrorCode = 10171
	codeOfflineReason      jetstream.ErrorCode = 10194
	codeSchedulerInvalid   jetstream.ErrorCode = 10212
	codeTimeZoneInvalid    jetstream.ErrorCode = 10223
	codeSourceHeader       jetstream.ErrorCode = 10227
)

// tooLargeForFile is the one reason of codeStoreFailed that is the message's own
// (ErrMsgTooLarge in nats-server).
const tooLargeForFile = "message too large"

// refusal gives an error that JetStream answered with its outcome.
func refusal(e *jetstream.APIError) *broker.Error {
	v := verdict(e)
	f := adapter.Failure(v.outcome, fmt.Sprintf("the stream refuses the message (error %d: %s)", e.ErrorCode, e.Description), v.fix)
	f.Scope = v.scope
	return f
}

// verdictOf is what some codes of the JetStream API mean.
type verdictOf struct {
	outcome broker.Outcome
	scope   broker.Scope
	fix     string
	codes   []jetstream.ErrorCode
}

// verdicts is the error table. It is that of docs/reference/nats.md, which a test
// compares. The scope is the destination for errors of account, server or cluster,
// which no message escapes; any other is the stream's, and so the topic's.
var verdicts = []verdictOf{
	{broker.Rejected, 0, "send less, or raise the stream's max_msg_size", []jetstream.ErrorCode{
		jetstream.JSErrCodeStreamMessageExceedsMaximum, codeHeaderTooLarge,
	}},
	{broker.Rejected, 0, "fix the header of the message that Options.PassHeaders lets through", []jetstream.ErrorCode{
		codeTTLInvalid, jetstream.JSErrCodeSchedulePatternInvalid, jetstream.JSErrCodeScheduleTargetInvalid,
		jetstream.JSErrCodeScheduleTTLInvalid, jetstream.JSErrCodeScheduleRollupInvalid, jetstream.JSErrCodeScheduleSourceInvalid,
		codeSchedulerInvalid, codeTimeZoneInvalid, codeRollupFailed, codeSourceHeader,
		jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant, codeWrongLastMsgID,
		codeCounterPayload, codeCounterInvalid,
	}},
	// The message asks for what the stream does not do. Others of its topic may not, and must not wait for it.
	{broker.Rejected, 0, "set the stream up for it (allow_msg_ttl for " + propertyTTL + "), or leave the header out", []jetstream.ErrorCode{
		codeTTLDisabled, jetstream.JSErrCodeMessageSchedulesDisabled, codeCounterDisabled,
	}},

	{broker.Misconfigured, broker.ScopeTopic, "name the stream that listens to the subject in Options.Stream", []jetstream.ErrorCode{codeStreamNotMatch}},
	{broker.Misconfigured, broker.ScopeTopic, "create the stream", []jetstream.ErrorCode{jetstream.JSErrCodeStreamNotFound}},
	{broker.Misconfigured, broker.ScopeTopic, "use a stream that is not sealed", []jetstream.ErrorCode{codeSealed}},
	{broker.Misconfigured, broker.ScopeTopic, "send it to a stream that is no counter", []jetstream.ErrorCode{codeCounterMissing}},
	{broker.Misconfigured, broker.ScopeDestination, "enable JetStream for the account", []jetstream.ErrorCode{
		jetstream.JSErrCodeJetStreamNotEnabledForAccount, codeNoAccount,
	}},

	{broker.Unavailable, broker.ScopeTopic, "make room in the stream, raise its limits, or look at the server's disk", []jetstream.ErrorCode{codeStoreFailed}},
	{broker.Unavailable, broker.ScopeTopic, fixRoom, []jetstream.ErrorCode{codeStorageResources, codeMemoryResources}},
	{broker.Unavailable, broker.ScopeTopic, "wait, or lower Options.MaxPending", []jetstream.ErrorCode{codeTooManyRequests}},
	{broker.Unavailable, broker.ScopeTopic, fixServers, []jetstream.ErrorCode{codeStreamOffline, codeOfflineReason, codeSequenceNotMatch}},
	{broker.Unavailable, broker.ScopeDestination, fixRoom, []jetstream.ErrorCode{codeInsufficient, codeAccountResources}},
	{broker.Unavailable, broker.ScopeDestination, fixServers, []jetstream.ErrorCode{
		jetstream.JSErrCodeJetStreamNotEnabled, codeClusterNotAvail, codeClusterNotLeader,
	}},

	{broker.Unknown, 0, "send it again: a copy with its id is on its way", []jetstream.ErrorCode{codeDuplicateInProcess}},
}

const (
	fixRoom    = "make room, or raise the limits of account or server"
	fixServers = "wait, or look at the servers of the stream"
)

// verdict is that of the table.
func verdict(e *jetstream.APIError) verdictOf {
	if e.ErrorCode == codeStoreFailed && strings.Contains(e.Description, tooLargeForFile) {
		return verdictOf{outcome: broker.Rejected, fix: "send less"}
	}
	for _, v := range verdicts {
		if slices.Contains(v.codes, e.ErrorCode) {
			return v
		}
	}
	outcome, fix := verdictByStatus(e.Code)
	return verdictOf{outcome: outcome, scope: broker.ScopeTopic, fix: fix}
}

// verdictByStatus is for codes of servers to come: what the server blames itself
// for may pass, what it blames the sender for needs a person, and parks nothing.
func verdictByStatus(code int) (outcome broker.Outcome, fix string) {
	if code >= 500 || code == 408 || code == 429 {
		return broker.Unavailable, "wait, or look at the server"
	}
	return broker.Misconfigured, "look the error up in the NATS documentation"
}
