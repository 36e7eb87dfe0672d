package kafkabroker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// ofKey makes n of one key.
func ofKey(topic, key string, n int) []broker.Delivery {
	msgs := publishtest.Messages(topic, n)
	for i := range msgs {
		msgs[i].Key = key
	}
	return msgs
}

// persist publishes until all is accepted.
func persist(t testing.TB, d broker.Destination, msgs ...broker.Delivery) {
	t.Helper()
	publishtest.Eventually(t, "all is accepted", func() bool {
		results := publishtest.Publish(t, d, 20*time.Second, msgs...)
		var rest []broker.Delivery
		for i, r := range results {
			if r.Outcome != broker.Accepted {
				rest = append(rest, msgs[i])
			}
		}
		msgs = rest
		return len(msgs) == 0
	})
}

// payloads are those of records, in their order.
func payloads(records []*kgo.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, string(r.Value))
	}
	return all
}

func TestValidateNamesEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	topic := func(m broker.Delivery) string { return m.Topic }
	for name, c := range map[string]struct {
		options kafkabroker.Options
		want    []string // none: valid
	}{
		"nothing": {options: kafkabroker.Options{}},
		"everything in order": {options: kafkabroker.Options{
			Prefix: "a.", Compression: "zstd", Linger: time.Millisecond, BatchBytes: 2048, Recheck: 1, SendTime: true,
			Create: &kafkabroker.Create{Partitions: 3, Replicas: 3, Config: map[string]string{"min.insync.replicas": "2"}},
			Login:  kafkabroker.Login{Mechanism: kafkabroker.Plain, User: "u", Password: "p"},
		}},
		"a topic function": {options: kafkabroker.Options{Topic: topic}},
		"all at once": {
			options: kafkabroker.Options{
				Prefix: "a b", Topic: topic, Compression: "rar", Linger: -1, BatchBytes: 1, Recheck: -1,
				Create: &kafkabroker.Create{Partitions: -1, Replicas: -1},
				Login:  kafkabroker.Login{Mechanism: "GSSAPI", User: "u"},
			},
			want: []string{
				"Options.Prefix \"a b\"", "both set", "Options.Compression", "Options.Linger", "Options.BatchBytes", "Options.Recheck",
				"Options.Create.Partitions", "Options.Create.Replicas", "Options.Login.Mechanism", "User and Password",
			},
		},
		"a mechanism without a user": {options: kafkabroker.Options{Login: kafkabroker.Login{Mechanism: kafkabroker.Plain}}, want: []string{"no User"}},
	} {
		err := c.options.Validate()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, word := range c.want {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v; want a word on %q", name, err, word)
			}
		}
	}
}

func TestDialRefusesInvalidAddresses(t *testing.T) {
	t.Parallel()
	for brokers, word := range map[string]string{
		"": "is empty", "a:9092,,b:9092": "broker 2 is empty", "kafka://a:9092": "is a URL", "a": "no port", ":9092": "names no host",
		"a:0": "has a port", "a:b": "has a port", "a:70000": "has a port",
	} {
		_, err := kafkabroker.Dial(t.Context(), brokers, kafkabroker.Options{})
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want a word on %q", brokers, err, word)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kafkabroker.Dial(over, "a:9092, b:9092", kafkabroker.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is over: %v", err)
	}
}

func TestATopicIsMadeByPrefixOrFunction(t *testing.T) {
	t.Parallel()
	brokers := plainKafka.get(t).Brokers()
	p := newPlace(t, brokers)
	p.topic = "events." + p.topic
	p.create(t)
	short := strings.TrimPrefix(p.topic, "events.")
	byPrefix := publishtest.Closing(t, dial(t, brokers, kafkabroker.Options{Prefix: "events."}))
	publishtest.Wants(t, publishtest.Publish(t, byPrefix, 30*time.Second, publishtest.Messages(short, 1)...), broker.Accepted, "")
	byFunction := publishtest.Closing(t, dial(t, brokers, kafkabroker.Options{Topic: func(m broker.Delivery) string {
		if m.Topic == "panic" {
			panic("an odd message")
		}
		return p.topic
	}}))
	publishtest.Wants(t, publishtest.Publish(t, byFunction, 30*time.Second, publishtest.Messages("any thing", 1)...), broker.Accepted, "")
	publishtest.Wants(t, publishtest.Publish(t, byFunction, 30*time.Second, publishtest.Messages("panic", 1)...), broker.Rejected, "panicked")
	if held := p.read(t); len(held) != 2 {
		t.Errorf("the topic holds %d, want 2", len(held))
	}
}

