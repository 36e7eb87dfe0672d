package kafkabroker_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// noise is a payload that does not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

func TestEveryCodeOfTheProtocolHasAnOutcome(t *testing.T) {
	t.Parallel()
	ofTopic := []*kerr.Error{
		kerr.UnknownTopicOrPartition, kerr.InvalidTopicException, kerr.TopicAuthorizationFailed, kerr.UnknownTopicID,
		kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.KafkaStorageError,
	}
	want := map[broker.Outcome][]*kerr.Error{
		broker.Rejected: {kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTimestamp, kerr.PolicyViolation, kerr.CorruptMessage},
		broker.Misconfigured: {
			kerr.UnknownTopicOrPartition, kerr.InvalidTopicException, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
			kerr.TransactionalIDAuthorizationFailed, kerr.UnsupportedCompressionType, kerr.InvalidRequiredAcks, kerr.UnsupportedVersion,
			kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.IllegalSaslState, kerr.UnknownTopicID, kerr.SecurityDisabled,
		},
		broker.Unavailable: {
			kerr.NotEnoughReplicas, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition, kerr.KafkaStorageError, kerr.ThrottlingQuotaExceeded,
			kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator, kerr.BrokerNotAvailable,
		},
		broker.Unknown: {
			kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NetworkException, kerr.OutOfOrderSequenceNumber,
			kerr.UnknownProducerID, kerr.InvalidProducerEpoch, kerr.ProducerFenced,
		},
	}
	for outcome, codes := range want {
		for _, code := range codes {
			f := kafkabroker.Translate(fmt.Errorf("produce: %w", code))
			if f.Outcome != outcome {
				t.Errorf("%v is %v, want %v", code, f.Outcome, outcome)
			}
			scope := broker.ScopeDestination
			if slices.Contains(ofTopic, code) {
				scope = broker.ScopeTopic
			}
			if f.Scope != scope {
				t.Errorf("%v has the scope %v, want %v", code, f.Scope, scope)
			}
		}
	}
	// None is taken for accepted, and none that is new parks a message.
	for code := int16(1); code < 140; code++ {
		err, ok := kerr.ErrorForCode(code).(*kerr.Error) //nolint:errorlint // it is that type
		if !ok {
			continue
		}
		if o := kafkabroker.Translate(err).Outcome; o == broker.Accepted || o == broker.NotSent {
			t.Errorf("%v is %v", err, o)
		}
	}
	if f := kafkabroker.Translate(&kerr.Error{Message: "NEWER_THAN_THIS", Code: 30000}); f.Outcome != broker.Misconfigured || f.Scope != broker.ScopeTopic {
		t.Errorf("a code that nobody knows is %v, of scope %v", f.Outcome, f.Scope)
	}
}

func TestAMissingTopicIsMisconfiguredUntilItIsThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers())
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	msgs := ofKey(p.topic, "k", 3)
	results := publishtest.Publish(t, d, 30*time.Second, msgs...)
	publishtest.Wants(t, results[:1], broker.Misconfigured, "does not exist")
	publishtest.Wants(t, results[1:], broker.NotSent, "")
	p.create(t)
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
}

func TestATopicDeletedUnderwayIsMisconfiguredUntilItIsThereAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 20)...), broker.Accepted, "")
	p.delete(t)
	results := publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...)
	publishtest.Wants(t, results, broker.Misconfigured, "")
	p.partitions = 1 // fewer than what is remembered
	p.create(t)
	msgs := publishtest.Messages(p.topic, 20)
	persist(t, d, msgs...)
	if held := p.read(t); len(held) < len(msgs) {
		t.Errorf("the new topic holds %d, want %d", len(held), len(msgs))
	}
}

