package kafkabroker

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

func unavailable(what, fix string) error {
	return &sourcekit.Error{Text: fmt.Sprintf("%s: %s; %s", adapter, what, fix), Class: source.ErrUnavailable}
}

func misconfigured(what, fix string) error {
	return &sourcekit.Error{Text: fmt.Sprintf("%s: %s; %s", adapter, what, fix), Class: source.ErrMisconfigured}
}

// sourceFailure gives an error of a request its class. about says what failed.
func sourceFailure(about string, err error) error {
	if already, ok := errors.AsType[*sourcekit.Error](err); ok {
		return already
	}
	if code, ok := errors.AsType[*kerr.Error](err); ok {
		return sourceRefusal(about, code)
	}
	if f := connectionFailure(err); f != nil {
		if f.Outcome == broker.Misconfigured {
			return &sourcekit.Error{Text: f.Err.Error(), Class: source.ErrMisconfigured}
		}
		return &sourcekit.Error{Text: f.Err.Error(), Class: source.ErrUnavailable}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed) {
		return unavailable(about+": no answer came in time", "wait, or look whether the brokers run")
	}
	return unavailable(about+" ("+short(err)+")", "wait, or look at the brokers")
}

// sourceRefusal gives an error that a broker answered its class.
func sourceRefusal(about string, e *kerr.Error) error {
	what := fmt.Sprintf("%s: the broker answers %s", about, e.Message)
	switch e {
	case kerr.GroupAuthorizationFailed:
		return misconfigured(what, "grant this user Read on the group")
	case kerr.TopicAuthorizationFailed:
		return misconfigured(what, "grant this user Read and Describe on the topic")
	case kerr.ClusterAuthorizationFailed:
		return misconfigured(what, "grant this user Describe on the cluster")
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID, kerr.InvalidTopicException:
		return misconfigured(what, "create the topic, or read another one")
	case kerr.FencedInstanceID:
		return misconfigured(what, "another member joined with this SourceOptions.InstanceID: give each its own, and open a new source")
	case kerr.InconsistentGroupProtocol:
		return misconfigured(what, "members of the group share partitions in another way: stop them, or use another SourceOptions.Group")
	case kerr.InvalidSessionTimeout:
		return misconfigured(what, "choose SourceOptions.SessionTimeout between the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms")
	case kerr.InvalidGroupID:
		return misconfigured(what, "use another SourceOptions.Group")
	case kerr.TransactionalIDAuthorizationFailed: // no reader is told so
		return misconfigured(what, fixCode)
	case kerr.GroupMaxSizeReached:
		return misconfigured(what, "raise the brokers' group.max.size, or run fewer members")
	case kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress, kerr.StaleMemberEpoch:
		return unavailable(what, "wait until the source has joined again")
	}
	switch v := verdict(e); v.outcome {
	case broker.Misconfigured:
		return misconfigured(what, v.fix)
	case broker.Rejected, broker.Accepted, broker.NotSent, broker.Unavailable, broker.Unknown:
	}
	return unavailable(what, "wait, or look at the brokers")
}