func TestAMessageToAnInvalidTopicNameIsRejectedAlone(t *testing.T) {
	t.Parallel()
	brokers := plainKafka.get(t).Brokers()
	p := newPlace(t, brokers).create(t)
	d := publishtest.Closing(t, dial(t, brokers, kafkabroker.Options{}))
	msgs := publishtest.Messages(p.topic, 3)
	msgs[1].Topic = "größe 42"
	results := publishtest.Publish(t, d, 30*time.Second, msgs...)
	publishtest.Wants(t, results[1:2], broker.Rejected, "the topic holds a character")
	publishtest.Wants(t, []broker.Result{results[0], results[2]}, broker.Accepted, "")
}

func TestATopicIsCreatedIfTheOptionsAskForIt(t *testing.T) {
	t.Parallel()
	brokers := plainKafka.get(t).Brokers()
	p := newPlace(t, brokers)
	d := publishtest.Closing(t, dial(t, brokers, kafkabroker.Options{
		Create: &kafkabroker.Create{Partitions: 5, Replicas: 1, Config: map[string]string{"max.message.bytes": "5000"}},
	}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 10)...), broker.Accepted, "")
	if ends := p.ends(t); len(ends) != 5 {
		t.Errorf("the topic has %d partitions, want 5", len(ends))
	}
	large := publishtest.Messages(p.topic, 1)
	large[0].Payload = make([]byte, 6000)
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, large...), broker.Rejected, "the topic allows 5000")

	wrong := publishtest.Closing(t, dial(t, brokers, kafkabroker.Options{Create: &kafkabroker.Create{Replicas: 7}}))
	publishtest.Wants(t, publishtest.Publish(t, wrong, 30*time.Second, publishtest.Messages(p.topic+".more", 1)...), broker.Misconfigured, "cannot be created")
}

// While a circuit is open a relay only probes: of a topic that the next message makes it must not hear that it is missing.
func TestAProbeAcceptsADeletedTopicThatTheNextMessageCreates(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers())
	lines := newThrough(t, p.brokers)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{
		Create: &kafkabroker.Create{Partitions: 1, Replicas: 1}, Login: kafkabroker.Login{Dial: lines.dial},
	}))
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 3)...), broker.Accepted, "")
	lines.mute()
	publishtest.Wants(t, publishtest.Publish(t, d, time.Second, publishtest.Messages(p.topic, 3)...), broker.Unknown, "")
	p.delete(t)
	lines.unmute(t)
	publishtest.Eventually(t, "the probe is content", func() bool { return d.Probe(publishtest.Timeout(t, 30*time.Second)) == nil })
	publishtest.Eventually(t, "the topic is made again", func() bool {
		return publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...)[0].Outcome == broker.Accepted
	})
}

func TestLingeringCallsShareBatches(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	p := newPlace(t, fake.ListenAddrs())
	p.partitions = 1
	p.create(t)
	for linger, most := range map[time.Duration]int{0: 20, 300 * time.Millisecond: 4} {
		d := publishtest.Closing(t, dial(t, fake.ListenAddrs(), kafkabroker.Options{Linger: linger}))
		publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 1)...), broker.Accepted, "")
		before := len(p.read(t))
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				msgs := publishtest.Messages(p.topic, 1)
				msgs[0].Key = fmt.Sprint(i)
				publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, msgs...), broker.Accepted, "")
			})
		}
		calls.Wait()
		records := p.read(t)[before:]
		batches := map[int64]bool{} // by producer
		for _, r := range records {
			batches[r.ProducerID] = true
		}
		if len(records) != 20 || len(batches) > most {
			t.Errorf("with a linger of %v, %d records came from %d producers, want 20 from %d at most", linger, len(records), len(batches), most)
		}
	}
}

func TestALingeringCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Linger: 5 * time.Second}))
	publishtest.Wants(t, publishtest.Publish(t, d, 100*time.Millisecond, publishtest.Messages(p.topic, 3)...), broker.NotSent, "the context ended")
	if held := p.read(t); len(held) != 0 {
		t.Errorf("%d messages were sent that were said not to be", len(held))
	}
}

