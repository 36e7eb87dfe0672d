package kafkabroker_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// A broker closes the connection on a larger request, and says nothing.
const largestRequest = 300_000

func TestNoRequestIsLargerThanTheBrokersTake(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{Properties: map[string]string{"socket.request.max.bytes": strconv.Itoa(largestRequest)}})
	for name, o := range map[string]kafkabroker.Options{
		"a producer of each call": {Compression: "none"},
		"of calls together":       {Compression: "none", Linger: 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			p, other := newPlace(t, k.Brokers()).create(t), newPlace(t, k.Brokers()).create(t)
			d := publishtest.Made[*kafkabroker.Destination](t)(kafkabroker.Dial(t.Context(), k.Brokers()[0], o))
			msgs := append(publishtest.Messages(p.topic, 12), publishtest.Messages(other.topic, 12)...)
			for i := range msgs {
				msgs[i].Key, msgs[i].Payload = string(rune('a'+i%3)), make([]byte, 100_000)
			}
			for range 2 { // before the limit is known, and after
				publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
			}
			msgs[1].Payload = make([]byte, largestRequest)
			msgs[1].Key = "large"
			for i, r := range publishtest.Publish(t, d, 30*time.Second, msgs[:6]...) {
				if i != 1 {
					publishtest.Wants(t, []broker.Result{r}, broker.Accepted, "")
					continue
				}
				publishtest.Wants(t, []broker.Result{r}, broker.Rejected, "raise the brokers' socket.request.max.bytes")
			}
			if n := len(p.read(t)); n != 2*12+5 {
				t.Errorf("the topic holds %d messages, want %d", n, 2*12+5)
			}
		})
	}
}

// Where the user may not ask the brokers for their limit, the first requests show it.
func TestALimitOfRequestsThatMayNotBeAskedForIsLearned(t *testing.T) {
	t.Parallel()
	k := servertest.Kafka(t, testserver.KafkaOptions{Secure: true, Properties: map[string]string{"socket.request.max.bytes": strconv.Itoa(largestRequest)}})
	p := newPlace(t, k.Brokers()).create(t)
	p.grant(t, kadm.OpWrite)
	d := publishtest.Made[*kafkabroker.Destination](t)(kafkabroker.Dial(t.Context(), k.SASLPlaintext()[0], kafkabroker.Options{
		Compression: "none", Login: login(kafkabroker.Plain),
	}))
	publishtest.Eventually(t, "the broker knows of the right", func() bool {
		return publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...)[0].Outcome == broker.Accepted
	})
	msgs := publishtest.Messages(p.topic, 8)
	for i := range msgs {
		msgs[i].Key, msgs[i].Payload = "a", make([]byte, 100_000)
	}
	results := publishtest.Publish(t, d, 5*time.Second, msgs...)
	publishtest.Wants(t, results, broker.Unknown, "brokers close the connection on requests of")
	publishtest.Wants(t, results, broker.Unknown, "socket.request.max.bytes")
	publishtest.Eventually(t, "sent in smaller requests", func() bool {
		return publishtest.Publish(t, d, 5*time.Second, msgs...)[7].Outcome == broker.Accepted
	})
	large := publishtest.Messages(p.topic, 1)
	large[0].Payload = make([]byte, largestRequest)
	publishtest.Wants(t, publishtest.Publish(t, d, 5*time.Second, large...), broker.Unknown, "socket.request.max.bytes")
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs[0]), broker.Accepted, "")
}
