package inbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// receiving is a receiver at work between a broker and a store, both in memory.
type receiving struct {
	testing.TB
	broker *memsource.Broker
	store  *memstore.Store
	r      *inbox.Receiver[*memstore.Tx]
	log    *lines

	mu   sync.Mutex
	errs []error

	stop  context.CancelFunc
	ended chan error
}

// lines keeps what a logger writes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

type receiverOptions = inbox.ReceiverOptions[*memstore.Tx]

// receive starts a receiver. The test ends it.
func receive(tb testing.TB, from memsource.Options, to memstore.Options, change ...func(*receiverOptions)) *receiving {
	tb.Helper()
	w := &receiving{TB: tb, broker: memsource.New(from), store: memstore.New(to), log: &lines{}}
	if err := w.store.CreateBox(tb.Context(), "inbox"); err != nil {
		tb.Fatal(err)
	}
	if err := w.store.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: "inbox", Subscription: "worker"}, Shards: 1}}); err != nil {
		tb.Fatal(err)
	}
	w.start(change...)
	return w
}

func (w *receiving) start(change ...func(*receiverOptions)) {
	w.Helper()
	src := w.broker.Join("billing")
	o := receiverOptions{
		Store: w.store, Source: src, Logger: slog.New(slog.NewTextHandler(w.log, nil)),
		OnError: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.errs = append(w.errs, err)
		},
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.r, err = inbox.NewReceiver(o); err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	w.ended = make(chan error, 1)
	go func(r *inbox.Receiver[*memstore.Tx], ended chan<- error) {
		err := r.Run(ctx)
		ended <- errors.Join(err, src.Close(context.WithoutCancel(ctx)))
	}(w.r, w.ended)
	w.stop = sync.OnceFunc(cancel)
	w.Cleanup(w.stop)
}

// end ends the receiver, and closes its source.
func (w *receiving) end() {
	w.Helper()
	w.stop()
	if err := <-w.ended; err != nil {
		w.Errorf("the receiver ended with %v", err)
	}
}

// loseAcks has the broker lose all acks while f runs, and then deliver again.
func (w *receiving) loseAcks(f func()) {
	w.Helper()
	w.broker.LoseAcks(true)
	f()
	w.stop()
	if err := <-w.ended; err == nil {
		w.Error("the source was closed without an error, and its acks were lost")
	}
	w.broker.LoseAcks(false)
}

func (w *receiving) publish(msgs ...source.Message) {
	w.Helper()
	if err := w.broker.Publish(msgs...); err != nil {
		w.Fatal(err)
	}
}

func (w *receiving) acked() {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	if err := w.broker.WaitUntilAcked(ctx, "billing"); err != nil {
		w.Fatalf("%v; errors: %v", err, w.errs)
	}
}

// box returns what the box holds, oldest first.
func (w *receiving) box() []store.Item {
	w.Helper()
	return w.in("inbox")
}

// in returns what another box holds, oldest first.
func (w *receiving) in(box string) []store.Item {
	w.Helper()
	items, _, err := w.store.List(w.Context(), store.Query{Ref: store.Ref{Box: box}, Oldest: true, Limit: 1000})
	if err != nil {
		w.Fatal(err)
	}
	return items
}

// one returns the only message of the box.
func (w *receiving) one() store.Item {
	w.Helper()
	items := w.box()
	if len(items) != 1 {
		w.Fatalf("the box holds %d messages, not one", len(items))
	}
	return items[0]
}

