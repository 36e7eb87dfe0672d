package brokertest

import (
	"bytes"
	"context"
	"testing"

	"github.com/postbag/postbag/broker"
)

// transactionCases are those of a destination that declares Transactions.
func transactionCases() []testCase {
	return []testCase{
		{name: "a transaction stores its messages and its record", run: txStores},
		{name: "a lane that was never used has no record", run: txNoRecord},
		{name: "the last record is found by who opens the lane next", run: txLastRecord},
		{name: "a record alone can be committed", run: txRecordAlone},
		{name: "a large record comes back as it was", run: txLargeRecord},
		{name: "messages of a key are stored in order within and across transactions", run: txOrder},
		{name: "who opened a lane before cannot commit on it any more", run: txFences},
		{name: "lanes of other names are left alone", run: txOtherLanes},
		{name: "a lane is opened again and again, and the last one commits", run: txReopened},
		{name: "a message that is refused aborts the transaction, and is named", needs: PartReject, run: txRejected},
		{name: "a transaction after an aborted one stores the rest", needs: PartReject, run: txAfterAbort},
		{name: "a lane is finished once a transaction was not committed", needs: PartReject, run: txFinished},
		{name: "a transaction of a destination that is wrong stores nothing", needs: PartMisconfigured, run: txMisconfigured},
		{name: "a commit whose time is over tells the truth by the next record", run: txOutOfTime},
		{name: "a commit whose answer is lost tells the truth by the next record", needs: PartMute, run: txMuted},
		{name: "a transaction in an outage stores nothing or all, and the record tells", needs: PartOutage, run: txOutage},
		{name: "a lane that is closed commits nothing", run: txClosed},
		{name: "messages of Publish and of transactions live side by side", run: txBesidePublish},
	}
}

func runTransactions(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range transactionCases() {
		t.Run(c.name, func(t *testing.T) {
			if !h.has(c.needs) {
				t.Skipf("the harness lacks %s: %s", c.needs, h.Lacks[c.needs])
			}
			if !h.Serial {
				t.Parallel()
			}
			c.run(newScene(t, h))
		})
	}
}

// enter opens the case's own lane.
func (s *scene) enter() broker.Lane { return s.enterLane("0") }

func (s *scene) enterLane(name string) broker.Lane {
	s.Helper()
	l, err := s.tryLane(s.patient(), name)
	if err != nil {
		s.Fatalf("OpenLane: %v", err)
	}
	return l
}

func (s *scene) tryLane(ctx context.Context, name string) (broker.Lane, error) {
	s.Helper()
	d, ok := broker.TransactionalOf(s.f.Destination)
	if !ok {
		s.Fatal("the destination declares Transactions, and is not broker.Transactional")
	}
	l, err := d.OpenLane(ctx, broker.LaneName{Box: s.f.Topic, Subscription: "default", Lane: name})
	if err != nil {
		s.discreet(err)
		if o := broker.OutcomeOf(err); o != broker.Unavailable && o != broker.Misconfigured {
			s.Errorf("OpenLane fails as %v (%v), want misconfigured or unavailable", o, err)
		}
		return nil, err
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.h.patience())
		defer cancel()
		_ = l.Close(ctx) // a lane that was fenced may say so
	})
	return l, nil
}

// commit makes a transaction and holds what every one must hold.
func (s *scene) commit(ctx context.Context, l broker.Lane, record string, msgs ...broker.Delivery) (broker.TxOutcome, []broker.Result) {
	s.Helper()
	results := make([]broker.Result, len(msgs))
	before := clone(msgs)
	outcome, err := l.Commit(ctx, msgs, []byte(record), results)
	for i := range msgs {
		if d := difference(before[i], received(msgs[i])); d != "" {
			s.Errorf("Commit changed message %d: %s", i, d)
		}
	}
	if (outcome == broker.Committed) != (err == nil) {
		s.Errorf("a transaction is %v with error %v; an error belongs to every outcome but committed", outcome, err)
	}
	if err != nil {
		s.discreet(err)
	}
	switch outcome {
	case broker.Committed:
		s.all(broker.Accepted, results)
		s.sane(results)
	case broker.Aborted:
		s.among(results, broker.Rejected, broker.Misconfigured, broker.Unavailable, broker.NotSent)
		s.sane(results)
	case broker.Unresolved, broker.Fenced:
	}
	return outcome, results
}

