package redisbroker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

func TestAMessageOfADestinationIsTakenInWithItsIDKeyAndHeaders(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	d := dial(t, "redis://"+server.Addr(), redisbroker.Options{Prefix: "events:"})
	sent := publishtest.Messages(p.topic, 1)
	sent[0].Headers = map[string]string{"payload": "a header", "Postbag-Key": "not the key", "header:x": "1", "tenant": "acme"}
	sent[0].Type = "order.created"
	wants(t, publishtest.Publish(t, d, 20*time.Second, sent...), broker.Accepted, "")
	o := p.taking(server)
	o.Streams, o.Topics, o.Prefix = nil, []string{p.topic}, "events:"
	s := openSource(t, o)
	msgs, _ := take(t, s, 1)
	m := msgs[0]
	if m.Topic != p.topic || string(m.Payload) != string(sent[0].Payload) || m.Err != nil || string(m.Partition) != "events:"+p.topic {
		t.Errorf("the message is %+v", m)
	}
	for name, want := range map[string]string{
		"Postbag-Id": sent[0].ID.String(), "payload": "a header", "header:x": "1", "tenant": "acme", "header:Postbag-Key": "not the key", "Postbag-Type": "order.created",
	} {
		if got, ok := m.Headers.Get(name); !ok || got != want {
			t.Errorf("the header %s is %q, want %q", name, got, want)
		}
	}
	id, rule, err := sourcekit.DefaultIDs().Of(&m)
	if err != nil || rule != "Postbag-Id" || id != string(sent[0].ID[:]) {
		t.Errorf("its id is %q by %q, %v", id, rule, err)
	}
	if key := sourcekit.DefaultKeys(s.Features().Binding).Of(&m); key != sent[0].Key {
		t.Errorf("its key is %q, want %q", key, sent[0].Key)
	}
}

func TestAMessageIsAsTheEntryHasIt(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.PayloadField, o.Log = "body", "shop"
	s := openSource(t, o)
	id := p.add(t, "*", "b", "2", "body", "the payload", "a", "x", "b", "1", "payload", "a header")
	msgs, _ := take(t, s, 1)
	m := msgs[0]
	want := source.Headers{{Name: "b", Value: "2"}, {Name: "a", Value: "x"}, {Name: "b", Value: "1"}, {Name: "payload", Value: "a header"}}
	if m.Topic != p.topic || string(m.Payload) != "the payload" || !slices.Equal(m.Headers, want) || m.Key != "" || m.Deliveries != 1 {
		t.Errorf("the message is %+v", m)
	}
	if got := fmt.Sprintf("%d-%d", m.Place.Offset, m.Place.Minor); got != id || m.Place.Source != "shop" || m.Place.Partition != p.topic {
		t.Errorf("its place is %+v, its entry %s", m.Place, id)
	}
	if !strings.HasPrefix(id, fmt.Sprint(m.Time.UnixMilli())+"-") {
		t.Errorf("its time is %v, its entry %s", m.Time, id)
	}
}

// Fenced ids hold no time.
func TestAnEntryWhoseIDIsNoTimeHasTheTimeOfItsSender(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	s := openSource(t, p.taking(server))
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	p.add(t, "7-1", "Postbag-Time", broker.FormatTime(at), "payload", "1")
	p.add(t, "7-2", "payload", "2")
	msgs, _ := take(t, s, 2)
	if !msgs[0].Time.Equal(at) || !msgs[1].Time.IsZero() {
		t.Errorf("the times are %v and %v", msgs[0].Time, msgs[1].Time)
	}
}

