package storetest

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// letterCases are about dead letters, see store.Park.DeadTo.
func letterCases() []scenario {
	return []scenario{
		{name: "A message that dies leaves one whole dead letter, and no other does", needs: deadLetters, run: letterWhole},
		{name: "A lost settlement leaves no dead letter", needs: deadLetters, run: letterLost},
		{name: "A repeated settlement leaves no second dead letter", needs: deadLetters, run: letterRepeat},
		{name: "A dead letter is there as soon as its message is dead", needs: deadLetters, run: letterAtOnce},
		{name: "A message that dies again leaves another dead letter", needs: deadLetters, run: letterAgain},
		{name: "Dead letters come in the sequence of their settlement", needs: deadLetters, run: letterSequence},
		{name: "A dead letter leaves out what only the first destination obeys, and what does not fit", needs: deadLetters, run: letterHeaders},
		{name: "A dead letter has the topic that its settlement says, and names that of its message", needs: deadLetters, run: letterTopic},
		{name: "A dead letter that cannot be written keeps no message alive, and that is said", needs: deadLetters, run: letterRefused},
		{name: "A message that is gone from the log leaves a whole dead letter", needs: deadLetters, run: letterDropped},
		{name: "A row that nobody can read leaves a dead letter that can be read", needs: deadLetters, run: letterUnreadable},
		{name: "A message with the header of a fault leaves a dead letter without it", needs: deadLetters, run: letterFaulty},
		{name: "An erased message leaves a dead letter without its body", needs: deadLetters, run: letterErased},
		{name: "Declare refuses dead letters to a box that does not exist", needs: deadLetters, run: letterNoBox},
	}
}

func deadLetters(f store.Features) bool { return f.DeadLetters }

// letterBox is where dead letters go.
const letterBox = "dead"

var letterRef = store.Ref{Box: letterBox, Subscription: "default"}

// letters makes the box for dead letters, and returns what reads it.
func (e *env) letters() *pager {
	e.Helper()
	e.check(e.Create(e.ctx, letterBox), "create the box of dead letters")
	e.declare(store.Spec{Ref: letterRef, Shards: 1}, store.Spec{Ref: ref, DeadTo: letterBox})
	return e.pager().of(letterRef)
}

// dies returns a park as dead that leaves a letter.
func dies(r store.Record) store.Park {
	p := park(r, store.ParkDead)
	p.Attempts, p.Reason = 7, "refused\nby \x00 ключ"
	p.Cause, p.DeadTo = store.CauseRejected, letterBox
	return p
}

// letterOf fails the case unless a record is the letter of a message of the lot.
func (l *lot) letterOf(got *store.Record, i int) {
	l.Helper()
	m, of := &l.msgs[i], l.at(i)
	if got.Err != nil {
		l.Errorf("a dead letter cannot be read: %v", got.Err)
	}
	if got.ID == m.ID || got.ID.IsZero() || got.Topic != m.Topic || got.Key != m.Key || got.ShardKey != m.ShardKey || got.Type != m.Type || !bytes.Equal(got.Payload, m.Payload) {
		l.Errorf("the dead letter of message %x is %+v", m.ID, got.Message)
	}
	if got.Slot != of.Slot && m.Key != "" {
		l.Errorf("the dead letter of message %x is in slot %d, not %d", m.ID, got.Slot, of.Slot)
	}
	own := maps.Clone(got.Headers)
	maps.DeleteFunc(own, func(name, _ string) bool { return strings.HasPrefix(name, "Dead-Letter-") })
	if !maps.Equal(own, m.Headers) {
		l.Errorf("the dead letter of message %x has the headers %q of its own, not %q", m.ID, own, m.Headers)
	}
	for name, want := range map[string]string{
		store.HeaderDeadBox: box, store.HeaderDeadSubscription: "default", store.HeaderDeadID: m.ID.String(),
		store.HeaderDeadSeq: strconv.FormatInt(of.Seq, 10), store.HeaderDeadAttempts: "7", store.HeaderDeadCause: "rejected",
		store.HeaderDeadStored: of.At.UTC().Format("2006-01-02T15:04:05.000000Z"), store.HeaderDeadLacks: "",
	} {
		if got.Headers[name] != want {
			l.Errorf("the dead letter of message %x has %s: %q, not %q", m.ID, name, got.Headers[name], want)
		}
	}
	if reason := got.Headers[store.HeaderDeadReason]; !strings.HasPrefix(reason, "refused by ") || !strings.Contains(reason, `\u043a`) {
		l.Errorf("the dead letter of message %x has the reason %q", m.ID, reason)
	}
	if got.Headers[store.HeaderDeadAt] < got.Headers[store.HeaderDeadStored] {
		l.Errorf("message %x was stored at %s and dead at %s", m.ID, got.Headers[store.HeaderDeadStored], got.Headers[store.HeaderDeadAt])
	}
}

