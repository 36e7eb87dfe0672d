package kafkabroker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/internal/publishtest"
)

// withLanes are options with transactions. The topic of records is the test's own.
func (p place) withLanes() kafkabroker.Options {
	return kafkabroker.Options{Transactions: &kafkabroker.Transactions{Topic: p.topic + ".lanes"}}
}

func laneOf(p place) broker.LaneName {
	return broker.LaneName{Box: "outbox", Subscription: p.topic, Lane: "0"}
}

func open(t testing.TB, d *kafkabroker.Destination, name broker.LaneName) broker.Lane {
	t.Helper()
	var l broker.Lane
	publishtest.Eventually(t, "the lane is open", func() bool {
		var err error
		l, err = d.OpenLane(publishtest.Timeout(t, 30*time.Second), name)
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	return l
}

func commit(t testing.TB, l broker.Lane, record string, msgs ...broker.Delivery) (broker.TxOutcome, []broker.Result, error) {
	t.Helper()
	results := make([]broker.Result, len(msgs))
	outcome, err := l.Commit(publishtest.Timeout(t, 40*time.Second), msgs, []byte(record), results)
	if (outcome == broker.Committed) != (err == nil) {
		t.Errorf("%v with error %v", outcome, err)
	}
	return outcome, results, err
}

// committed are the messages that a consumer of committed ones sees.
func (p place) committed(t testing.TB) []*kgo.Record {
	t.Helper()
	return p.read(t, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

// onBoth runs a test on a real Kafka and on the fake.
func onBoth(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, newPlace(t, plainKafka.get(t).Brokers()).create(t))
	})
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		fake, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(fake.Close)
		test(t, newPlace(t, fake.ListenAddrs()).create(t))
	})
}

func TestALaneStoresMessagesAndItsRecordTogether(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p place) {
		d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
		l := open(t, d, laneOf(p))
		if r := l.Record(); r != nil {
			t.Errorf("a new lane has the record %q", r)
		}
		for i := range 5 {
			outcome, results, err := commit(t, l, fmt.Sprintf("record %d", i), publishtest.Messages(p.topic, 20*i)...)
			if outcome != broker.Committed {
				t.Fatalf("%v: %v", outcome, err)
			}
			publishtest.Wants(t, results, broker.Accepted, "")
		}
		if n := len(p.committed(t)); n != 200 {
			t.Errorf("a consumer sees %d messages, want 200", n)
		}
		must(t, l.Close(t.Context()))
		another := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
		if r := open(t, another, laneOf(p)).Record(); string(r) != "record 4" {
			t.Errorf("the record is %q, want the last", r)
		}
		other := laneOf(p)
		other.Lane = "1"
		if r := open(t, another, other).Record(); r != nil {
			t.Errorf("another lane has the record %q", r)
		}
	})
}

func TestOpeningALaneFencesItsPreviousOwner(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p place) {
		first, second := publishtest.Closing(t, dial(t, p.brokers, p.withLanes())), publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
		old := open(t, first, laneOf(p))
		if outcome, _, err := commit(t, old, "old", publishtest.Messages(p.topic, 3)...); outcome != broker.Committed {
			t.Fatalf("%v: %v", outcome, err)
		}
		fresh := open(t, second, laneOf(p))
		if r := fresh.Record(); string(r) != "old" {
			t.Errorf("the record is %q", r)
		}
		outcome, _, err := commit(t, old, "zombie", publishtest.Messages(p.topic, 3)...)
		if outcome == broker.Committed {
			t.Fatal("a lane that was opened by another can still commit")
		}
		t.Log(outcome, err)
		outcome, results, err := commit(t, old, "zombie", publishtest.Messages(p.topic, 3)...)
		if outcome != broker.Aborted || !errors.Is(err, broker.ErrLane) {
			t.Errorf("a finished lane says %v: %v", outcome, err)
		}
		publishtest.Wants(t, results, broker.NotSent, broker.ErrLane.Error())
		if outcome, _, err := commit(t, fresh, "new", publishtest.Messages(p.topic, 3)...); outcome != broker.Committed {
			t.Fatalf("%v: %v", outcome, err)
		}
		if n := len(p.committed(t)); n != 6 {
			t.Errorf("a consumer sees %d messages, want 6", n)
		}
	})
}