// headers makes headers of names and values in turn.
func headers(pairs ...string) (out source.Headers) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, source.Header{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func numbered(from, to int) (out []source.Message) {
	for n := from; n < to; n++ {
		out = append(out, source.Message{Key: fmt.Sprint("key ", n%7), Payload: fmt.Append(nil, n)})
	}
	return out
}

// inOrder fails the test unless the box holds the messages up to n, each once, those of a key in their sequence.
func (w *receiving) inOrder(n int) {
	w.Helper()
	seen := map[string]int{}
	last := map[string]int{}
	for _, it := range w.box() {
		var i int
		if _, err := fmt.Sscan(string(it.Payload), &i); err != nil {
			w.Fatal(err)
		}
		if seen[string(it.Payload)]++; i < last[it.Key] {
			w.Errorf("of %s message %d comes after %d", it.Key, i, last[it.Key])
		}
		last[it.Key] = i
	}
	for i := range n {
		if seen[fmt.Sprint(i)] != 1 {
			w.Errorf("message %d is in the box %d times", i, seen[fmt.Sprint(i)])
		}
	}
}

var partitions = memsource.Options{Order: source.OrderPartition, Partitions: 3, Cumulative: true}

func TestAMessageThatIsDeliveredAgainIsStoredOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Messages = 10 })
	w.loseAcks(func() {
		for n := range 10 {
			w.publish(numbered(40*n, 40*n+40)...)
			w.broker.Rebalance("billing")
		}
		for w.r.Stats().Stored < 400 {
			pauseFor(t)
		}
	})
	if s := w.r.Stats(); s.Stored != 400 || s.Fetched != s.Stored+s.Repeated || s.Faulty != 0 {
		t.Errorf("it counted %+v", s)
	}
	w.start(func(o *receiverOptions) { o.Messages = 10 })
	w.acked()
	w.inOrder(400)
	w.end()
	if s := w.r.Stats(); s.Stored != 0 || s.Repeated != 400 {
		t.Errorf("of 400 messages that come again it counted %+v", s)
	}
}

// pauseFor lets others work.
func pauseFor(tb testing.TB) {
	tb.Helper()
	select {
	case <-time.After(time.Millisecond):
	case <-tb.Context().Done():
	}
}

func TestReceiversThatAreReplacedStoreEachMessageOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Messages = 5 })
	for n := range 10 {
		w.publish(numbered(30*n, 30*n+30)...)
		w.end()
		w.start(func(o *receiverOptions) { o.Messages = 5 })
	}
	w.acked()
	w.inOrder(300)
	w.end()
}

func TestPartitionsThatAReceiverLosesAreCounted(t *testing.T) {
	t.Parallel()
	w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{})
	w.publish(numbered(0, 3)...)
	w.acked()
	w.broker.Rebalance("billing")
	w.publish(numbered(3, 6)...)
	w.acked()
	w.inOrder(6)
	if s := w.r.Stats(); s.LostPartitions != 1 {
		t.Errorf("it counted %+v", s)
	}
	w.end()
}

func TestABatchIsOneTransaction(t *testing.T) {
	t.Parallel()
	var commits atomic.Int64
	w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if op == memstore.OpCommit {
			commits.Add(1)
		}
		return memstore.Fault{}
	}}, func(o *receiverOptions) { o.Source = held(o.Source, 200) })
	w.publish(numbered(0, 200)...)
	w.acked()
	w.inOrder(200)
	if n := commits.Load(); n != 1 {
		t.Errorf("200 messages of one Fetch took %d transactions", n)
	}
	w.end()
}

// held is a source whose Fetch waits until so many messages are there.
func held(s source.Source, n int) source.Source { return &holding{Source: s, n: n} }

type holding struct {
	source.Source
	n int
}

func (h *holding) Fetch(ctx context.Context, limits source.Limits) (out source.Batch, err error) {
	for len(out.Messages) < h.n {
		b, err := h.Source.Fetch(ctx, limits)
		if err != nil {
			return source.Batch{}, err
		}
		out.Messages = append(out.Messages, b.Messages...)
	}
	return out, nil
}

func TestWhileTheStoreFailsNothingIsAcknowledgedAndNothingMoreIsFetched(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	var fetches atomic.Int64
	down.Store(true)
	from := partitions
	from.Fail = func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpFetch {
			fetches.Add(1)
		}
		return nil
	}
	w := receive(t, from, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if down.Load() && op == memstore.OpBegin {
			return memstore.Fault{Err: errors.New("the database is down")}
		}
		return memstore.Fault{}
	}}, func(o *receiverOptions) { o.Messages = 10 })
	w.publish(numbered(0, 100)...)
	for w.failures() < 3 {
		pauseFor(t)
	}
	before := fetches.Load()
	for w.failures() < 5 {
		pauseFor(t)
	}
	if n := w.broker.Unacked("billing"); n != 100 || fetches.Load() != before {
		t.Errorf("%d of 100 messages are not acknowledged, and %d times it fetched on", n, fetches.Load()-before)
	}
	down.Store(false)
	w.acked()
	w.inOrder(100)
	if began, ended := w.log.count("the store of an inbox fails"), w.log.count("the store of an inbox works again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that it fails, and %d times that it works again", began, ended)
	}
	w.end()
}