// committed makes a transaction that must succeed.
func (s *scene) committed(l broker.Lane, record string, msgs ...broker.Delivery) {
	s.Helper()
	if outcome, _ := s.commit(s.patient(), l, record, msgs...); outcome != broker.Committed {
		s.Fatalf("a transaction is %v, want committed", outcome)
	}
}

// uncommitted makes a transaction that must not succeed.
func (s *scene) uncommitted(l broker.Lane, record string, msgs ...broker.Delivery) broker.TxOutcome {
	s.Helper()
	outcome, _ := s.commit(s.patient(), l, record, msgs...)
	if outcome == broker.Committed {
		s.Error("a transaction is committed that must not be")
	}
	return outcome
}

// recorded wants the lane's record, as who opens it now finds it.
func (s *scene) recorded(want string) broker.Lane {
	s.Helper()
	l := s.enter()
	if got := l.Record(); string(got) != want {
		s.Errorf("the lane's record has %d bytes and is not that of the last committed transaction, of %d", len(got), len(want))
	}
	return l
}

func txStores(s *scene) {
	s.open()
	msgs := s.messages(50)
	s.committed(s.enter(), "first", msgs...)
	s.holds(msgs...)
	s.recorded("first")
}

func txNoRecord(s *scene) {
	s.open()
	if got := s.enter().Record(); got != nil {
		s.Errorf("the record of a new lane has %d bytes, want nil", len(got))
	}
	if got := s.enter().Record(); got != nil {
		s.Errorf("the record of a lane that was opened twice has %d bytes, want nil", len(got))
	}
}

func txLastRecord(s *scene) {
	s.open()
	l := s.enter()
	var sent []broker.Delivery
	for _, record := range []string{"1", "22", "333"} {
		msgs := s.messages(5)
		s.committed(l, record, msgs...)
		sent = append(sent, msgs...)
	}
	l = s.recorded("333")
	s.committed(l, "4444")
	s.recorded("4444")
	s.holds(sent...)
}

func txRecordAlone(s *scene) {
	s.open()
	l := s.enter()
	s.committed(l, "alone")
	s.committed(l, "and again")
	s.recorded("and again")
	s.holds()
}

func txLargeRecord(s *scene) {
	s.open()
	record := string(s.bytes(broker.MaxRecord))
	m := s.message()
	s.committed(s.enter(), record, m)
	if l := s.recorded(record); !bytes.Equal(l.Record(), []byte(record)) {
		s.Error("the record differs from what was committed")
	}
	s.holds(m)
}

func txOrder(s *scene) {
	s.open()
	l := s.enter()
	msgs := append(s.ofKey("a", 60), s.ofKey("b", 60)...)
	var sent []broker.Delivery
	for i := range 60 { // a and b by turns
		sent = append(sent, msgs[i], msgs[60+i])
	}
	for at := 0; at < len(sent); at += 24 {
		s.committed(l, "record", sent[at:at+24]...)
	}
	s.holds(sent...)
}

func txFences(s *scene) {
	s.open()
	old := s.enter()
	first := s.message()
	s.committed(old, "old", first)
	owner := s.recorded("old")
	s.uncommitted(old, "zombie", s.messages(3)...)
	mine := s.message()
	s.committed(owner, "owner", mine)
	s.uncommitted(old, "zombie", s.messages(3)...)
	s.recorded("owner")
	s.holds(first, mine)
}

func txOtherLanes(s *scene) {
	s.open()
	one, other := s.enterLane("0"), s.enterLane("1")
	a, b, c := s.message(), s.message(), s.message()
	s.committed(one, "one", a)
	s.committed(other, "other", b)
	s.committed(one, "one again", c)
	s.recorded("one again")
	s.holds(a, b, c)
}

func txReopened(s *scene) {
	s.open()
	var lanes []broker.Lane
	for range 4 {
		lanes = append(lanes, s.enter())
	}
	last := lanes[len(lanes)-1]
	var sent []broker.Delivery
	for i, l := range lanes[:3] {
		s.uncommitted(l, "zombie", s.message())
		if i == 1 {
			m := s.message()
			s.committed(last, "last", m)
			sent = append(sent, m)
		}
	}
	s.recorded("last")
	s.holds(sent...)
}