func TestATransactionWithABadMessageIsAbortedAndNamesIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
	const bad = 7
	for name, c := range map[string]struct {
		before func()
		spoil  func(m *broker.Delivery)
		want   broker.Outcome
		word   string
	}{
		"seen before": {
			spoil: func(m *broker.Delivery) { m.Payload = make([]byte, 2<<20) }, want: broker.Rejected, word: "the topic allows",
		},
		"a topic that is not there": {
			spoil: func(m *broker.Delivery) { m.Topic = p.topic + ".nowhere" }, want: broker.Misconfigured, word: "does not exist",
		},
		"found by the broker": {
			before: func() { p.set(t, "max.message.bytes", "3000") },
			spoil:  func(m *broker.Delivery) { m.Payload = noise(4000) }, want: broker.Rejected, word: "MESSAGE_TOO_LARGE",
		},
	} {
		l := open(t, d, laneOf(p))
		if outcome, _, err := commit(t, l, "before "+name, publishtest.Messages(p.topic, 1)...); outcome != broker.Committed {
			t.Fatalf("%s: %v: %v", name, outcome, err)
		}
		if c.before != nil {
			c.before()
		}
		before := len(p.committed(t))
		msgs := publishtest.Messages(p.topic, 20)
		c.spoil(&msgs[bad])
		outcome, results, err := commit(t, l, "spoilt", msgs...)
		if outcome != broker.Aborted {
			t.Errorf("%s: %v: %v", name, outcome, err)
		}
		publishtest.Wants(t, results[bad:bad+1], c.want, c.word)
		publishtest.Wants(t, append(results[:bad:bad], results[bad+1:]...), broker.NotSent, "another message")
		if after := len(p.committed(t)); after != before {
			t.Errorf("%s: a consumer sees %d messages of an aborted transaction", name, after-before)
		}
		if r := open(t, d, laneOf(p)).Record(); string(r) != "before "+name {
			t.Errorf("%s: the record is %q", name, r)
		}
	}
}

func TestALaneWhoseContextIsOverSendsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
	l := open(t, d, laneOf(p))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	results := make([]broker.Result, 2)
	if outcome, err := l.Commit(over, publishtest.Messages(p.topic, 2), nil, results); outcome != broker.Aborted || err == nil {
		t.Errorf("%v: %v", outcome, err)
	}
	publishtest.Wants(t, results, broker.NotSent, "")
	if _, err := d.OpenLane(over, laneOf(p)); broker.OutcomeOf(err) != broker.Unavailable {
		t.Errorf("OpenLane: %v", err)
	}
}

func TestALaneKeepsTheLargestRecord(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p place) {
		d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
		l := open(t, d, laneOf(p))
		record := noise(broker.MaxRecord)
		results := make([]broker.Result, 1)
		if outcome, err := l.Commit(publishtest.Timeout(t, 30*time.Second), publishtest.Messages(p.topic, 1), record, results); outcome != broker.Committed {
			t.Fatalf("%v: %v", outcome, err)
		}
		if got := open(t, d, laneOf(p)).Record(); !bytes.Equal(got, record) {
			t.Errorf("the record has %d bytes and is not the one that was stored", len(got))
		}
	})
}

// Many records of other lanes lie behind the one that is looked for.
func TestARecordIsFoundBehindManyOthers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p place) {
		lanes := p
		lanes.topic, lanes.partitions = p.topic+".lanes", 1
		lanes.create(t, "cleanup.policy=compact")
		d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
		if outcome, _, err := commit(t, open(t, d, laneOf(p)), "found"); outcome != broker.Committed {
			t.Fatalf("%v: %v", outcome, err)
		}
		busy := laneOf(p)
		busy.Lane = "busy"
		l := open(t, d, busy)
		for i := range 60 {
			if outcome, _, err := commit(t, l, fmt.Sprint(i)); outcome != broker.Committed {
				t.Fatalf("%v: %v", outcome, err)
			}
		}
		if r := open(t, d, laneOf(p)).Record(); string(r) != "found" {
			t.Errorf("the record is %q", r)
		}
	})
}

func TestALaneThatCannotBeOpenedIsMisconfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	without := publishtest.Closing(t, dial(t, p.brokers, kafkabroker.Options{}))
	if _, err := without.OpenLane(t.Context(), laneOf(p)); broker.OutcomeOf(err) != broker.Misconfigured {
		t.Errorf("without the option: %v", err)
	}
	o := p.withLanes()
	o.Transactions.Topic = p.topic // not compacted
	forgetful := publishtest.Closing(t, dial(t, p.brokers, o))
	if _, err := forgetful.OpenLane(t.Context(), laneOf(p)); broker.OutcomeOf(err) != broker.Misconfigured {
		t.Errorf("with a topic that forgets: %v", err)
	}

	k := secureKafka.get(t)
	mine := newPlace(t, k.Brokers())
	mine.topic += ".lanes"
	mine.create(t, "cleanup.policy=compact")
	mine.grant(t, kadm.OpWrite, kadm.OpRead)
	o = kafkabroker.Options{Transactions: &kafkabroker.Transactions{Topic: mine.topic}, Login: login(kafkabroker.Plain)}
	shut := publishtest.Closing(t, dial(t, k.SASLPlaintext(), o))
	publishtest.Eventually(t, "the missing right to the transactional id shows", func() bool {
		_, err := shut.OpenLane(publishtest.Timeout(t, 20*time.Second), laneOf(p))
		return broker.OutcomeOf(err) == broker.Misconfigured && strings.Contains(err.Error(), "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
	})
}