func (w *receiving) failures() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.errs)
}

func TestABatchWhoseCommitHasNoAnswerIsStoredOnce(t *testing.T) {
	t.Parallel()
	for _, acted := range []bool{true, false} {
		t.Run(fmt.Sprint("committed ", acted), func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			w := receive(t, partitions, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
				if op == memstore.OpCommit && n.Add(1)%3 == 1 {
					return memstore.Fault{Err: postbag.ErrCommitUnknown, Acted: acted}
				}
				return memstore.Fault{}
			}}, func(o *receiverOptions) { o.Messages = 10 })
			w.publish(numbered(0, 60)...)
			w.acked()
			w.inOrder(60)
			w.end()
			if s := w.r.Stats(); s.Stored != 60 || s.Repeated != 0 {
				t.Errorf("it stored 60 messages, each at its first delivery, and counted %+v", s)
			}
		})
	}
}

func TestRelaysAreWokenForWhatIsNew(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{})
	w.publish(numbered(0, 1)...)
	select {
	case <-w.store.Woken():
	case <-time.After(time.Minute):
		t.Error("nobody was woken")
	}
	w.end()
}

func TestWhileTheBrokerIsAwayItIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{})
	w.broker.SetDown(true)
	for w.failures() < 4 {
		pauseFor(t)
	}
	w.broker.SetDown(false)
	w.publish(numbered(0, 50)...)
	w.acked()
	w.inOrder(50)
	if began, ended := w.log.count("the source fails"), w.log.count("the source works again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that it fails, and %d times that it works again", began, ended)
	}
	w.end()
}

func TestAcknowledgementsOfAReceiverThatFailAreLoggedAndCounted(t *testing.T) {
	t.Parallel()
	var fails atomic.Int64
	w := receive(t, memsource.Options{AckWait: 50 * time.Millisecond, Fail: func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpAck && fails.Add(1) <= 3 {
			return source.ErrUnavailable
		}
		return nil
	}}, memstore.Options{}, func(o *receiverOptions) { o.Messages = 1 })
	w.publish(numbered(0, 5)...)
	w.acked()
	w.end()
	w.inOrder(5)
	if began, ended := w.log.count("acknowledgements fail"), w.log.count("acknowledgements work again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that they fail, and %d times that they work again", began, ended)
	}
	if s := w.r.Stats(); s.FailedAcks != 3 || s.Stored != 5 || w.failures() != 3 {
		t.Errorf("of 3 acks that failed it counted %+v, and OnError heard of %d", s, w.failures())
	}
}

func TestABrokerThatDoesNotHearOfMessagesAtWorkIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	w := receive(t, memsource.Options{AckWait: time.Minute, Fail: func(op memsource.Op, _ *memsource.Source) error {
		if op == memsource.OpExtend {
			return source.ErrUnavailable
		}
		return nil
	}}, memstore.Options{Fault: func(_ context.Context, op memstore.Op) memstore.Fault {
		if down.Load() && op == memstore.OpBegin {
			return memstore.Fault{Err: errors.New("the database is down")}
		}
		return memstore.Fault{}
	}})
	w.publish(numbered(0, 1)...)
	for w.r.Stats().FailedExtends < 2 {
		pauseFor(t)
	}
	down.Store(false)
	w.acked()
	w.end()
	if began, ended := w.log.count("acknowledgements fail"), w.log.count("acknowledgements work again"); began != 1 || ended != 1 {
		t.Errorf("the log says %d times that they fail, and %d times that they work again", began, ended)
	}
}

func TestRunEndsWithAnErrorWhenTheSourceIsClosed(t *testing.T) {
	t.Parallel()
	var src source.Source
	w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { src = o.Source })
	if err := src.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-w.ended; !errors.Is(err, source.ErrClosed) {
		t.Errorf("Run returned %v", err)
	}
}

