package kafkabroker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/source"
)

func TestAPartitionThatMovesIsNamedLostAndGoesOnBehindWhatWasAcked(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	a := openSource(t, p.sourceOptions().CommittingEvery(5*time.Minute))
	p.number(t, 0, 0, 20)
	p.number(t, 1, 0, 20)
	msgs, _ := take(t, a, 40)
	var first []source.Message
	for _, m := range msgs {
		if m.Place.Offset < 10 {
			first = append(first, m)
		}
	}
	ack(t, a, 0, first...) // it is not committed until the group is rebalanced, and then before the partition goes
	b := openSource(t, p.sourceOptions())
	came, _ := take(t, b, 10)
	wantValues(t, "to the member that joined", values(came, ""), count(10, 10))
	moved := came[0].Partition
	_, lost := takeLost(t, a)
	if !slices.Equal(lost, []source.Partition{moved}) {
		t.Errorf("Fetch names the lost partitions %q, want %q", lost, moved)
	}
	var late, kept []source.Message
	for _, m := range msgs {
		if m.Place.Offset >= 10 && m.Partition == moved {
			late = append(late, m)
		} else if m.Place.Offset >= 10 {
			kept = append(kept, m)
		}
	}
	ack(t, a, 10, late...)
	ack(t, a, 0, kept...)
	ack(t, b, 0, came...)
	quiet(t, a)
	must(t, a.Close(publishtest.Timeout(t, 20*time.Second)))
	p.awaitCommitted(t, 0, 20)
	p.awaitCommitted(t, 1, 20)
	if _, leader := p.groupAt(t, 0); leader < 0 {
		t.Error("the position has no leader epoch")
	}
}

// takeLost fetches until a partition is lost.
func takeLost(t testing.TB, s source.Source) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	ctx := publishtest.Timeout(t, 40*time.Second)
	for len(lost) == 0 {
		batch, err := s.Fetch(ctx, source.Limits{})
		if err != nil && (ctx.Err() != nil || !errors.Is(err, source.ErrUnavailable)) {
			t.Fatalf("Fetch: %v", err)
		}
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
	}
	return msgs, lost
}

func TestWhatAMemberThatDiedHadGoesToTheOtherInOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	a, b := openSource(t, p.sourceOptions()), openSource(t, p.sourceOptions())
	publishtest.Eventually(t, "the group has two members", func() bool { return len(p.members(t)) == 2 })
	p.number(t, 0, 0, 10)
	p.number(t, 1, 0, 10)
	got := map[source.Partition][]int{}
	work := func(s source.Source, n int) {
		for n > 0 {
			batch, err := s.Fetch(publishtest.Timeout(t, 40*time.Second), source.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range batch.Messages {
				got[m.Partition] = append(got[m.Partition], values([]source.Message{m}, "")...)
			}
			n -= len(batch.Messages)
		}
	}
	work(a, 1) // it has something, and acks nothing
	p.kill(t, a)
	clear(got)
	work(b, 20)
	for partition, came := range got {
		wantValues(t, "of "+string(partition), came, count(0, 10))
	}
}

// The group waits for the dead member, and lets the new one in when it has given it up. A service that is to end meanwhile hung
// in Close until then.
func TestAMemberThatWaitsBehindADeadOneLeavesAtOnce(t *testing.T) {
	t.Parallel()
	for _, instance := range []string{"", "one"} {
		t.Run(instance, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
			o := p.sourceOptions()
			o.SessionTimeout = 25 * time.Second
			a := openSource(t, o)
			publishtest.Eventually(t, "the first has joined", func() bool { return len(p.members(t)) == 1 })
			dead := a.MemberID()
			a.Crash()
			o.InstanceID = instance
			b := openSource(t, o)
			group := p.sourceOptions().Group
			publishtest.Eventually(t, "the second waits for the first", func() bool {
				all, err := p.admin.DescribeGroups(publishtest.Timeout(t, 20*time.Second), group)
				return err == nil && all[group].State == "PreparingRebalance"
			})
			must(t, b.Close(publishtest.Timeout(t, 40*time.Second)))
			if left := p.members(t); !slices.Contains(left, dead) {
				t.Errorf("it left when the dead member had been given up: there are %q", left)
			}
		})
	}
}

func TestAStaticMemberThatRestartsGetsItsPartitionsBackWithoutARebalance(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	static := p.sourceOptions()
	static.InstanceID, static.SessionTimeout = "one", 30*time.Second
	other := static
	other.InstanceID = "two"
	a, b := openSource(t, static), openSource(t, other)
	p.number(t, 0, 0, 5)
	p.number(t, 1, 0, 5)
	ofA, _ := take(t, a, 1)
	publishtest.Eventually(t, "both have joined", func() bool { return len(p.members(t)) == 2 })
	ofB, _ := take(t, b, 5)
	notOfB := func(m source.Message) bool { return m.Partition != ofB[0].Partition }
	for !slices.ContainsFunc(ofA, notOfB) { // a had it before b came
		ofA, _ = take(t, a, 1)
	}
	mine := ofA[slices.IndexFunc(ofA, notOfB)].Partition
	must(t, a.Close(publishtest.Timeout(t, 20*time.Second)))
	quiet(t, b) // what the first had is kept for it
	again := openSource(t, static)
	back, _ := take(t, again, 5)
	wantValues(t, "to the member that came back", values(back, mine), count(0, 5))
	p.number(t, numberOf(t, ofB[0]), 5, 1)
	more, lost := take(t, b, 1)
	if len(lost) > 0 || more[0].Partition != ofB[0].Partition {
		t.Errorf("the other member lost %q", lost)
	}
}

