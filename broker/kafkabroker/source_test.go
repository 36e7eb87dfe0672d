package kafkabroker_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/source"
)

// transact sends records in a transaction, and ends it.
func (p place) transact(t testing.TB, id string, commit kgo.TransactionEndTry, values ...string) {
	t.Helper()
	client := p.producer(t, kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	must(t, client.BeginTransaction())
	for _, v := range values {
		must(t, client.ProduceSync(publishtest.Timeout(t, 30*time.Second), &kgo.Record{Value: []byte(v)}).FirstErr())
	}
	must(t, client.EndTransaction(publishtest.Timeout(t, 30*time.Second), commit))
}

func TestMessagesOfAnAbortedTransactionDoNotComeUnlessAskedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	p.transact(t, p.topic+"-x", kgo.TryCommit, "0", "1")
	p.transact(t, p.topic+"-x", kgo.TryAbort, "100", "101")
	p.transact(t, p.topic+"-x", kgo.TryCommit, "2", "3")
	p.transact(t, p.topic+"-x", kgo.TryAbort, "102")
	s := openSource(t, p.sourceOptions())
	msgs, _ := take(t, s, 4)
	wantValues(t, "committed", values(msgs, ""), count(0, 4))
	quiet(t, s)
	ack(t, s, 0, msgs[3], msgs[1], msgs[0])
	p.awaitCommitted(t, 0, int64(msgs[2].Place.Offset)) // behind the marker and the aborted ones
	ack(t, s, 0, msgs[2])
	p.awaitCommitted(t, 0, 11) // behind the last marker
	lags, err := s.Lag(t.Context())
	if err != nil || len(lags) != 2 || lags[0].Messages != 0 || lags[0].Age != 0 {
		t.Errorf("the lag is %v, %v", lags, err)
	}
	all := p.sourceOptions()
	all.Group, all.ReadUncommitted = "other", true
	msgs, _ = take(t, openSource(t, all), 7)
	wantValues(t, "with those that were not committed", values(msgs, ""), []int{0, 1, 100, 101, 2, 3, 102})
}

func TestTheLagCountsWhatIsAtWorkAndWhatWasNotRead(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	s := openSource(t, p.sourceOptions())
	p.number(t, 1, 0, 30)
	ctx := publishtest.Timeout(t, 40*time.Second)
	batch, err := s.Fetch(ctx, source.Limits{Messages: 10})
	if err != nil {
		t.Fatal(err)
	}
	ack(t, s, 0, batch.Messages[0], batch.Messages[1], batch.Messages[3])
	lags, err := s.Lag(ctx)
	if err != nil || len(lags) != 2 {
		t.Fatalf("the lag is %v, %v", lags, err)
	}
	if lags[0] != (source.Lag{Partition: source.Partition(p.topic + "/0")}) {
		t.Errorf("the lag of the empty partition is %+v", lags[0])
	}
	if l := lags[1]; l.Messages != 28 || l.Age <= 0 || l.Age > time.Minute {
		t.Errorf("the lag is %+v, want 28 messages", l)
	}
}

func TestAGroupWithoutAPositionBeginsAtATime(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	p.number(t, 0, 0, 10)
	o := p.sourceOptions()
	o.From = time.Now().Add(50 * time.Millisecond)
	a := openSource(t, o)
	p.awaitCommitted(t, 0, 10) // before anything was read
	must(t, a.Close(publishtest.Timeout(t, 20*time.Second)))
	p.number(t, 0, 10, 5)
	o.From = time.Now().Add(time.Hour)
	msgs, _ := take(t, openSource(t, o), 5)
	wantValues(t, "after the time", values(msgs, ""), count(10, 5))
}

// retain has the broker delete what is before an offset.
func (p place) retain(t testing.TB, partition int32, from int64) {
	t.Helper()
	offsets := kadm.Offsets{}
	offsets.AddOffset(p.topic, partition, from, -1)
	if _, err := p.admin.DeleteRecords(publishtest.Timeout(t, 20*time.Second), offsets); err != nil {
		t.Fatal(err)
	}
}