// bound is a source of another protocol.
type bound struct {
	source.Source

	binding string
}

func (b bound) Features() source.Features {
	f := b.Source.Features()
	f.Binding = b.binding
	return f
}

// A destination percent-encodes headers where its protocol cannot carry every text. One of
// webhooks encodes those that Postbag adds alone.
func TestHeadersThatARelayEncodedAreDecodedInTheBox(t *testing.T) {
	t.Parallel()
	for binding, rate := range map[string]string{broker.BindingHTTP: "5%25", broker.BindingNATS: "5%", broker.BindingMQTT: "5%"} {
		w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Source = bound{o.Source, binding} })
		w.publish(source.Message{Headers: headers("Postbag-Id", postbag.NewID().String(), "Postbag-Key", "a%09b", "Postbag-Type", "100%25", "rate", "5%25")})
		w.acked()
		if got := w.one(); got.Key != "a\tb" || got.Type != "100%" || got.Headers["rate"] != rate {
			t.Errorf("%s: the box holds %+v", binding, got)
		}
	}
}

func TestWhatTheBoxHoldsOfAMessage(t *testing.T) {
	t.Parallel()
	id := postbag.NewID()
	for name, c := range map[string]struct {
		in       source.Message
		id       postbag.ID
		key, typ string
		headers  map[string]string
	}{
		"of a relay": {
			in: source.Message{Key: "k", Headers: headers("Postbag-Id", id.String(), "Postbag-Type", "a.b", "Postbag-Time", "x", "trace", "1")},
			id: id, key: "k", typ: "a.b", headers: map[string]string{"trace": "1"},
		},
		"of CloudEvents": {
			in: source.Message{Headers: headers("ce_specversion", "1.0", "ce_id", id.String(), "ce_type", "t", "ce_source", "/s", "ce_partitionkey", "p")},
			id: id, key: "p", typ: "t",
			headers: map[string]string{"ce_specversion": "1.0", "ce_id": id.String(), "ce_type": "t", "ce_source": "/s", "ce_partitionkey": "p"},
		},
		"of CloudEvents, structured": {
			in: source.Message{ContentType: "application/cloudevents+json", Payload: fmt.Appendf(nil, `{"id":%q,"source":"/s","type":"t"}`, id)},
			id: id, typ: "t", headers: map[string]string{"content-type": "application/cloudevents+json"},
		},
		"of Debezium": {
			in: source.Message{Key: "7", Headers: headers("id", id.String())},
			id: id, key: "7", headers: map[string]string{"id": id.String()},
		},
		"with a header twice, and no payload": {
			in: source.Message{MessageID: id.String(), Null: true, Headers: headers("a", "1", "a", "2")},
			id: id, headers: map[string]string{"a": "1, 2", "null-payload": "true"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := receive(t, partitions, memstore.Options{})
			c.in.Topic = "orders"
			w.publish(c.in)
			w.acked()
			got := w.one()
			if got.ID != c.id || got.Topic != "orders" || got.Key != c.key || got.Type != c.typ || fmt.Sprint(got.Headers) != fmt.Sprint(c.headers) || !bytes.Equal(got.Payload, c.in.Payload) {
				t.Errorf("the box holds %+v", got.Message)
			}
			w.end()
		})
	}
}

// Who may write to a broker must not steer what a relay sends to another one.
func TestASenderSetsNoPropertyOfATransportUnlessEditTakesIt(t *testing.T) {
	t.Parallel()
	in := source.Message{MessageID: "1", Headers: headers("kafka.partition", "3", "nats.ttl", "1s", "rabbitmq.none", "x", "own", "y")}
	for name, c := range map[string]struct {
		edit func(*postbag.Message, *source.Message) error
		want map[string]string
	}{
		"by default": {nil, map[string]string{"own": "y"}},
		"with Edit": {func(out *postbag.Message, from *source.Message) error {
			out.Headers["kafka.partition"], _ = from.Headers.Get("kafka.partition")
			return nil
		}, map[string]string{"own": "y", "kafka.partition": "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Edit = c.edit })
			w.publish(in)
			w.acked()
			if got := w.one(); !maps.Equal(got.Headers, c.want) {
				t.Errorf("the box holds the headers %v, want %v", got.Headers, c.want)
			}
			w.end()
		})
	}
}