// come waits for n letters, and fails the case if there are others.
func (c *pager) come(n int) []store.Record {
	c.Helper()
	if c.await(n); len(c.got) != n {
		c.Fatalf("%d dead letters came, want %d", len(c.got), n)
	}
	if more := c.all(); len(more) > 0 {
		c.Fatalf("%d dead letters came, want %d", len(c.got), n)
	}
	return c.got
}

func letterWhole(e *env) {
	l := e.parked("a", "b", "c", "d")
	c := e.letters()
	waits, silent := dies(l.at(1)), dies(l.at(2))
	waits.State, silent.DeadTo = store.ParkRetrying, ""
	if v := l.park(dies(l.at(0)), waits, silent); v.Letters != nil {
		e.Errorf("the dead letter was not written: %v", v.Letters)
	}
	got := c.come(1)
	l.letterOf(&got[0], 0)
	dead := e.list(store.Query{State: store.StateDead})
	if len(dead) != 2 {
		e.Errorf("%d messages are dead, want 2", len(dead))
	}
	// A message that was parked before.
	l.settle(store.Settlement{Park: []store.Park{dies(l.at(1))}})
	got = c.come(2)
	l.letterOf(&got[1], 1)
}

func letterLost(e *env) {
	l := e.parked("a")
	c := e.letters()
	for _, spoil := range []func(*store.Lease){
		func(s *store.Lease) { s.Token++ }, func(s *store.Lease) { s.Version++ }, func(s *store.Lease) { s.Version -= 2 },
	} {
		st := store.Settlement{Lease: l.lease, To: l.next, Park: []store.Park{dies(l.at(0))}}
		spoil(&st.Lease)
		if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; v.Applied {
			e.Fatal("a settlement of another lease is applied")
		}
	}
	l.park(dies(l.at(0)))
	c.come(1)
}

func letterRepeat(e *env) {
	l := e.parked("a", "b")
	c := e.letters()
	st := store.Settlement{Lease: l.lease, To: l.next, Park: []store.Park{dies(l.at(0)), dies(l.at(1))}}
	for range 3 {
		if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; !v.Applied {
			e.Fatal("a repeat is lost")
		}
	}
	c.come(2)
}

func letterAtOnce(e *env) {
	l := e.parked("a")
	c := e.letters()
	st := store.Settlement{Lease: l.lease, To: l.next, Park: []store.Park{dies(l.at(0))}}
	res := e.turn(store.Turn{Settle: []store.Settlement{st}, Read: []store.Request{c.req}})
	if !res.Verdicts[0].Applied || len(res.Batches[0].Records) != 1 {
		e.Errorf("behind the settlement of a death %d dead letters are read, want 1", len(res.Batches[0].Records))
	}
}

func letterAgain(e *env) {
	l := e.parked("a")
	c := e.letters()
	l.park(dies(l.at(0)))
	again := dies(l.at(0))
	again.State, again.Attempts, again.Reason = store.ParkRetrying, 0, ""
	l.settle(store.Settlement{Park: []store.Park{again}})
	l.settle(store.Settlement{Park: []store.Park{dies(l.at(0))}})
	got := c.come(2)
	l.letterOf(&got[0], 0)
	l.letterOf(&got[1], 0)
	if got[0].ID == got[1].ID {
		e.Error("both dead letters of a message that died twice have one id")
	}
}

