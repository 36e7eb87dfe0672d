package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
	"github.com/postbag/postbag/broker/brokertest"
)

// wide are the refusals of account, server or cluster; all others are of one stream.
var wide = []server.ErrorIdentifier{
	server.JSNotEnabledForAccountErr, server.JSNoAccountErr, server.JSInsufficientResourcesErr, server.JSAccountResourcesExceededErr,
	server.JSNotEnabledErr, server.JSClusterNotAvailErr, server.JSClusterNotLeaderErr,
}

// The codes are looked up in the server's own table, so that a number that the
// server does not know, or uses for something else, fails here.
func TestEveryRefusalOfAServerHasItsOutcome(t *testing.T) {
	t.Parallel()
	for id, want := range map[server.ErrorIdentifier]broker.Outcome{
		server.JSStreamMessageExceedsMaximumErr: broker.Rejected,
		server.JSStreamHeaderExceedsMaximumErr:  broker.Rejected,

		server.JSMessageTTLInvalidErr:               broker.Rejected,
		server.JSMessageSchedulesPatternInvalidErr:  broker.Rejected,
		server.JSMessageSchedulesTargetInvalidErr:   broker.Rejected,
		server.JSMessageSchedulesTTLInvalidErr:      broker.Rejected,
		server.JSMessageSchedulesRollupInvalidErr:   broker.Rejected,
		server.JSMessageSchedulesSourceInvalidErr:   broker.Rejected,
		server.JSMessageSchedulesTimeZoneInvalidErr: broker.Rejected,
		server.JSStreamWrongLastSequenceErrF:        broker.Rejected,
		server.JSStreamWrongLastSequenceConstantErr: broker.Rejected,
		server.JSStreamWrongLastMsgIDErrF:           broker.Rejected,
		server.JSStreamRollupFailedF:                broker.Rejected,
		server.JSMessageIncrPayloadErr:              broker.Rejected,
		server.JSMessageIncrInvalidErr:              broker.Rejected,
		server.JSMessageSourceHdrNotAllowedErr:      broker.Rejected,

		server.JSStreamNotMatchErr:           broker.Misconfigured,
		server.JSStreamNotFoundErr:           broker.Misconfigured,
		server.JSNotEnabledForAccountErr:     broker.Misconfigured,
		server.JSNoAccountErr:                broker.Misconfigured,
		server.JSStreamSealedErr:             broker.Misconfigured,
		server.JSMessageTTLDisabledErr:       broker.Rejected,
		server.JSMessageSchedulesDisabledErr: broker.Rejected,
		server.JSMessageIncrDisabledErr:      broker.Rejected,
		server.JSMessageIncrMissingErr:       broker.Misconfigured,

		server.JSStreamStoreFailedF:          broker.Unavailable,
		server.JSInsufficientResourcesErr:    broker.Unavailable,
		server.JSStorageResourcesExceededErr: broker.Unavailable,
		server.JSMemoryResourcesExceededErr:  broker.Unavailable,
		server.JSAccountResourcesExceededErr: broker.Unavailable,
		server.JSStreamTooManyRequests:       broker.Unavailable,
		server.JSNotEnabledErr:               broker.Unavailable,
		server.JSClusterNotAvailErr:          broker.Unavailable,
		server.JSClusterNotLeaderErr:         broker.Unavailable,
		server.JSStreamOfflineErr:            broker.Unavailable,
		server.JSStreamOfflineReasonErrF:     broker.Unavailable,
		server.JSStreamSequenceNotMatchErr:   broker.Unavailable,

		server.JSStreamDuplicateMessageConflict: broker.Unknown,
	} {
		e := server.ApiErrors[id]
		t.Run(fmt.Sprintf("%d %s", e.ErrCode, e.Description), func(t *testing.T) {
			t.Parallel()
			got := translateError(&jetstream.APIError{Code: e.Code, ErrorCode: jetstream.ErrorCode(e.ErrCode), Description: e.Description})
			if got.Outcome != want {
				t.Errorf("%v is %v, want %v", got, got.Outcome, want)
			}
			scope := broker.ScopeDestination
			if (want == broker.Misconfigured || want == broker.Unavailable) && !slices.Contains(wide, id) {
				scope = broker.ScopeTopic
			}
			if r := brokerkit.Result(got); got.Scope != scope || r.Scope != scope {
				t.Errorf("%v has the scope %v, its result %v, want %v", got, got.Scope, r.Scope, scope)
			}
		})
	}
}

