package kafkabroker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// Kafka's own console producer and ours share a topic: a key is in one partition,
// no matter who sent it.
func TestAKeyGoesToThePartitionThatTheJavaClientChooses(t *testing.T) {
	t.Parallel()
	k := plainKafka.get(t)
	p := newPlace(t, k.Brokers())
	p.partitions = 7
	p.create(t)
	var input strings.Builder
	msgs := publishtest.Messages(p.topic, 60)
	for i := range msgs {
		msgs[i].Key = fmt.Sprintf("%s-%d", []string{"a", "order", "größe", "漢字", "0123456789abcdef"}[i%5], i)
		fmt.Fprintf(&input, "%s|java\n", msgs[i].Key)
	}
	_, err := k.Run(publishtest.Timeout(t, 2*time.Minute), input.String(), "org.apache.kafka.tools.ConsoleProducer", "--topic", p.topic,
		"--bootstrap-server", k.Brokers()[0], "--property", "parse.key=true", "--property", "key.separator=|")
	must(t, err)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
	java, ours := map[string]int32{}, map[string]int32{}
	for _, r := range p.read(t) {
		if string(r.Value) == "java" {
			java[string(r.Key)] = r.Partition
		} else {
			ours[string(r.Key)] = r.Partition
		}
	}
	if len(java) != len(msgs) || len(ours) != len(msgs) {
		t.Fatalf("%d keys came from Java, %d from us, want %d of each", len(java), len(ours), len(msgs))
	}
	for key, partition := range java {
		if ours[key] != partition {
			t.Errorf("key %q goes to partition %d, Java's goes to %d", key, ours[key], partition)
		}
	}
}

// Kafka's own console consumer prints what we sent, headers and key and all.
func TestTheJavaClientReadsWhatWasSent(t *testing.T) {
	t.Parallel()
	k := plainKafka.get(t)
	p := newPlace(t, k.Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Compression: "zstd"}))
	m := publishtest.Messages(p.topic, 1)[0]
	m.Key, m.Type, m.Payload, m.Headers = "größe", "made", []byte("payload"), map[string]string{"tenant": "漢字"}
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, m), broker.Accepted, "")
	out, err := k.Run(publishtest.Timeout(t, 2*time.Minute), "", "org.apache.kafka.tools.consumer.ConsoleConsumer", "--topic", p.topic,
		"--bootstrap-server", k.Brokers()[0], "--from-beginning", "--max-messages", "1", "--timeout-ms", "60000",
		"--property", "print.key=true", "--property", "print.headers=true", "--property", "key.separator=|",
		"--property", "headers.separator=;")
	must(t, err)
	for _, want := range []string{"Postbag-Id:" + m.ID.String(), "Postbag-Type:made", "|payload", "Postbag-Time:" + broker.FormatTime(m.At)} {
		if !strings.Contains(out, want) {
			t.Errorf("the Java client prints %q, want %q in it", out, want)
		}
	}
}