// The topic is changed behind the destination's back, which so finds out from the
// broker: one of a batch is refused, and with it the whole batch.
func TestABatchThatIsRefusedIsSentAgainOneByOneInOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		created, changed, value string
		spoil                   func(m *broker.Delivery)
		word                    string
	}{
		"MESSAGE_TOO_LARGE": {
			changed: "max.message.bytes", value: "3000", word: "MESSAGE_TOO_LARGE",
			spoil: func(m *broker.Delivery) { m.Payload = noise(4000) },
		},
		"INVALID_TIMESTAMP": {
			changed: "message.timestamp.before.max.ms", value: "60000", word: "INVALID_TIMESTAMP",
			spoil: func(m *broker.Delivery) { m.At = time.Now().Add(-time.Hour) },
		},
		"INVALID_RECORD": {
			changed: "cleanup.policy", value: "compact", word: "INVALID_RECORD",
			spoil: func(m *broker.Delivery) { m.Key = "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, plainKafka.get(t).Brokers())
			p.partitions = 1
			p.create(t)
			d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Recheck: time.Hour}))
			publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...), broker.Accepted, "")
			p.set(t, c.changed, c.value)
			before := len(p.read(t))

			// Keys a and b by turns; one of a is bad.
			msgs := publishtest.Messages(p.topic, 30)
			for i := range msgs {
				msgs[i].Key = []string{"a", "b"}[i%2]
			}
			const bad = 14
			c.spoil(&msgs[bad])
			keyed := msgs[bad].Key != ""
			results := publishtest.Publish(t, d, 30*time.Second, msgs...)
			var want []string
			for i, r := range results {
				outcome := broker.Accepted
				switch {
				case i == bad:
					outcome = broker.Rejected
				case i > bad && msgs[i].Key == "a" && keyed:
					outcome = broker.NotSent
				}
				if r.Outcome != outcome {
					t.Errorf("message %d is %v (%v), want %v", i, r.Outcome, r.Err, outcome)
				}
				if outcome == broker.Accepted {
					want = append(want, string(msgs[i].Payload))
				}
			}
			publishtest.Wants(t, results[bad:bad+1], broker.Rejected, c.word)
			if got := payloads(p.read(t)[before:]); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the topic holds %d: %.300q, want %d", len(got), got, len(want))
			}
		})
	}
}

func TestAMessageThatItsTopicWouldRefuseIsRejectedBeforeSending(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t, "max.message.bytes=2000", "cleanup.policy=compact")
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	msgs := publishtest.Messages(p.topic, 5)
	msgs[1].Payload = noise(2000)
	msgs[3].Key = ""
	results := publishtest.Publish(t, d, 30*time.Second, msgs...)
	publishtest.Wants(t, results[1:2], broker.Rejected, "the topic allows 2000")
	publishtest.Wants(t, results[3:4], broker.Rejected, "the topic is compacted")
	publishtest.Wants(t, []broker.Result{results[0], results[2], results[4]}, broker.Accepted, "")

	// Somebody raises the limit; the retry need not wait for a minute.
	p.set(t, "max.message.bytes", "9000")
	again := msgs[1]
	again.Attempt = 2
	publishtest.Eventually(t, "the larger limit counts", func() bool {
		return publishtest.Publish(t, d, 30*time.Second, again)[0].Outcome == broker.Accepted
	})
}

func TestTheLargestMessageThatATopicAllowsIsAccepted(t *testing.T) {
	t.Parallel()
	const limit = 5000
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t, fmt.Sprintf("max.message.bytes=%d", limit))
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Compression: "none"}))
	m := publishtest.Messages(p.topic, 1)[0]
	for size := limit - 400; size < limit; size++ {
		m.Payload = make([]byte, size)
		if publishtest.Publish(t, d, 30*time.Second, m)[0].Outcome == broker.Accepted {
			continue
		}
		// By its own reckoning the destination stopped here; by the broker's, a batch is
		// one byte above the limit.
		overhead := limit - size + 1
		if overhead < 61 || overhead > 400 {
			t.Fatalf("the first payload refused has %d bytes", size)
		}
		return
	}
	t.Error("nothing was refused below the limit")
}

func TestAnUnknownHostAndAClosedPortAreUnavailable(t *testing.T) {
	t.Parallel()
	for brokers, word := range map[string]string{
		"nowhere.invalid:9092": "name",
		"127.0.0.1:1":          "no broker can be reached",
	} {
		d := publishtest.Closing(t, dial(t, []string{brokers}, kafkabroker.Options{}))
		publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages("t", 2)...), broker.Unavailable, word)
		if err := d.Probe(publishtest.Timeout(t, 30*time.Second)); broker.OutcomeOf(err) != broker.Unavailable {
			t.Errorf("Probe: %v", err)
		}
	}
}
