package kafkabroker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
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
	outcome, fix := verdict(e)
	f := adapter.Failure(outcome, fmt.Sprintf("the broker answers %s", e.Message), fix)
	if ofTopic(e) || outcome == broker.Misconfigured && fix == fixUnknown {
		f.Scope = broker.ScopeTopic
	}
	return f
}

// ofTopic says whether an error is one of a topic or a partition of it. All other
// codes of misconfigured and unavailable are of the login, the cluster or the client.
func ofTopic(e *kerr.Error) bool {
	switch e {
	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID, kerr.InvalidTopicException, kerr.TopicAuthorizationFailed,
		kerr.UnsupportedForMessageFormat, kerr.InvalidConfig, kerr.InvalidPartitions, kerr.InvalidReplicationFactor,
		kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.KafkaStorageError, kerr.ReplicaNotAvailable,
		kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch:
		return true
	}
	return false
}

func verdict(e *kerr.Error) (outcome broker.Outcome, fix string) {
	switch e {
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return broker.Rejected, "send less, or raise the topic's max.message.bytes"
	case kerr.InvalidRecord:
		return broker.Rejected, "give the message what the topic asks for: a key where it is compacted"
	case kerr.InvalidTimestamp:
		return broker.Rejected, "compare the clocks of database and brokers, or set Options.SendTime"
	case kerr.PolicyViolation, kerr.CorruptMessage:
		return broker.Rejected, "look at the broker's log for the reason"

	case kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InconsistentTopicID:
		return broker.Misconfigured, "create the topic, set Options.Create, or grant the right to describe it"
	case kerr.InvalidTopicException:
		return broker.Misconfigured, "use another topic"
	case kerr.TopicAuthorizationFailed:
		return broker.Misconfigured, "grant this user Describe and Write on the topic"
	case kerr.ClusterAuthorizationFailed:
		return broker.Misconfigured, "grant this user IdempotentWrite on the cluster, or Create where topics are to be created"
	case kerr.TransactionalIDAuthorizationFailed:
		return broker.Misconfigured, "grant this user Write and Describe on transactional ids that begin with postbag/"
	case kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState, kerr.SecurityDisabled:
		return broker.Misconfigured, "check user, password and mechanism of Options.Login"
	case kerr.UnsupportedCompressionType:
		return broker.Misconfigured, "choose another Options.Compression, or raise the brokers' version"
	case kerr.InvalidRequiredAcks, kerr.UnsupportedVersion, kerr.UnsupportedForMessageFormat, kerr.InvalidConfig,
		kerr.InvalidPartitions, kerr.InvalidReplicationFactor:
		return broker.Misconfigured, "look the error up in Kafka's documentation"

	case kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.KafkaStorageError,
		kerr.ThrottlingQuotaExceeded, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator,
		kerr.BrokerNotAvailable, kerr.ReplicaNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.NotController:
		return broker.Unavailable, "wait, or look at the brokers of the partition"

	case kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NetworkException:
		return broker.Unknown, "send the message again"
	case kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.InvalidProducerIDMapping, kerr.ProducerFenced:
		return broker.Unknown, "send the message again, and look whether the partition lost data"
	default:
		if e.Retriable {
			return broker.Unknown, "send the message again"
		}
		return broker.Misconfigured, fixUnknown
	}
}

// fixUnknown is for a code of brokers to come, which an answer for one partition has: the topics of others go on.
const fixUnknown = "look the code up in Kafka's documentation"