func TestMessagesThatWereDeletedUnreadAreAnErrorAndOtherPartitionsGoOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	a := openSource(t, p.sourceOptions())
	p.number(t, 0, 0, 30)
	msgs, _ := take(t, a, 30)
	ack(t, a, 0, msgs[:5]...)
	must(t, a.Close(publishtest.Timeout(t, 20*time.Second)))
	p.retain(t, 0, 20)
	b := openSource(t, p.sourceOptions())
	var err error
	publishtest.Eventually(t, "Fetch says what was deleted", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = b.Fetch(ctx, source.Limits{})
		return errors.Is(err, source.ErrMisconfigured)
	})
	for _, word := range []string{p.topic + "/0", "offset 5", "20 to 30"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	p.number(t, 1, 100, 5)
	came, _ := take(t, b, 5)
	wantValues(t, "of the other partition", values(came, ""), count(100, 5))
	must(t, b.Close(publishtest.Timeout(t, 20*time.Second)))
	if at, _ := p.groupAt(t, 0); at != 5 {
		t.Errorf("the position is %d, and nobody moved it", at)
	}
	resets := make(chan kafkabroker.Reset, 10)
	o := p.sourceOptions()
	o.Reset = func(r kafkabroker.Reset) { resets <- r }
	c := openSource(t, o)
	came, _ = take(t, c, 10+5)
	wantValues(t, "after the reset", values(came, source.Partition(p.topic+"/0")), count(20, 10))
	want := kafkabroker.Reset{Topic: p.topic, Partition: source.Partition(p.topic + "/0"), From: 5, To: 20}
	if r := <-resets; r != want {
		t.Errorf("the callback heard %+v, want %+v", r, want)
	}
	ack(t, c, 0, came...)
	p.awaitCommitted(t, 0, 30)
}

func TestATopicThatIsMadeAgainIsAnErrorOrHasOtherPlaces(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	resets := make(chan kafkabroker.Reset, 10)
	withReset := p.sourceOptions()
	withReset.Group, withReset.Reset = "resets-"+p.topic, func(r kafkabroker.Reset) { resets <- r }
	strict, lenient := openSource(t, p.sourceOptions()), openSource(t, withReset)
	p.number(t, 0, 0, 5)
	before, _ := take(t, strict, 5)
	ack(t, strict, 0, before[0])
	take(t, lenient, 5)
	p.delete(t)
	p.create(t)
	p.number(t, 0, 10, 5)
	var err error
	publishtest.Eventually(t, "Fetch says that the topic was made again", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = strict.Fetch(ctx, source.Limits{})
		return err != nil && strings.Contains(err.Error(), "made again")
	})
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), p.topic) {
		t.Errorf("the error is %v", err)
	}
	var after []source.Message
	publishtest.Eventually(t, "the new topic is read", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		batch, _ := lenient.Fetch(ctx, source.Limits{})
		after = append(after, batch.Messages...)
		return len(after) >= 5
	})
	wantValues(t, "of the new topic", values(after, ""), count(10, 5))
	if after[0].Place == before[0].Place || after[0].Place.Offset != before[0].Place.Offset {
		t.Errorf("messages of two lives have the places %v and %v", before[0].Place, after[0].Place)
	}
	if r := <-resets; r.Topic != p.topic || r.Number != -1 {
		t.Errorf("the callback heard %+v", r)
	}
}

func TestLargeMessagesThatWaitTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t, "max.message.bytes=2000000")
	client := p.producer(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(2_000_000))
	const n, size = 60, 1 << 20
	for i := range n {
		r := &kgo.Record{Partition: int32(i % 2), Value: bytes.Repeat([]byte{byte(i)}, size)}
		copy(r.Value, noise(size))
		must(t, client.ProduceSync(publishtest.Timeout(t, 30*time.Second), r).FirstErr())
	}
	o := p.sourceOptions()
	o.FetchBytes = 4 << 20
	s := openSource(t, o)
	next, paused := map[source.Partition]uint64{}, false
	var most int64
	for came := 0; came < n; {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		batch, err := s.Fetch(ctx, source.Limits{Messages: 1})
		cancel()
		if err != nil {
			t.Fatalf("after %d messages: %v", came, err)
		}
		most = max(most, s.Kept())
		for _, m := range batch.Messages {
			if m.Place.Offset != next[m.Partition] || len(m.Payload) != size {
				t.Fatalf("message %v came with %d bytes, want offset %d", m.Place, len(m.Payload), next[m.Partition])
			}
			next[m.Partition]++
			came++
			switch { // one rests while the other is read to its end
			case !paused:
				s.Pause(m.Partition)
				paused = true
			case next[m.Partition] == n/2:
				s.Resume(source.Partition(p.topic+"/0"), source.Partition(p.topic+"/1"))
			}
		}
	}
	// One answer is kept by the client and one by the source, and each has a batch too much.
	if limit := int64(4 * o.FetchBytes); most > limit {
		t.Errorf("%d bytes were kept, want %d at most", most, limit)
	}
}

func TestAPartitionRestsWhileItsWindowIsFull(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	o := p.sourceOptions()
	o.Window = 10
	s := openSource(t, o)
	p.number(t, 0, 0, 50)
	msgs, _ := take(t, s, 10)
	quiet(t, s)
	ack(t, s, 0, msgs[1:]...)
	quiet(t, s)
	p.number(t, 1, 100, 5)
	other, _ := take(t, s, 5)
	wantValues(t, "of the other partition", values(other, ""), count(100, 5))
	ack(t, s, 0, msgs[0])
	more, _ := take(t, s, 10)
	wantValues(t, "after the ack", values(more, ""), count(10, 10))
}