func TestEachCompressionArrives(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{Compression: compression}))
		publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, publishtest.Messages(p.topic, 50)...), broker.Accepted, "")
	}
	kinds := map[uint8]int{}
	for _, r := range p.read(t) {
		kinds[r.Attrs.CompressionType()]++
	}
	if len(kinds) != 5 {
		t.Errorf("records have %v, want five kinds of compression", kinds)
	}
}

func TestAConsumerGetsTheMessageThatWasPublished(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	sent := publishtest.Messages(p.topic, 1)[0]
	sent.Key, sent.Type, sent.Payload = "schlüssel\r\n%41", "art 1", []byte("\x00\xff\r\n")
	sent.At = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	sent.Headers = map[string]string{"trace id": " \x01\n漢字", "Postbag-Key": "mine", "%41": "percent", "%": "", "%50ostbag-Id": "x"}
	publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, sent), broker.Accepted, "")

	record := p.read(t)[0]
	got, err := kafkabroker.Message(record)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != sent.ID || got.Topic != sent.Topic || got.Key != sent.Key || got.Type != sent.Type || !got.At.Equal(sent.At) ||
		string(got.Payload) != string(sent.Payload) || got.Attempt != 1 {
		t.Errorf("got %+v, sent %+v", got, sent)
	}
	for name, value := range sent.Headers {
		if back, ok := got.Headers[name]; !ok || back != value {
			t.Errorf("header %q is %q, %v, want %q", name, back, ok, value)
		}
	}
	if len(got.Headers) != len(sent.Headers) {
		t.Errorf("headers are %q", got.Headers)
	}
	if want := sent.At.Truncate(time.Millisecond); !record.Timestamp.Equal(want) {
		t.Errorf("the record's time is %v, want %v", record.Timestamp, want)
	}
}

func TestARecordOfAnotherProducerIsErrForeign(t *testing.T) {
	t.Parallel()
	header := func(name, value string) []kgo.RecordHeader {
		return []kgo.RecordHeader{{Key: name, Value: []byte(value)}}
	}
	if _, err := kafkabroker.Message(&kgo.Record{Headers: header("x", "y")}); !errors.Is(err, kafkabroker.ErrForeign) {
		t.Errorf("without an id: %v", err)
	}
	if _, err := kafkabroker.Message(&kgo.Record{Headers: header(broker.HeaderID, "17")}); err == nil || errors.Is(err, kafkabroker.ErrForeign) {
		t.Errorf("with an id that is none: %v", err)
	}
	id := header(broker.HeaderID, postbag.NewID().String())
	if _, err := kafkabroker.Message(&kgo.Record{Headers: slices.Concat(id, header(broker.HeaderTime, "noon"))}); err == nil {
		t.Error("a time that is none is no error")
	}
}

func TestARecordsTimestampIsWithinTheTopicsLimits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t, "message.timestamp.after.max.ms=3600000", "message.timestamp.before.max.ms=86400000")
	now := time.Now()
	for name, c := range map[string]struct {
		at       time.Time
		sendTime bool
		kept     bool
	}{
		"of an hour ago":        {at: now.Add(-time.Hour), kept: true},
		"of a moment ago":       {at: now.Add(-time.Second), kept: true},
		"of two days ago":       {at: now.Add(-48 * time.Hour)},
		"in two days":           {at: now.Add(48 * time.Hour)},
		"with Options.SendTime": {at: now.Add(-time.Hour), sendTime: true},
	} {
		d := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{SendTime: c.sendTime}))
		m := publishtest.Messages(p.topic, 1)
		m[0].At = c.at
		publishtest.Wants(t, publishtest.Publish(t, d, 30*time.Second, m...), broker.Accepted, "")
		found := false
		for _, r := range p.read(t) {
			got, err := kafkabroker.Message(r)
			if err != nil || got.ID != m[0].ID {
				continue
			}
			found = true
			if !got.At.Equal(c.at.Truncate(time.Microsecond)) {
				t.Errorf("%s: the fact is %v, want %v", name, got.At, c.at)
			}
			if kept := r.Timestamp.Equal(c.at.Truncate(time.Millisecond)); kept != c.kept {
				t.Errorf("%s: the record's time is %v, kept %v, want %v", name, r.Timestamp, kept, c.kept)
			}
		}
		if !found {
			t.Errorf("%s: the message is not there", name)
		}
	}
}
