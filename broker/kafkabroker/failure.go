package kafkabroker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// adapter is how errors begin.
const adapter = brokerkit.Adapter("kafkabroker")

// translateError gives an error of a record's promise, or of a request, its
// outcome. What it cannot place is Unknown, which costs a repeat at most.
func translateError(err error) *broker.Error {
	if e, ok := errors.AsType[*kerr.Error](err); ok {
		return refusal(e)
	}
	if f := connectionFailure(err); f != nil {
		return f
	}
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
		return adapter.Failure(broker.Unknown, "the producer was given up before the answer came", "send the message again")
	case strings.Contains(err.Error(), "invalid record partitioning choice"), strings.Contains(err.Error(), "no usable partitions"):
		return adapter.TopicFailure(broker.Unavailable, "the topic's partitions changed", "wait until they are looked up again")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return adapter.Failure(broker.Unknown, "no answer came in time", "send the message again")
	default:
		return adapter.Failure(broker.Unknown, "the message may not have been stored ("+short(err)+")", "send it again")
	}
}

// connectionFailure gives an error of connecting its outcome, nil when it is none.
// Nothing was sent over a connection that was not made; where a broker hung up on
// the first request, that may have been the message.
func connectionFailure(err error) *broker.Error {
	is := func(targets ...any) bool {
		for _, target := range targets {
			if errors.As(err, target) {
				return true
			}
		}
		return false
	}
	var (
		steady *unwelcome
		header tls.RecordHeaderError
		handed *tlsError
		dns    *net.DNSError
		op     *net.OpError
	)
	switch {
	case brokerkit.BadCertificate(err):
		return adapter.Failure(broker.Misconfigured, "the broker's certificate is not accepted ("+short(err)+")", "give Options.Login.TLS the authority that signed it")
	case is(&header), is(&op) && (op.Op == "remote error" || op.Op == "local error"): // so crypto/tls wraps an alert
		return adapter.Failure(broker.Misconfigured, "the TLS handshake failed ("+short(err)+")", "check the listener's port and Options.Login.TLS")
	case is(&steady), strings.Contains(err.Error(), "invalid large response size"):
		return adapter.Failure(broker.Misconfigured, "the broker hangs up on the first request",
			"check whether its listener expects TLS, a login, or another one of either")
	case isHangUp(err):
		return adapter.Failure(broker.Unknown, "the broker hung up on the first request",
			"wait; if it stays so, check whether its listener expects TLS, a login, or another one of either")
	case is(&dns):
		if dns.IsNotFound {
			return adapter.Failure(broker.Unavailable, "a broker's name is not found", "check the name, or wait for its server")
		}
		return adapter.Failure(broker.Unavailable, "a broker's name cannot be looked up", "wait, or look at the name server")
	case is(&handed):
		return adapter.Failure(broker.Unavailable, "the TLS handshake took too long ("+short(err)+")", "wait, or look at the broker")
	case is(&op) && op.Op == "dial", strings.Contains(err.Error(), "unable to dial"):
		return adapter.Failure(broker.Unavailable, "no broker can be reached ("+short(err)+")", "wait, or look whether they run")
	}
	return nil
}

// short is an error's text without what it may quote of addresses beyond reason.
func short(err error) string {
	text := err.Error()
	if len(text) > 200 {
		text = text[:200]
	}
	return text
}

// refusal gives an error that a broker answered with its outcome. The names are
// those of Kafka's protocol guide.
func refusal(e *kerr.Error) *broker.Error {
	v := verdict(e)
	f := adapter.Failure(v.outcome, fmt.Sprintf("the broker answers %s", e.Message), v.fix)
	f.Scope = v.scope
	return f
}

// verdictOf is what some errors that brokers answer mean.
type verdictOf struct {
	outcome broker.Outcome
	scope   broker.Scope
	fix     string
	codes   []*kerr.Error
}