func TestAnEntryWithoutOnePayloadIsUndecodableWithItsReason(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	s := openSource(t, p.taking(server))
	p.add(t, "*", "Postbag-Id", postbag.NewID().String(), "body", "secret")
	p.add(t, "*", "payload", "secret", "payload", "secret")
	p.store(t, 0, 1)
	msgs, _ := take(t, s, 3)
	for i, words := range []string{`no field "payload"`, `2 fields "payload"`} {
		if err := msgs[i].Err; !errors.Is(err, source.ErrUndecodable) || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "secret") {
			t.Errorf("message %d has the error %v", i, err)
		}
	}
	if _, ok := msgs[0].Headers.Get("body"); !ok || msgs[2].Err != nil {
		t.Errorf("the messages are %+v", msgs)
	}
	ack(t, s, 0, msgs...)
	if n := p.pending(t, ""); n > 0 {
		t.Errorf("%d messages are not acked", n)
	}
}

func TestAllShardsOfATopicAreRead(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	d := dial(t, "redis://"+server.Addr(), redisbroker.Options{Shards: 4})
	o := p.taking(server)
	o.Streams, o.Topics, o.Shards = nil, []string{p.topic}, 4
	s := openSource(t, o)
	sent := publishtest.Messages(p.topic, 60)
	for i := range sent {
		sent[i].Key = fmt.Sprint(i)
	}
	wants(t, publishtest.Publish(t, d, 20*time.Second, sent...), broker.Accepted, "")
	msgs, _ := take(t, s, 60)
	of := map[source.Partition]int{}
	for _, m := range msgs {
		of[m.Partition]++
		if m.Topic != p.topic {
			t.Errorf("a message has the topic %q", m.Topic)
		}
	}
	if len(of) != 4 || len(msgs) != 60 {
		t.Errorf("%d messages came, of the streams %v", len(msgs), of)
	}
}

func TestASourceWithANameBeginsWithWhatItHadAtWork(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	own := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: password})
	o := p.taking(server)
	o.Consumer, o.AckWait = "worker-1", time.Hour
	dies := o
	dies.URL, dies.Login, dies.Client = "", redisbroker.Login{}, own
	a := openSource(t, dies)
	p.store(t, 0, 5)
	msgs, _ := take(t, a, 5)
	ack(t, a, 0, msgs[:2]...)
	_ = own.Close() // as a crash would
	b := openSource(t, o)
	p.store(t, 5, 1)
	again, _ := take(t, b, 3)
	wantNumbers(t, again, 2, 5)
	for _, m := range again {
		if m.Deliveries != 2 {
			t.Errorf("message %s has %d deliveries", m.Payload, m.Deliveries)
		}
	}
	more, _ := take(t, b, 1)
	wantNumbers(t, more, 5, 6)
	ack(t, b, 0, append(again, more...)...)
	closeSource(t, b)
	if names := p.consumers(t); !slices.Contains(names, "worker-1") {
		t.Errorf("the consumers are %q: one with a name stays", names)
	}
}

func TestWhatADeadConsumerHeldIsTakenOverAfterTheAckWait(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	own := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: password})
	o := p.taking(server)
	o.AckWait = shortWait
	dies := o
	dies.URL, dies.Login, dies.Client = "", redisbroker.Login{}, own
	a, b := openSource(t, dies), openSource(t, o)
	p.store(t, 0, 20)
	began := time.Now()
	msgs, _ := take(t, a, 20)
	ack(t, a, 0, msgs[:5]...)
	_ = own.Close()
	again, _ := take(t, b, 15)
	if took := time.Since(began); took < shortWait*9/10 {
		t.Errorf("they came after %v, before the ack wait was over", took)
	}
	wantNumbers(t, again, 5, 20)
	for _, m := range again {
		if m.Deliveries != 2 {
			t.Errorf("message %s has %d deliveries", m.Payload, m.Deliveries)
		}
	}
	ack(t, b, 0, again...)
	nothing(t, b, 2*shortWait)
}