func TestWhatCannotBeDecompressedComesAsOneMessageAndIsPassed(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	p := newPlace(t, fake.ListenAddrs())
	p.partitions = 1
	p.create(t)
	p.number(t, 0, 0, 3)
	// Both are in one batch, which the client sends compressed only because that makes it smaller.
	bad := p.producer(t, kgo.WithCompressor(garbage{}), kgo.ProducerLinger(time.Second))
	must(t, bad.ProduceSync(publishtest.Timeout(t, 20*time.Second), &kgo.Record{Value: []byte("3")}, &kgo.Record{Value: []byte("4")}).FirstErr())
	p.number(t, 0, 5, 3)
	o := p.sourceOptions()
	o.SessionTimeout = 6 * time.Second // the fake takes no less
	s := openSource(t, o)
	msgs, _ := take(t, s, 7)
	wantValues(t, "that are good", values(msgs, ""), []int{0, 1, 2, 5, 6, 7})
	if m := msgs[3]; !errors.Is(m.Err, source.ErrUndecodable) || m.Place.Offset != 3 || len(m.Headers) > 0 || len(m.Payload) > 0 {
		t.Errorf("in its place came %+v", m)
	}
	ack(t, s, 0, msgs[:4]...)
	must(t, s.Close(publishtest.Timeout(t, 20*time.Second)))
	msgs, _ = take(t, openSource(t, o), 3)
	wantValues(t, "behind it", values(msgs, ""), []int{5, 6, 7})
}

// garbage compresses in a way that nobody can undo.
type garbage struct{}

func (garbage) Compress(dst *bytes.Buffer, _ []byte, _ ...kgo.CompressFlag) ([]byte, kgo.CompressionCodecType) {
	dst.WriteString("no gzip at all")
	return dst.Bytes(), kgo.CodecGzip
}

func TestASourceOfAMissingTopicIsMisconfiguredUntilItIsThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers())
	s := openSource(t, p.sourceOptions())
	_, err := s.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
	if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), p.topic) {
		t.Fatalf("Fetch says %v", err)
	}
	p.create(t).number(t, 0, 0, 3)
	msgs, _ := take(t, s, 3)
	wantValues(t, "of the topic", values(msgs, ""), count(0, 3))
}

func TestASourceWithoutRightsOrLoginIsMisconfigured(t *testing.T) {
	t.Parallel()
	k := secureKafka.get(t)
	p := newPlace(t, k.Brokers()).create(t)
	login := kafkabroker.Login{User: testserver.KafkaUser, Password: testserver.KafkaUserPassword}
	wrong := login
	wrong.Password = "canary-that-is-wrong"
	for name, c := range map[string]struct {
		brokers []string
		login   kafkabroker.Login
		words   string
	}{
		"no right on the topic": {k.SASLPlaintext(), login, "grant"},
		"a wrong password":      {k.SASLPlaintext(), wrong, "Options.Login"},
		"TLS without TLS":       {k.SASLPlaintext(), kafkabroker.Login{User: login.User, Password: login.Password, TLS: &tls.Config{}}, "TLS"},
	} {
		o := p.sourceOptions()
		o.Brokers, o.Login = strings.Join(c.brokers, ","), c.login
		s := openSource(t, o)
		_, err := s.Fetch(publishtest.Timeout(t, 30*time.Second), source.Limits{})
		if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: Fetch says %v", name, err)
		}
	}
	acl := p.admin
	grant := kadm.NewACLs().Allow("User:"+testserver.KafkaUser).AllowHosts("*").Topics(p.topic).Operations(kadm.OpRead, kadm.OpDescribe).ResourcePatternType(kadm.ACLPatternLiteral)
	if _, err := acl.CreateACLs(publishtest.Timeout(t, 20*time.Second), grant); err != nil {
		t.Fatal(err)
	}
	o := p.sourceOptions()
	o.Brokers, o.Login = strings.Join(k.SASLPlaintext(), ","), login
	s := openSource(t, o)
	publishtest.Eventually(t, "Fetch names the group", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := s.Fetch(ctx, source.Limits{})
		return errors.Is(err, source.ErrMisconfigured) && strings.Contains(err.Error(), "Read on the group")
	})
}