// verdicts is the error table. It is that of docs/reference/kafka.md, which a test
// compares. What is of a topic or of a partition has the scope topic; the rest is of
// the login, the cluster or the client.
var verdicts = []verdictOf{
	{broker.Rejected, 0, "send less, or raise the topic's max.message.bytes", []*kerr.Error{kerr.MessageTooLarge, kerr.RecordListTooLarge}},
	{broker.Rejected, 0, "give the message what the topic asks for: a key where it is compacted", []*kerr.Error{kerr.InvalidRecord}},
	{broker.Rejected, 0, "compare the clocks of database and brokers, or set Options.SendTime; if the message has the header " + propertyTimestamp + ", correct that", []*kerr.Error{kerr.InvalidTimestamp}},
	{broker.Rejected, 0, "look at the broker's log for the reason", []*kerr.Error{kerr.PolicyViolation, kerr.CorruptMessage}},

	{broker.Misconfigured, broker.ScopeTopic, "create the topic, set Options.Create, or grant the right to describe it", []*kerr.Error{
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID,
	}},
	{broker.Misconfigured, broker.ScopeTopic, "use another topic", []*kerr.Error{kerr.InvalidTopicException}},
	{broker.Misconfigured, broker.ScopeTopic, "grant this user Describe and Write on the topic", []*kerr.Error{kerr.TopicAuthorizationFailed}},
	{broker.Misconfigured, broker.ScopeTopic, fixDocumentation, []*kerr.Error{
		kerr.UnsupportedForMessageFormat, kerr.InvalidConfig, kerr.InvalidPartitions, kerr.InvalidReplicationFactor,
	}},
	{broker.Misconfigured, broker.ScopeDestination, fixDocumentation, []*kerr.Error{kerr.InvalidRequiredAcks, kerr.UnsupportedVersion}},
	{broker.Misconfigured, broker.ScopeDestination, "grant this user IdempotentWrite on the cluster, or Create where topics are to be created", []*kerr.Error{
		kerr.ClusterAuthorizationFailed,
	}},
	{broker.Misconfigured, broker.ScopeDestination, "grant this user Write and Describe on transactional ids that begin with postbag/", []*kerr.Error{
		kerr.TransactionalIDAuthorizationFailed,
	}},
	{broker.Misconfigured, broker.ScopeDestination, "check user, password and mechanism of Options.Login", []*kerr.Error{
		kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState, kerr.SecurityDisabled,
	}},
	{broker.Misconfigured, broker.ScopeDestination, "choose another Options.Compression, or raise the brokers' version", []*kerr.Error{
		kerr.UnsupportedCompressionType,
	}},

	{broker.Unavailable, broker.ScopeTopic, fixWait, []*kerr.Error{
		kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.KafkaStorageError,
		kerr.ReplicaNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch,
	}},
	{broker.Unavailable, broker.ScopeDestination, fixWait, []*kerr.Error{
		kerr.ThrottlingQuotaExceeded, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator,
		kerr.BrokerNotAvailable, kerr.NotController,
	}},

	{broker.Unknown, 0, fixAgain, []*kerr.Error{kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NetworkException}},
	{broker.Unknown, 0, "send the message again, and look whether the partition lost data", []*kerr.Error{
		kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.InvalidProducerIDMapping, kerr.ProducerFenced,
	}},
}

const (
	fixDocumentation = "look the error up in Kafka's documentation"
	fixCode          = "look the code up in Kafka's documentation"
	fixWait          = "wait, or look at the brokers of the partition"
	fixAgain         = "send the message again"
)

// verdict is that of the table. A code of brokers to come which cannot be retried is of
// the topic, for an answer for one partition has it: the topics of others go on.
func verdict(e *kerr.Error) verdictOf {
	for _, v := range verdicts {
		if slices.Contains(v.codes, e) {
			return v
		}
	}
	if e.Retriable {
		return verdictOf{outcome: broker.Unknown, fix: fixAgain}
	}
	return verdictOf{outcome: broker.Misconfigured, scope: broker.ScopeTopic, fix: fixCode}
}