// It cost a relay the minute until it looked at the topic again, and the error named no topic.
func TestALaneIsOpenedAnewAtOnceAfterItsTopicWasDeleted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	o := p.withLanes()
	o.Recheck = time.Hour
	d := publishtest.Closing(t, dial(t, p.brokers, o))
	l := open(t, d, laneOf(p))
	if outcome, _, err := commit(t, l, "one", publishtest.Messages(p.topic, 3)...); outcome != broker.Committed {
		t.Fatalf("%v: %v", outcome, err)
	}
	records := p
	records.topic = o.Transactions.Topic
	records.delete(t)
	named := false
	publishtest.Eventually(t, "a transaction fails for the topic", func() bool {
		outcome, _, err := commit(t, l, "two", publishtest.Messages(p.topic, 3)...)
		named = err != nil && strings.Contains(err.Error(), o.Transactions.Topic)
		return outcome != broker.Committed
	})
	if !named {
		t.Error("the error does not name the topic of records")
	}
	must(t, l.Close(t.Context()))
	l = open(t, d, laneOf(p))
	if outcome, _, err := commit(t, l, "three", publishtest.Messages(p.topic, 3)...); outcome != broker.Committed {
		t.Errorf("%v: %v", outcome, err)
	}
}

// ledger is what a relay's database would hold: how many messages are delivered.
// Who has the lease may settle.
type ledger struct {
	mu    sync.Mutex
	owner int
	next  int
}

func (l *ledger) take(me int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner = me
}

func (l *ledger) settle(me, to int) (mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == me {
		l.next = max(l.next, to)
	}
	return l.owner == me
}

func (l *ledger) look(me int) (next int, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next, l.owner == me
}

// Owners follow each other at any moment: some give up within a commit as if they
// had died, others go on as zombies beside their successor.
func TestAReadCommittedConsumerSeesEachMessageOnce(t *testing.T) {
	t.Parallel()
	owners := 12
	if os.Getenv("POSTBAG_FULL") == "1" {
		owners = 60
	}
	onBoth(t, func(t *testing.T, p place) {
		all := publishtest.Messages(p.topic, 200*owners)
		l := &ledger{owner: -1}
		var zombies sync.WaitGroup
		for me := range owners {
			last := me == owners-1
			died := make(chan struct{})
			zombies.Go(func() { own(t, p, l, me, all, last, died) })
			<-died
		}
		zombies.Wait()
		if l.next != len(all) {
			t.Errorf("%d messages are settled of %d", l.next, len(all))
		}
		seen := map[postbag.ID]int{}
		for _, r := range p.committed(t) {
			m, err := kafkabroker.Message(r)
			must(t, err)
			seen[m.ID]++
		}
		for i, m := range all {
			if seen[m.ID] != 1 {
				t.Errorf("message %d is seen %d times", i, seen[m.ID])
			}
		}
	})
}

// own is one owner's life. died is closed when a successor may begin.
func own(t *testing.T, p place, l *ledger, me int, all []broker.Delivery, last bool, died chan struct{}) {
	d := publishtest.Closing(t, dial(t, p.brokers, p.withLanes()))
	chance := rand.New(rand.NewPCG(uint64(me), 7))
	lives, zombie := 1+chance.IntN(6), chance.IntN(2) == 0
	l.take(me)
	var once sync.Once
	die := func() { once.Do(func() { close(died) }) }
	defer die()
	for {
		lane, err := d.OpenLane(publishtest.Timeout(t, time.Minute), laneOf(p))
		next, mine := l.look(me)
		if !mine {
			return
		}
		if err != nil {
			continue
		}
		if r := lane.Record(); r != nil { // Kafka is ahead of the database
			var n int
			_, _ = fmt.Sscan(string(r), &n)
			if !l.settle(me, n) {
				return
			}
			next = max(next, n)
		}
		for next < len(all) {
			to := min(next+40+chance.IntN(40), len(all))
			if lives--; lives == 0 && !last {
				if !zombie { // it dies somewhere within
					ctx := publishtest.Timeout(t, time.Duration(chance.IntN(20_000))*time.Microsecond)
					_, _ = lane.Commit(ctx, all[next:to], fmt.Append(nil, to), make([]broker.Result, to-next))
					return
				}
				die()
			}
			outcome, err := lane.Commit(publishtest.Timeout(t, time.Minute), all[next:to], fmt.Append(nil, to), make([]broker.Result, to-next))
			if outcome != broker.Committed {
				t.Logf("owner %d: %v: %v", me, outcome, err)
				break // open it again, if it is mine
			}
			if !l.settle(me, to) {
				return
			}
			next = to
		}
		if next == len(all) {
			return
		}
		if _, mine := l.look(me); !mine {
			return
		}
	}
}