func letterSequence(e *env) {
	l := e.parked("a", "b", "a", "", "a", "b")
	c := e.letters()
	sequence := []int{4, 0, 5, 3, 2, 1}
	var all []store.Park
	for _, i := range sequence {
		all = append(all, loose(dies(l.at(i))))
	}
	l.park(all...)
	got := c.come(len(sequence))
	slices.SortFunc(got, func(a, b store.Record) int { return int(a.Seq - b.Seq) })
	for k, i := range sequence {
		l.letterOf(&got[k], i)
	}
}

func letterHeaders(e *env) {
	m := e.message("a")
	m.Headers = map[string]string{
		"trace": "kept", "kafka.partition": "9", "rabbitmq.expiration": "1s", "Dead-Letter-Reason": "another",
		"large": strings.Repeat("x", 40<<10), "larger": strings.Repeat(`"`, 11776),
	}
	e.open(1)
	l := &lot{env: e, s: e.Store, r: e.relay("r")}
	l.lease = l.r.take(ref)[0]
	l.msgs = e.publish(m)
	l.more()
	c := e.letters()
	p := dies(l.at(0))
	p.Reason = strings.Repeat("й", 1<<10)
	l.park(p)
	got := c.come(1)[0]
	h := got.Headers
	if h["trace"] != "kept" || h["large"] != "" && h["larger"] != "" || h["kafka.partition"]+h["rabbitmq.expiration"] != "" {
		e.Errorf("the dead letter has %d headers; trace is %q, large has %d bytes, larger %d, and there may be no properties", len(h), h["trace"], len(h["large"]), len(h["larger"]))
	}
	if reason := h[store.HeaderDeadReason]; len(reason) > 512 || !strings.HasPrefix(reason, `\u0439\u0439`) {
		e.Errorf("the dead letter has a reason of %d bytes", len(reason))
	}
}

func letterTopic(e *env) {
	m := e.message("a")
	m.Topic = "заказы"
	e.open(1)
	l := &lot{env: e, s: e.Store, r: e.relay("r")}
	l.lease = l.r.take(ref)[0]
	l.msgs = e.publish(m, e.message("b"), e.message("c"))
	l.more()
	c := e.letters()
	named, other, dead := dies(l.at(0)), dies(l.at(1)), dies(l.at(2))
	named.DeadTopic, other.DeadTopic = "deaths", "deaths.other"
	l.park(named, other, dead)
	got := c.come(3)
	slices.SortFunc(got, func(a, b store.Record) int { return int(a.Seq - b.Seq) })
	for i, want := range []string{"deaths", "deaths.other", l.msgs[2].Topic} {
		if got[i].Topic != want {
			e.Errorf("dead letter %d has the topic %q, not %q", i, got[i].Topic, want)
		}
	}
	for i, want := range []string{`\u0437\u0430\u043a\u0430\u0437\u044b`, l.msgs[1].Topic, ""} {
		if is := got[i].Headers[store.HeaderDeadTopic]; is != want {
			e.Errorf("dead letter %d has %s: %q, not %q", i, store.HeaderDeadTopic, is, want)
		}
	}
	delete(got[1].Headers, store.HeaderDeadTopic)
	got[1].Topic = l.msgs[1].Topic
	l.letterOf(&got[1], 1)
}

func letterRefused(e *env) {
	l := e.parked("a", "b")
	c := e.letters()
	p := dies(l.at(0))
	p.DeadTo = "nowhere"
	st := store.Settlement{Lease: l.lease, To: l.next, Park: []store.Park{p}}
	v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]
	l.lease.Version++
	if !v.Applied || v.Letters == nil {
		e.Fatalf("a death whose letter cannot be written: applied %v, %v", v.Applied, v.Letters)
	}
	if !strings.Contains(v.Letters.Error(), strconv.FormatInt(p.Seq, 10)) || !strings.Contains(v.Letters.Error(), "nowhere") {
		e.Errorf("what is said of it names neither message nor box: %v", v.Letters)
	}
	if dead := e.list(store.Query{State: store.StateDead}); len(dead) != 1 || dead[0].Seq != p.Seq {
		e.Errorf("%d messages are dead, want 1", len(dead))
	}
	said, err := e.operator().Audited(e.ctx, 1)
	if e.check(err, "audit log"); len(said) != 1 || said[0].Who != "postbag" || !strings.HasPrefix(said[0].What, "write no dead letter of "+ref.String()) || !strings.Contains(said[0].What, "nowhere") {
		e.Errorf("the latest entry of the audit log is %+v", said)
	}
	l.settle(store.Settlement{Park: []store.Park{dies(l.at(1))}})
	c.come(1)
}