func TestAMessageWithoutAUUIDHasOneOfItsPlaceEachTime(t *testing.T) {
	t.Parallel()
	var seen []postbag.ID
	for range 2 {
		w := receive(t, partitions, memstore.Options{})
		w.publish(source.Message{Key: "a"})
		w.acked()
		seen = append(seen, w.one().ID)
		w.end()
	}
	if seen[0] != seen[1] || seen[0][6]>>4 != 8 || seen[0][8]>>6 != 2 {
		t.Errorf("the ids are %v", seen)
	}
}

// faultyMessages are messages that no box holds as they are, with what is to be said of them.
func faultyMessages() map[string]struct {
	in   source.Message
	says string
} {
	big := make([]byte, 2000)
	return map[string]struct {
		in   source.Message
		says string
	}{
		"without an id":            {source.Message{Payload: []byte("p")}, "has no id"},
		"undecodable":              {source.Message{MessageID: "1", Err: source.ErrUndecodable}, "cannot be decoded"},
		"too large":                {source.Message{MessageID: "1", Payload: big}, fmt.Sprintf("has 2000 bytes, and the SHA-256 %x", sha256.Sum256(big))},
		"with a topic too long":    {source.Message{MessageID: "1", Topic: strings.Repeat("t", 256)}, "Topic holds 256 bytes"},
		"with a key that no text":  {source.Message{MessageID: "1", Key: "a\xff"}, "not valid UTF-8"},
		"with a header with a NUL": {source.Message{MessageID: "1", Headers: headers("a", "b\x00")}, "NUL"},
		"with 1 MiB of headers":    {source.Message{MessageID: "1", Headers: headers("a", strings.Repeat("\"", 1<<20))}, "Headers holds"},
		"with a header unnamed":    {source.Message{MessageID: "1", Headers: headers("", "b")}, "without a name"},
		"that Edit refuses":        {source.Message{MessageID: "1", Topic: "refused"}, "we want none of these"},
	}
}

func refuse(o *receiverOptions) {
	o.MaxSize, o.TooLarge = 1000, inbox.KeepHead
	o.Edit = func(out *postbag.Message, _ *source.Message) error {
		if out.Topic == "refused" {
			return errors.New("we want none of these")
		}
		return nil
	}
}

func TestAMessageWithAFaultIsStoredWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range faultyMessages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := receive(t, memsource.Options{NoPlaces: true, Order: source.OrderStream}, memstore.Options{}, refuse)
			w.publish(source.Message{MessageID: "before"}, c.in, source.Message{MessageID: "after"})
			w.acked()
			items := w.box()
			if len(items) != 3 {
				t.Fatalf("the box holds %d messages, not 3", len(items))
			}
			if it := items[1]; it.Err == nil || !strings.Contains(it.Err.Error(), c.says) || len(it.Payload) > 4096 {
				t.Errorf("the message has the fault %v, and %d bytes", it.Err, len(it.Payload))
			}
			if items[0].Err != nil || items[2].Err != nil {
				t.Errorf("its neighbours have the faults %v and %v", items[0].Err, items[2].Err)
			}
			if s := w.r.Stats(); s.Faulty != 1 || s.Stored != 3 || w.log.count("a message was taken in with a fault") != 1 || w.log.count(`place="no place"`) != 1 || w.failures() != 1 {
				t.Errorf("it counted %+v, and reported %v", s, w.errs)
			}
			w.end()
		})
	}
}