func TestEveryCodeOfTheProtocolHasAClassForASource(t *testing.T) {
	t.Parallel()
	misconfigured := []*kerr.Error{
		kerr.UnknownTopicOrPartition, kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.SaslAuthenticationFailed,
		kerr.FencedInstanceID, kerr.InvalidSessionTimeout, kerr.InconsistentGroupProtocol, kerr.UnsupportedVersion, kerr.InvalidGroupID,
	}
	unavailable := []*kerr.Error{
		kerr.CoordinatorNotAvailable, kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.LeaderNotAvailable, kerr.NotLeaderForPartition,
		kerr.RequestTimedOut, kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress, kerr.NetworkException,
	}
	for code := int16(1); code < 140; code++ {
		e, ok := kerr.ErrorForCode(code).(*kerr.Error) //nolint:errorlint // it is that type
		if !ok {
			continue
		}
		err := kafkabroker.SourceFailure("group g", e)
		is := errors.Is(err, source.ErrMisconfigured)
		if is == errors.Is(err, source.ErrUnavailable) || slices.Contains(misconfigured, e) && !is || slices.Contains(unavailable, e) && is {
			t.Errorf("%v is %v", e, err)
		}
		if strings.Contains(err.Error(), "Write") || strings.Contains(err.Error(), "send the message") {
			t.Errorf("%v tells a reader what to do as a sender: %v", e, err)
		}
	}
}

func TestFaultsOfSourceOptionsAreAllNamed(t *testing.T) {
	t.Parallel()
	good := kafkabroker.SourceOptions{Brokers: "localhost:9092", Group: "g", Topics: []string{"t"}}
	must(t, good.Validate())
	bad := kafkabroker.SourceOptions{
		Topics: []string{"a/b"}, Pattern: "(", SessionTimeout: time.Second, HeartbeatInterval: time.Second, RebalanceTimeout: time.Nanosecond,
		Refresh: -1, FetchBytes: 1, PartitionBytes: 1 << 40, Window: -1, Login: kafkabroker.Login{Mechanism: "x"},
	}
	err := bad.Validate()
	if err == nil {
		t.Fatal("no fault")
	}
	for _, field := range []string{
		"broker", "Group", "one of Topics and Pattern", "a/b", "regular expression", "HeartbeatInterval", "RebalanceTimeout", "Refresh",
		"FetchBytes", "PartitionBytes", "Window", "Mechanism",
	} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%s is not named in %v", field, err)
		}
	}
	if _, err := kafkabroker.OpenSource(t.Context(), bad); err == nil {
		t.Error("OpenSource takes them")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kafkabroker.OpenSource(over, good); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is over it says %v", err)
	}
}

// Ack, Release, Pause and Lag beside a Fetch, while the group is shared again and
// again: nothing is left out, and each partition comes in order between losses.
func TestNothingIsLeftOutWhileMembersComeAndGo(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	const n = 400
	var mu sync.Mutex
	applied := map[source.Partition]map[uint64]bool{}
	work := func(ctx context.Context, s *kafkabroker.Source) {
		next := map[source.Partition]uint64{}
		for i := 0; ; i++ {
			batch, err := s.Fetch(ctx, source.Limits{Messages: 7})
			if ctx.Err() != nil || errors.Is(err, source.ErrClosed) {
				return
			}
			for _, l := range batch.Lost {
				delete(next, l)
			}
			var receipts []source.Receipt
			mu.Lock()
			for _, m := range batch.Messages {
				if before, there := next[m.Partition]; there && m.Place.Offset != before {
					t.Errorf("message %v came, want offset %d", m.Place, before)
				}
				next[m.Partition] = m.Place.Offset + 1
				for offset := range m.Place.Offset {
					if !applied[m.Partition][offset] {
						t.Errorf("message %v came before %d was applied", m.Place, offset)
					}
				}
				if applied[m.Partition] == nil {
					applied[m.Partition] = map[uint64]bool{}
				}
				applied[m.Partition][m.Place.Offset] = true
				receipts = append(receipts, m.Receipt)
			}
			mu.Unlock()
			slices.Reverse(receipts)
			if i%5 == 4 && len(receipts) > 0 {
				_ = s.Release(ctx, receipts[:1], time.Millisecond)
			}
			_, _ = s.Ack(ctx, receipts)
		}
	}
	ctx, enough := context.WithCancel(publishtest.Timeout(t, time.Minute))
	var workers sync.WaitGroup
	a := openSource(t, p.sourceOptions())
	workers.Go(func() { work(ctx, a) })
	for round := range 4 {
		p.number(t, 0, round*n/4, n/4)
		p.number(t, 1, round*n/4, n/4)
		b := openSource(t, p.sourceOptions())
		workers.Go(func() { work(ctx, b) })
		publishtest.Eventually(t, "two have joined", func() bool { return len(p.members(t)) == 2 })
		if round%2 == 0 {
			must(t, b.Close(publishtest.Timeout(t, 30*time.Second)))
		} else {
			p.kill(t, b)
		}
	}
	publishtest.Eventually(t, "all came", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(applied[source.Partition(p.topic+"/0")]) == n && len(applied[source.Partition(p.topic+"/1")]) == n
	})
	enough()
	workers.Wait()
}