func letterDropped(e *env) {
	h := e.history(1)
	c := e.letters()
	first := h.records[0]
	h.settleAll(store.Settlement{
		Park:  []store.Park{loose(park(first, store.ParkRetrying))},
		Tally: slices.Concat(tally(store.TallyParked, first), tally(store.TallyDelivered, h.records[1:]...)),
	})
	h.dropped()
	e.settle(&h.leases[0], store.Settlement{Park: []store.Park{loose(dies(first))}})
	got := c.come(1)
	l := &lot{env: e, msgs: []postbag.Message{first.Message}, records: []store.Record{first}}
	l.letterOf(&got[0], 0)
}

func letterUnreadable(e *env) {
	if e.Undecodable == nil {
		e.Skip("every row of the database can be read")
	}
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	e.check(e.Undecodable(e.ctx, box), "plant a row that nobody can read")
	c := e.pager()
	c.await(1)
	odd := c.got[0]
	letters := e.letters()
	e.settle(&lease, store.Settlement{To: c.req.From, Park: []store.Park{dies(odd)}})
	got := letters.come(1)[0]
	if got.Err != nil || got.Headers[store.HeaderDeadSeq] != strconv.FormatInt(odd.Seq, 10) || got.Headers[store.HeaderDeadLacks] == "" {
		e.Errorf("the dead letter of a row that nobody can read: %v, headers %q", got.Err, got.Headers)
	}
}

func letterFaulty(e *env) {
	m := e.message("a")
	m.Headers = map[string]string{store.FaultHeader: "it is too large", "other": "stays"}
	e.open(1)
	lease := e.relay("r").take(ref)[0]
	e.publish(m)
	c := e.pager()
	c.await(1)
	letters := e.letters()
	e.settle(&lease, store.Settlement{To: c.req.From, Park: []store.Park{dies(c.got[0])}})
	got := letters.come(1)[0]
	if got.Err != nil || got.Headers["other"] != "stays" || !bytes.Equal(got.Payload, m.Payload) || got.Key != "a" {
		e.Errorf("the dead letter of a message with a fault: %v, %+v", got.Err, got.Message)
	}
}

func letterErased(e *env) {
	if !e.features.Editing {
		e.Skip("the store erases nothing")
	}
	l := e.parked("a")
	c := e.letters()
	l.settle(store.Settlement{To: l.next, Tally: tally(store.TallyDelivered, l.at(0))})
	if got, err := e.editor().Erase(e.ctx, why, box, []postbag.ID{l.msgs[0].ID}); err != nil || got.Messages != 1 {
		e.Fatalf("erase a delivered message: %+v, %v", got, err)
	}
	l.settle(store.Settlement{Park: []store.Park{dies(l.at(0))}})
	got := c.come(1)[0]
	if got.Err != nil || len(got.Payload) > 0 || got.Key != "" || got.Headers["n"] != "" || got.Headers[store.HeaderDeadID] != l.msgs[0].ID.String() {
		e.Errorf("the dead letter of an erased message: %v, %+v", got.Err, got.Message)
	}
}

func letterNoBox(e *env) {
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	err := e.Store.Declare(e.ctx, []store.Spec{{Ref: ref, DeadTo: "nowhere"}, {Ref: other, Shards: 1}})
	if !errors.Is(err, store.ErrNoBox) || !strings.Contains(err.Error(), "nowhere") {
		e.Errorf("dead letters to a box that does not exist: %v", err)
	}
	if n := len(e.look(other).Shards); n != 1 {
		e.Errorf("the subscription beside it has %d shards, want 1", n)
	}
}