func TestAFaultEndsRunIfItIsAskedTo(t *testing.T) {
	t.Parallel()
	for name, c := range faultyMessages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := receive(t, memsource.Options{NoPlaces: true, Order: source.OrderStream}, memstore.Options{}, refuse, func(o *receiverOptions) {
				o.Faults, o.Source = inbox.StopOnFaults, held(o.Source, 3)
			})
			w.publish(source.Message{MessageID: "before"}, c.in, source.Message{MessageID: "after"})
			if err := <-w.ended; err == nil {
				t.Error("Run ended without an error")
			}
			if items := w.box(); len(items) != 1 || w.broker.Unacked("billing") != 2 {
				t.Errorf("%d messages are stored, and %d are not acknowledged", len(items), w.broker.Unacked("billing"))
			}
		})
	}
}

func TestAnotherPayloadWithAnIDThatWasTakenInIsAFault(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{true, false} {
		t.Run(fmt.Sprint("in another batch ", apart), func(t *testing.T) {
			t.Parallel()
			w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(o *receiverOptions) {
				if !apart {
					o.Source = held(o.Source, 6)
				}
			})
			w.loseAcks(func() { w.conflicts() })
			w.start()
			w.acked()
			var got []string
			for _, it := range w.box() {
				got = append(got, fmt.Sprint(string(it.Payload), it.Err != nil))
			}
			if want := []string{"afalse", "btrue", "cfalse", "dfalse"}; !slices.Equal(got, want) {
				t.Errorf("the box holds %v, not %v", got, want)
			}
			w.end()
		})
	}
}

// conflicts publishes messages of which some have the id of another payload, and waits for them.
func (w *receiving) conflicts() {
	for _, payload := range []string{"a", "b", "c", "a", "b", "d"} {
		id := "one"
		if payload == "c" || payload == "d" {
			id = payload
		}
		w.publish(source.Message{MessageID: id, Payload: []byte(payload)})
	}
	for s := w.r.Stats(); s.Stored+s.Repeated < 6; s = w.r.Stats() {
		pauseFor(w)
	}
}

func TestWithoutSumsAnIDIsAllThatCounts(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.SumOff = true })
	w.publish(source.Message{MessageID: "1", Payload: []byte("a")}, source.Message{MessageID: "1", Payload: []byte("b")})
	w.acked()
	if it := w.one(); it.Err != nil {
		t.Errorf("the message has the fault %v", it.Err)
	}
	w.end()
}

func TestWhatTheStoreRefusesIsAFault(t *testing.T) {
	t.Parallel()
	w := receive(t, partitions, memstore.Options{}, func(o *receiverOptions) { o.Store, o.TooLarge = small{o.Store}, inbox.KeepHead })
	w.publish(source.Message{MessageID: "1", Payload: make([]byte, 9000)}, source.Message{MessageID: "2", Payload: make([]byte, 11_000)})
	w.acked()
	items := w.box()
	if len(items) != 2 || items[0].Err != nil || items[1].Err == nil {
		t.Errorf("the box holds %+v", items)
	}
	w.end()
}

// small is a store that refuses payloads of more than 10,000 bytes but knows no limit before.
type small struct {
	inbox.Store[*memstore.Tx]
}

func (s small) Append(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
	for i := range msgs {
		if n := len(msgs[i].Payload); n > 10_000 {
			return fmt.Errorf("append: %w", &postbag.MessageError{Index: i, Field: "Payload", Reason: "is too large", Got: n, Allowed: 10_000})
		}
	}
	return s.Store.Append(ctx, tx, box, msgs)
}

// makeByNumber makes a box "numbers" with slots by number.
func makeByNumber(tb testing.TB, s inbox.Store[*memstore.Tx]) string {
	tb.Helper()
	const name = "numbers"
	m, ok := s.(*memstore.Store)
	if !ok {
		tb.Fatal("the store is not in memory")
	}
	if err := m.CreateBoxBy(tb.Context(), name, store.SlotsByNumber); err != nil {
		tb.Fatal(err)
	}
	if err := m.Declare(tb.Context(), []store.Spec{{Ref: store.Ref{Box: name, Subscription: "worker"}, Shards: 1}}); err != nil {
		tb.Fatal(err)
	}
	return name
}

// byNumber has a receiver fill a box with slots by number, with what comes of n messages at once.
func byNumber(tb testing.TB, n int) func(*receiverOptions) {
	tb.Helper()
	return func(o *receiverOptions) { o.Box, o.Source = makeByNumber(tb, o.Store), held(o.Source, n) }
}