func TestWhatIsExtendedIsNotTakenOver(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.AckWait = shortWait
	a, b := openSource(t, o), openSource(t, o)
	p.store(t, 0, 4)
	msgs, _ := take(t, a, 4)
	for range 10 {
		if lost, err := a.Extend(t.Context(), receiptsOf(msgs[:3])); lost > 0 || err != nil {
			t.Fatalf("Extend: %d lost, %v", lost, err)
		}
		ctx := publishtest.Timeout(t, shortWait/4)
		if batch, err := b.Fetch(ctx, source.Limits{}); err == nil && !slices.Equal(payloads(batch.Messages), []string{"3"}) {
			t.Fatalf("the messages %q came to another member", payloads(batch.Messages))
		}
	}
	// The other one has the fourth by now, and keeps it.
	if lost, err := a.Extend(t.Context(), receiptsOf(msgs)); lost != 1 || err != nil {
		t.Errorf("Extend of a message that another member has: %d lost, %v", lost, err)
	}
	ack(t, a, 1, msgs...)
	if n := p.pending(t, ""); n != 1 {
		t.Errorf("%d messages are not acked, want the one that the other member has", n)
	}
}

// What was read and not returned is pending in the source's name all the same.
func TestWhatWaitsInTheSourceHasAllOfItsAckWaitWhenItIsReturned(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p, q := newPlace(admin(t, server)), newPlace(admin(t, server))
	o := p.taking(server)
	o.Streams, o.AckWait = []string{p.topic, q.topic}, 2*time.Second
	a := openSource(t, o)
	p.store(t, 0, 1)
	q.store(t, 1, 1)
	one := source.Limits{Messages: 1}
	first, err := a.Fetch(publishtest.Timeout(t, 20*time.Second), one)
	if err != nil || len(first.Messages) != 1 {
		t.Fatalf("%d messages came, %v", len(first.Messages), err)
	}
	ack(t, a, 0, first.Messages...)
	if n := p.pending(t, "") + q.pending(t, ""); n != 1 {
		t.Fatalf("%d messages wait in the source, want one", n)
	}
	timer := time.NewTimer(o.AckWait * 3 / 4)
	<-timer.C
	second, err := a.Fetch(publishtest.Timeout(t, 20*time.Second), one)
	if err != nil || len(second.Messages) != 1 {
		t.Fatalf("%d messages came, %v", len(second.Messages), err)
	}
	b := openSource(t, o)
	nothing(t, b, o.AckWait*3/4) // it would have it after a quarter
	ack(t, a, 0, second.Messages...)
}

func TestWhatIsReleasedForLongerThanTheAckWaitDoesNotComeEarlier(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.AckWait = shortWait
	a, b := openSource(t, o), openSource(t, o)
	p.store(t, 0, 2)
	msgs, _ := take(t, a, 2)
	began := time.Now()
	if err := a.Release(t.Context(), receiptsOf(msgs), 3*shortWait); err != nil {
		t.Fatal(err)
	}
	again, _ := take(t, b, 2)
	if took := time.Since(began); took < 3*shortWait*9/10 || took > 6*shortWait {
		t.Errorf("they came after %v, want %v", took, 3*shortWait)
	}
	ack(t, a, 2, msgs...)
	ack(t, b, 0, again...)
}

func TestCloseGivesBackAtOnceAndRemovesARandomName(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	own := redis.NewClient(&redis.Options{Addr: server.Addr(), Password: password})
	t.Cleanup(func() { _ = own.Close() })
	o := p.taking(server)
	o.URL, o.Login, o.Client = "", redisbroker.Login{}, own // AckWait is a minute
	a := openSource(t, o)
	p.store(t, 0, 10)
	msgs, _ := take(t, a, 10)
	ack(t, a, 0, msgs[:4]...)
	closeSource(t, a)
	if names := p.consumers(t); !slices.Equal(names, []string{"postbag-released"}) {
		t.Errorf("the consumers are %q", names)
	}
	began := time.Now()
	b := openSource(t, o)
	again, _ := take(t, b, 6)
	wantNumbers(t, again, 4, 10)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("they came after %v, want at once", took)
	}
	if err := own.Ping(t.Context()).Err(); err != nil {
		t.Errorf("Close closed the application's client: %v", err)
	}
}