func TestASecondMemberOfTheSameNameEndsTheFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	o := p.sourceOptions()
	o.InstanceID = "one"
	a := openSource(t, o)
	p.number(t, 0, 0, 3)
	msgs, _ := take(t, a, 3)
	b := openSource(t, o)
	_, lost := takeLost(t, a)
	if !slices.Equal(lost, []source.Partition{msgs[0].Partition}) {
		t.Errorf("lost is %q", lost)
	}
	for range 2 {
		_, err := a.Fetch(publishtest.Timeout(t, 20*time.Second), source.Limits{})
		if !errors.Is(err, source.ErrMisconfigured) || !strings.Contains(err.Error(), "InstanceID") {
			t.Errorf("Fetch says %v", err)
		}
	}
	ack(t, a, 3, msgs...)
	came, _ := take(t, b, 3)
	wantValues(t, "to the second", values(came, ""), count(0, 3))
}

// The first member is evicted, and its next heartbeat is far away: it is a zombie.
func TestAnAckOfAZombieDoesNotSetBackThePositionOfTheNewOwner(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	o := p.sourceOptions()
	o.SessionTimeout, o.HeartbeatInterval = 30*time.Second, 10*time.Second
	a := openSource(t, o)
	p.number(t, 0, 0, 20)
	msgs, _ := take(t, a, 20)
	p.evict(t, a.MemberID())
	b := openSource(t, o)
	came, _ := take(t, b, 20)
	wantValues(t, "to the new owner", values(came, ""), count(0, 20))
	ack(t, b, 0, came...)
	p.awaitCommitted(t, 0, 20)
	if _, err := a.Ack(t.Context(), []source.Receipt{msgs[0].Receipt, msgs[1].Receipt}); err != nil {
		t.Error(err) // it may count as lost, or get lost later
	}
	if _, lost := takeLost(t, a); !slices.Equal(lost, []source.Partition{msgs[0].Partition}) {
		t.Errorf("the zombie lost %q", lost)
	}
	if at, _ := p.groupAt(t, 0); at != 20 {
		t.Errorf("the zombie set the position to %d", at)
	}
	ack(t, a, 20, msgs...)
	p.number(t, 0, 20, 5)
	p.number(t, 1, 20, 5) // one of the two has it
	all := map[int]bool{}
	publishtest.Eventually(t, "the two go on together", func() bool {
		for _, s := range []source.Source{a, b} {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			batch, _ := s.Fetch(ctx, source.Limits{})
			cancel()
			for _, m := range batch.Messages {
				all[int(m.Place.Offset)+100*int(m.Partition[len(m.Partition)-1])] = true
			}
		}
		return len(all) >= 10
	})
}

func TestATopicThatComesLaterIsReadIfItMatchesThePattern(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	o := p.sourceOptions()
	o.Topics, o.Pattern = nil, strings.ReplaceAll(p.topic, ".", `\.`)+`(-later)?`
	s := openSource(t, o)
	p.number(t, 0, 0, 3)
	first, _ := take(t, s, 3)
	ack(t, s, 0, first...)
	later, outside := p, p
	later.topic, outside.topic = p.topic+"-later", p.topic+"-later-not"
	later.create(t).number(t, 1, 10, 5)
	outside.create(t).number(t, 1, 20, 5)
	came, lost := take(t, s, 5)
	wantValues(t, "of the later topic", values(came, ""), count(10, 5))
	if len(lost) > 0 || came[0].Topic != later.topic {
		t.Errorf("messages of %q came, and %q was lost", came[0].Topic, lost)
	}
	quiet(t, s)
}

func TestAPartitionThatIsAddedIsReadFromItsFirstMessage(t *testing.T) {
	t.Parallel()
	p := newPlace(t, plainKafka.get(t).Brokers()).create(t)
	s := openSource(t, p.sourceOptions())
	p.number(t, 0, 0, 3)
	take(t, s, 3)
	if _, err := p.admin.UpdatePartitions(publishtest.Timeout(t, 20*time.Second), 3, p.topic); err != nil {
		t.Fatal(err)
	}
	p.partitions = 3
	p.led(t)
	p.number(t, 2, 50, 5)
	came, lost := take(t, s, 5)
	wantValues(t, "of the new partition", values(came, ""), count(50, 5))
	if len(lost) > 0 {
		t.Errorf("%q was lost", lost)
	}
}

func TestABrokerThatRestartsCostsNoMessageAndNoOrder(t *testing.T) {
	t.Parallel()
	k := frailKafka(t)
	p := newPlace(t, k.Brokers()).create(t)
	s := openSource(t, p.sourceOptions())
	p.number(t, 0, 0, 100)
	msgs, _ := take(t, s, 100)
	ack(t, s, 0, msgs[:50]...)
	p.awaitCommitted(t, 0, 50)
	must(t, k.Kill(t.Context()))
	ack(t, s, 0, msgs[50:60]...)
	must(t, k.Start(t.Context()))
	p.led(t)
	p.number(t, 0, 100, 20)
	next, seen := 100, map[int]bool{}
	for !seen[119] {
		more, lost := take(t, s, 1)
		if len(lost) > 0 {
			next = 60 // the group forgot the member, and what was not acked comes again
			if at, _ := p.groupAt(t, 0); at == 50 {
				next = 50
			}
		}
		for _, n := range values(more, "") {
			if n != next {
				t.Fatalf("message %d came, want %d", n, next)
			}
			seen[n] = true
			next++
		}
	}
	var rest []source.Message
	rest = append(rest, msgs[60:]...)
	receipts := make([]source.Receipt, len(rest))
	for i, m := range rest {
		receipts[i] = m.Receipt
	}
	if _, err := s.Ack(t.Context(), receipts); err != nil {
		t.Error(err)
	}
}