func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	var answers []brokertest.Answer
	add := func(name string, e jetstream.APIError) {
		f := translateError(&e)
		answers = append(answers, brokertest.Answer{Name: name, Outcome: f.Outcome, Scope: f.Scope})
	}
	for _, v := range verdicts {
		for _, code := range v.codes {
			add(fmt.Sprint(code), jetstream.APIError{ErrorCode: code})
		}
	}
	add("10077 message too large", jetstream.APIError{ErrorCode: codeStoreFailed, Description: server.ErrMsgTooLarge.Error()})
	for _, code := range []int{400, 404, 408, 429, 500, 503} {
		add(fmt.Sprintf("another code, status %d", code), jetstream.APIError{Code: code, ErrorCode: 19999})
	}
	brokertest.AnswersMatchPage(t, "../../docs/reference/nats.md", answers...)
}

// Whatever else a server may say: nothing is taken for accepted, and what the
// server blames itself for never costs a message an attempt.
func TestNoServerErrorCountsAsAcceptedOrBlamesTheMessage(t *testing.T) {
	t.Parallel()
	for _, e := range server.ApiErrors {
		f := refusal(&jetstream.APIError{Code: e.Code, ErrorCode: jetstream.ErrorCode(e.ErrCode), Description: e.Description})
		if f.Outcome == broker.Accepted || f.Outcome == broker.NotSent {
			t.Errorf("%d (%s) is %v", e.ErrCode, e.Description, f.Outcome)
		}
		if e.Code >= 500 && f.Outcome == broker.Rejected && e.ErrCode != uint16(codeRollupFailed) {
			t.Errorf("%d (%s), a fault of the server, is %v", e.ErrCode, e.Description, f.Outcome)
		}
		if !strings.Contains(f.Error(), fmt.Sprint(e.ErrCode)) || !strings.Contains(f.Error(), "; ") {
			t.Errorf("%d: the error names neither code nor fix: %v", e.ErrCode, f)
		}
	}
}

func TestAStoreErrorAboutTheMessagesSizeIsRejected(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]broker.Outcome{
		server.ErrMsgTooLarge.Error():          broker.Rejected,
		server.ErrMaxMsgs.Error():              broker.Unavailable,
		server.ErrMaxBytes.Error():             broker.Unavailable,
		server.ErrMaxMsgsPerSubject.Error():    broker.Unavailable,
		"write /data/1.blk: no space left":     broker.Unavailable,
		"some reason that servers will invent": broker.Unavailable,
	} {
		f := refusal(&jetstream.APIError{Code: 503, ErrorCode: codeStoreFailed, Description: text})
		if f.Outcome != want {
			t.Errorf("%q is %v, want %v", text, f.Outcome, want)
		}
	}
}

func TestErrorsOfTheClientHaveTheirOutcome(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]broker.Outcome{
		nats.ErrAuthorization:                      broker.Misconfigured,
		nats.ErrAuthExpired:                        broker.Misconfigured,
		nats.ErrAuthRevoked:                        broker.Misconfigured,
		nats.ErrAccountAuthExpired:                 broker.Misconfigured,
		nats.ErrPermissionViolation:                broker.Misconfigured,
		nats.ErrHeadersNotSupported:                broker.Misconfigured,
		nats.ErrNoResponders:                       broker.Unavailable,
		jetstream.ErrNoStreamResponse:              broker.Unavailable,
		nats.ErrConnectionClosed:                   broker.Unavailable,
		nats.ErrConnectionDraining:                 broker.Unavailable,
		nats.ErrConnectionReconnecting:             broker.Unavailable,
		nats.ErrDisconnected:                       broker.Unavailable,
		nats.ErrReconnectBufExceeded:               broker.Unavailable,
		nats.ErrNoServers:                          broker.Unavailable,
		nats.ErrStaleConnection:                    broker.Unavailable,
		nats.ErrMaxConnectionsExceeded:             broker.Unavailable,
		jetstream.ErrJetStreamNotEnabled:           broker.Unavailable,
		jetstream.ErrJetStreamNotEnabledForAccount: broker.Misconfigured,
		jetstream.ErrStreamNotFound:                broker.Misconfigured,
		nats.ErrMaxPayload:                         broker.Rejected,
		nats.ErrBadSubject:                         broker.Rejected,
		nats.ErrBadHeaderMsg:                       broker.Rejected,
		nats.ErrTimeout:                            broker.Unknown,
		context.DeadlineExceeded:                   broker.Unknown,
		context.Canceled:                           broker.Unknown,
		errors.New("write tcp: broken pipe"):       broker.Unknown,
	} {
		got := translateError(fmt.Errorf("wrapped: %w", err))
		if got.Outcome != want {
			t.Errorf("%v is %v, want %v", err, got.Outcome, want)
		}
		if topic := errors.Is(err, jetstream.ErrStreamNotFound); topic != (got.Scope == broker.ScopeTopic) {
			t.Errorf("%v has the scope %v", err, got.Scope)
		}
	}
}