func TestCloseOfASourceWithANameGivesBackAtOnceAndKeepsTheName(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	o := p.taking(server)
	o.Consumer = "worker-1"
	a, b := openSource(t, o), openSource(t, p.taking(server))
	p.store(t, 0, 6)
	msgs, _ := take(t, a, 6)
	ack(t, a, 0, msgs[:2]...)
	closeSource(t, a)
	began := time.Now()
	again, _ := take(t, b, 4)
	wantNumbers(t, again, 2, 6)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("they came after %v, want at once", took)
	}
	if names := p.consumers(t); !slices.Contains(names, "worker-1") {
		t.Errorf("the consumers are %q", names)
	}
	ack(t, b, 0, again...)
}

func TestLagCountsWhatIsNotAckedOfEachStream(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p, q := newPlace(admin(t, server)), newPlace(admin(t, server))
	o := p.taking(server)
	o.Streams = []string{p.topic, q.topic}
	s := openSource(t, o)
	p.store(t, 0, 10)
	msgs, _ := take(t, s, 10)
	p.store(t, 10, 3)
	ack(t, s, 0, msgs[:4]...)
	lag, err := s.Lag(t.Context())
	if err != nil || len(lag) != 2 || lag[0].Messages != 9 || lag[0].Age <= 0 || lag[0].Age > time.Minute || string(lag[0].Partition) != p.topic {
		t.Errorf("the lag is %+v, %v; want 9 messages", lag, err)
	}
	if lag[1].Messages != 0 || lag[1].Age != 0 || string(lag[1].Partition) != q.topic {
		t.Errorf("the lag is %+v; want none of the second", lag)
	}
	ack(t, s, 0, msgs[4:]...)
	if lag, err = s.Lag(t.Context()); err != nil || lag[0].Messages != 3 || lag[0].Age <= 0 {
		t.Errorf("the lag is %+v, %v; want what was not read", lag, err)
	}
}

// What waits is at the server: the source asks for no more than it can return.
func TestTenThousandMessagesPassThroughInBoundedPieces(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	const total = 10_000
	pipe := p.client.Pipeline()
	for i := range total {
		pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: p.topic, Values: []string{"payload", fmt.Sprint(i)}})
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := openSource(t, p.taking(server))
	next, batches := 0, 0
	for next < total {
		batch, err := s.Fetch(publishtest.Timeout(t, 30*time.Second), source.Limits{Messages: 200})
		if err != nil {
			t.Fatal(err)
		}
		batches++
		if n := p.pending(t, ""); n > 200 {
			t.Fatalf("%d messages were read for a batch of 200", n)
		}
		for _, m := range batch.Messages {
			if string(m.Payload) != fmt.Sprint(next) {
				t.Fatalf("message %s came, want %d", m.Payload, next)
			}
			next++
		}
		ack(t, s, 0, batch.Messages...)
	}
	if batches > 2*total/200 {
		t.Errorf("%d batches were needed", batches)
	}
}

// The server cannot be asked for bytes, so the source asks for fewer entries if they are large.
func TestLargeEntriesAreReadFewAtATime(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	p := newPlace(admin(t, server))
	s := openSource(t, p.taking(server))
	large := strings.Repeat("x", 100_000)
	for range 60 {
		p.add(t, "*", "payload", large)
	}
	limits := source.Limits{Bytes: 300_000}
	for came := 0; came < 60; {
		before := came
		batch, err := s.Fetch(publishtest.Timeout(t, 30*time.Second), limits)
		if err != nil {
			t.Fatal(err)
		}
		came += len(batch.Messages)
		ack(t, s, 0, batch.Messages...)
		if n := p.pending(t, ""); before == 0 && n > 20 || before > 0 && n > 4 {
			t.Fatalf("%d messages of 100,000 bytes wait in the source, after %d", n, came)
		}
	}
}