func TestAKeyThatIsNoNumberIsAFaultInABoxByNumber(t *testing.T) {
	t.Parallel()
	w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, byNumber(t, 4))
	keys := []string{"1", "a", "2", "a"}
	for i, key := range keys {
		w.publish(of(key, fmt.Sprint(key, i)))
	}
	w.acked()
	items := w.in("numbers")
	if len(items) != 4 {
		t.Fatalf("the box holds %d messages, not 4", len(items))
	}
	for i, key := range keys {
		it := &items[i]
		if faulty := it.Err != nil; faulty != (key == "a") || it.Key != key || string(it.Payload) != fmt.Sprint(key, i) {
			t.Errorf("message %d has the key %q, the payload %q and the fault %v", i, it.Key, it.Payload, it.Err)
		}
	}
	if !strings.Contains(fmt.Sprint(items[1].Err), "by number") || items[1].Slot != items[3].Slot {
		t.Errorf("two messages of one key are in slots %d and %d, with the fault %v", items[1].Slot, items[3].Slot, items[1].Err)
	}
	if s := w.r.Stats(); s.Faulty != 2 || s.Stored != 4 || w.failures() != 2 {
		t.Errorf("it counted %+v, and reported %v", s, w.errs)
	}
	w.end()
}

func TestAKeyThatIsNoNumberEndsRunIfItIsAskedTo(t *testing.T) {
	t.Parallel()
	w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, byNumber(t, 3), func(o *receiverOptions) { o.Faults = inbox.StopOnFaults })
	w.publish(of("1", "1"), of("a", "a"), of("2", "2"))
	if err := <-w.ended; !errors.Is(err, store.ErrNoNumber) {
		t.Errorf("Run ended with %v", err)
	}
	if items := w.in("numbers"); len(items) != 1 || items[0].Key != "1" || w.broker.Unacked("billing") != 2 {
		t.Errorf("stored is %+v, and %d messages are not acknowledged", items, w.broker.Unacked("billing"))
	}
}

// A message with a fault keeps its key, and loses the shard key that made it fit.
func TestAMessageWithAFaultFitsABoxByNumberToo(t *testing.T) {
	t.Parallel()
	w := receive(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, byNumber(t, 2), refuse, func(o *receiverOptions) {
		refuses := o.Edit
		o.Edit = func(out *postbag.Message, from *source.Message) error {
			out.ShardKey = "7"
			return refuses(out, from)
		}
	})
	bad := of("customer", "bad")
	bad.Topic = "refused"
	w.publish(of("customer", "good"), bad)
	w.acked()
	items := w.in("numbers")
	if len(items) != 2 || items[0].Err != nil || items[0].Slot != 7 || items[1].Key != "customer" ||
		!strings.Contains(fmt.Sprint(items[1].Err), "we want none of these") {
		t.Errorf("the box holds %+v", items)
	}
	if w.failures() != 1 {
		t.Errorf("it reported %v", w.errs)
	}
	w.end()
}

func TestBadOptionsOfAReceiverAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := inbox.NewReceiver(receiverOptions{
		Box: "a b", Consumer: "c\n", MaxSize: -1, Messages: store.MaxMarks + 1, Bytes: -1, Grace: -1, Faults: 7, TooLarge: 7,
	})
	for _, field := range []string{"Store", "Source", "Box", "Consumer", "MaxSize", "Messages", "Bytes", "Grace", "Faults", "TooLarge"} {
		if err == nil || !strings.Contains(err.Error(), "ReceiverOptions."+field) {
			t.Errorf("the error does not name %s: %v", field, err)
		}
	}
}

func TestATypeIsDecodedWhereItsTransportEncodesHeaders(t *testing.T) {
	t.Parallel()
	if got := sourcekit.TypeRule("nats")(&source.Message{Headers: headers("Postbag-Type", "a%20b")}); got != "a b" {
		t.Errorf("the type is %q", got)
	}
	if got := sourcekit.TypeRule("kafka")(&source.Message{Headers: headers("Postbag-Type", "a%20b")}); got != "a%20b" {
		t.Errorf("the type is %q", got)
	}
}
