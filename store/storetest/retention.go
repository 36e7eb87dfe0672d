package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// lifetimeCases are about what a box holds of its retention.
func lifetimeCases() []scenario {
	return []scenario{
		{name: "A box that nobody says anything of has the default", needs: editing, run: lifetimesUnset},
		{name: "Housekeeping goes by the box, whatever the relay says", needs: editing, run: lifetimesOfBox},
		{name: "What relays say holds where operators say nothing", needs: editing, run: lifetimesDeployed},
		{name: "Two relays that say different lifetimes cannot alternate", needs: editing, run: lifetimesDisputed},
		{name: "A retention that is not set is refused, and one that is set is audited", needs: editing, run: lifetimesAudited},
		{name: "A discarded message stays for its time, and what is behind it", needs: editing, run: lifetimesDiscarded},
		{name: "A dead message whose time is over gets a discard, once", needs: editing, run: lifetimesDead},
		{name: "A dead message that somebody has retried gets no discard", needs: editing, run: lifetimesRetried},
		{name: "A dead message is as old as its death", needs: editing, run: lifetimesOfDeath},
		{name: "What would go is counted", needs: editing, run: lifetimesCounted},
	}
}

func (e *env) retainer() store.Retainer {
	e.Helper()
	r, ok := e.Store.(store.Retainer)
	if !ok {
		e.Fatal("the store declares Editing and is no Retainer")
	}
	return r
}

// keeps sets lifetimes, as an operator.
func (e *env) keeps(l store.Lifetimes) {
	e.Helper()
	e.check(e.retainer().SetRetention(e.ctx, why, box, l), "set the retention")
}

// deploy says lifetimes, as a relay.
func (e *env) deploy(l store.Lifetimes, refused time.Duration) store.BoxRetention {
	e.Helper()
	v, err := e.retainer().DeployRetention(e.ctx, store.Deployment{Box: box, Relay: "ann", Lifetimes: l, Refused: refused})
	e.check(err, "deploy the retention")
	return v
}

// held returns what an overview shows of the retention of the box.
func (e *env) held() store.BoxRetention {
	e.Helper()
	r := e.overview().Retention
	if r == nil {
		e.Fatal("an overview does not show the retention of the box")
	}
	return *r
}

// overview returns what an overview shows of the box.
func (e *env) overview() store.BoxView {
	e.Helper()
	o, err := e.inspector().Overview(e.ctx)
	e.check(err, "overview")
	i := slices.IndexFunc(o.Boxes, func(b store.BoxView) bool { return b.Name == box })
	if i < 0 {
		e.Fatal("an overview does not show the box")
	}
	return o.Boxes[i]
}

func lifetimesUnset(e *env) {
	e.open(1)
	r := e.held()
	want := store.Lifetimes{Delivered: 72 * time.Hour, Discarded: 72 * time.Hour, Dead: store.Forever}
	if got := r.Lifetimes(store.DefaultLifetime); got != want || r != (store.BoxRetention{}) {
		e.Errorf("a box of which nobody said anything has %+v, which is %+v", r, got)
	}
	_, err := e.retainer().DeployRetention(e.ctx, store.Deployment{Box: "missing", Lifetimes: want})
	_, counted := e.retainer().Expired(e.ctx, "missing", want)
	for what, err := range map[string]error{"deploy": err, "count": counted, "set": e.retainer().SetRetention(e.ctx, why, "missing", want)} {
		if !errors.Is(err, store.ErrNoBox) {
			e.Errorf("%s of a box that does not exist: %v, not ErrNoBox", what, err)
		}
	}
}

func lifetimesOfBox(e *env) {
	h := e.history(1)
	h.settleAll()
	e.keeps(store.Lifetimes{Delivered: time.Hour})
	h.kept("the box keeps them for an hour, though the relay says a millisecond")
	h.keep = time.Hour
	e.keeps(store.Lifetimes{Delivered: time.Millisecond})
	h.dropped()
}

func lifetimesDeployed(e *env) {
	h := e.history(1)
	h.settleAll()
	hour := store.Lifetimes{Delivered: time.Hour}
	if v := e.deploy(hour, 0); v.Deployed != hour || v.By != "ann" {
		e.Errorf("after the first word of a relay the box holds %+v", v)
	}
	h.kept("a relay has deployed an hour")
	e.keeps(store.Lifetimes{Delivered: 2 * time.Hour})
	if v := e.deploy(hour, 0); v.Deployed != hour || v.Operator.Delivered != 2*time.Hour || v.Lifetimes(1).Delivered != 2*time.Hour {
		e.Errorf("with two hours of an operator over one of a relay the box holds %+v", v)
	}
	e.keeps(store.Lifetimes{})
	if v := e.held(); v.Deployed != hour || !v.Operator.IsZero() {
		e.Errorf("after a reset the box holds %+v, not what a relay said a moment ago", v)
	}
	h.kept("what a relay has deployed holds again")
	e.keeps(store.Lifetimes{Delivered: time.Millisecond})
	h.dropped()
}

func lifetimesDisputed(e *env) {
	e.open(1)
	one := store.Lifetimes{Delivered: time.Hour, Dead: 10 * time.Hour}
	short := store.Lifetimes{Delivered: time.Minute, Dead: 10 * time.Hour}
	mixed := store.Lifetimes{Delivered: 2 * time.Hour, Dead: time.Hour}
	long := store.Lifetimes{Delivered: 2 * time.Hour}
	for i, c := range []struct{ says, holds store.Lifetimes }{
		{one, one}, {short, one}, {mixed, one}, {store.Lifetimes{}, one}, {one, one}, {short, one}, {long, long}, {one, long}, {short, long},
	} {
		if v := e.deploy(c.says, 0); v.Deployed != c.holds {
			e.Errorf("after word %d of relays, %+v, the box holds %+v, not %+v", i+1, c.says, v.Deployed, c.holds)
		}
	}
	if n := e.overview().Notices; len(n) > 0 {
		e.Errorf("relays that said something for the first time left the notices %+v", n)
	}
	for range 2 {
		e.deploy(short, 24*time.Hour)
	}
	if n := e.overview().Notices; len(n) != 1 || !strings.Contains(n[0].What, "1m") {
		e.Errorf("a relay that says something else all the time left the notices %+v, not one", n)
	}
	if e.Advance == nil {
		return
	}
	e.Advance(50 * time.Minute)
	e.deploy(long, 0)
	e.Advance(50 * time.Minute)
	if v := e.deploy(short, 0); v.Deployed != long {
		e.Errorf("although a relay says %+v every 50 minutes, the box holds %+v", long, v.Deployed)
	}
	e.Advance(11 * time.Minute)
	if v := e.deploy(short, 0); v.Deployed != short {
		e.Errorf("although no relay has said %+v for an hour, the box holds %+v", long, v.Deployed)
	}
	e.keeps(store.Lifetimes{Delivered: time.Hour})
	e.Advance(61 * time.Minute)
	e.keeps(store.Lifetimes{})
	if v := e.held(); v != (store.BoxRetention{}) {
		e.Errorf("after a reset the box holds %+v, which no relay has said for an hour", v)
	}
}

func lifetimesAudited(e *env) {
	e.open(1)
	r := e.retainer()
	e.keeps(store.Lifetimes{Delivered: time.Hour})
	for what, err := range map[string]error{
		"without who":              r.SetRetention(e.ctx, store.Audit{Why: "a test"}, box, store.Lifetimes{Delivered: 2 * time.Hour}),
		"below zero":               r.SetRetention(e.ctx, why, box, store.Lifetimes{Delivered: -time.Hour}),
		"discarded goes first":     r.SetRetention(e.ctx, why, box, store.Lifetimes{Delivered: 2 * time.Hour, Discarded: time.Hour}),
		"delivered stays for ever": r.SetRetention(e.ctx, why, box, store.Lifetimes{Delivered: store.Forever}),
	} {
		if err == nil {
			e.Errorf("a retention is set %s", what)
		}
	}
	if v := e.held(); v.Operator != (store.Lifetimes{Delivered: time.Hour}) {
		e.Errorf("after what was refused the box holds %+v", v)
	}
	e.audits("set the retention of "+box, "delivered 1h0m0s", "before: delivered 72h0m0s")
}

func lifetimesDiscarded(e *env) {
	h := e.history(1)
	e.keeps(store.Lifetimes{Delivered: time.Millisecond, Discarded: time.Hour})
	const at = 5
	one := h.records[at]
	p := park(one, store.ParkDead)
	h.settleAll(store.Settlement{
		Park:  []store.Park{p},
		Tally: slices.Concat(tally(store.TallyParked, one), tally(store.TallyDelivered, h.records[:at]...), tally(store.TallyDelivered, h.records[at+1:]...)),
	})
	e.settle(&h.leases[0], store.Settlement{
		Resolve: []store.Resolved{{Seq: p.Seq, Hash: p.Hash}},
		Done:    []store.Done{{ID: 1, Kind: store.Discard, Seq: p.Seq}},
		Tally:   append(less(tally(store.TallyParked, one)), tally(store.TallyDiscarded, one)...),
	})
	left := len(h.msgs) - at
	e.eventually("what is before the discarded message goes", func() bool {
		h.round()
		return h.left() <= left
	})
	for range 3 {
		h.round()
		e.pass(5 * time.Millisecond)
	}
	if n := h.left(); n != left {
		e.Fatalf("of %d messages %d are left, not those from the discarded one on", len(h.msgs), n)
	}
	if it := e.shown(one.ID); len(it) != 1 || it[0].State != store.StateDiscarded {
		e.Errorf("the discarded message is shown as %+v", it)
	}
	e.keeps(store.Lifetimes{Delivered: time.Millisecond})
	h.dropped()
}

func lifetimesDead(e *env) {
	l := e.parked("a", "b", "c")
	u := e.upkeep()
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead), in(park(l.at(2), store.ParkRetrying), time.Hour))
	e.pass(5 * time.Millisecond)
	for _, dead := range []time.Duration{0, time.Hour, store.Forever} {
		e.keeps(store.Lifetimes{Dead: dead})
		if rep := u.maintain(); rep.Expired > 0 || len(l.waiting()) > 0 {
			e.Fatalf("with dead messages kept for %s %d get a discard", dead, rep.Expired)
		}
	}
	e.keeps(store.Lifetimes{Dead: time.Millisecond})
	if rep := u.maintain(); rep.Expired != 2 {
		e.Errorf("of two dead messages whose time is over the report says %d", rep.Expired)
	}
	if rep := u.maintain(); rep.Expired != 0 {
		e.Errorf("%d messages get a discard that have one", rep.Expired)
	}
	var st store.Settlement
	for i, c := range l.waiting() {
		if c.Kind != store.Discard || i > 1 || c.Park.Seq != l.at(i).Seq {
			e.Fatalf("command %d is %+v, not the discard of a dead message", i+1, c)
		}
		st.Resolve, st.Done = append(st.Resolve, l.resolved(i)), append(st.Done, c.Done())
	}
	if len(st.Done) != 2 {
		e.Fatalf("%d discards wait, not two", len(st.Done))
	}
	log, err := e.operator().Audited(e.ctx, 1)
	e.check(err, "audit log")
	if len(log) != 1 || log[0].Who != "postbag" || !strings.Contains(log[0].Why, "1ms") || !strings.Contains(log[0].What, l.msgs[1].ID.String()) {
		e.Errorf("the audit log says %+v of that", log)
	}
	l.settle(st)
	if it := e.shown(l.msgs[0].ID); len(it) != 1 || it[0].State != store.StateDiscarded {
		e.Errorf("a message whose discard was carried out is shown as %+v", it)
	}
}

func lifetimesRetried(e *env) {
	l := e.parked("a", "b")
	u := e.upkeep()
	l.park(park(l.at(0), store.ParkDead), park(l.at(1), store.ParkDead))
	e.pass(5 * time.Millisecond)
	l.order(store.Retry, 0)
	e.keeps(store.Lifetimes{Dead: time.Millisecond})
	u.round()
	got := l.waiting()
	if len(got) != 2 || got[0].Kind != store.Retry || got[0].Park.Seq != l.at(0).Seq || got[1].Kind != store.Discard || got[1].Park.Seq != l.at(1).Seq {
		e.Errorf("the commands are %+v, not the retry of one message and the discard of the other", got)
	}
}

func lifetimesOfDeath(e *env) {
	l := e.parked("a")
	u := e.upkeep()
	l.park(in(park(l.at(0), store.ParkRetrying), time.Hour))
	e.pass(2 * time.Second)
	l.park(park(l.at(0), store.ParkDead))
	e.keeps(store.Lifetimes{Dead: 2 * time.Second})
	if rep := u.maintain(); rep.Expired > 0 {
		e.Errorf("a message that has just died gets a discard, since it failed two seconds ago")
	}
	e.eventually("it gets one later", func() bool { return u.maintain().Expired == 1 })
}

func lifetimesCounted(e *env) {
	h := e.history(1)
	h.settleAll()
	e.keeps(store.Lifetimes{Delivered: time.Hour})
	h.round()
	e.pass(5 * time.Millisecond)
	count := func(l store.Lifetimes) int64 {
		n, err := e.retainer().Expired(e.ctx, box, l)
		e.check(err, "count")
		return n
	}
	e.eventually("messages are counted", func() bool {
		h.round()
		return count(store.Lifetimes{Delivered: time.Microsecond}) >= int64(len(h.msgs))
	})
	for _, l := range []store.Lifetimes{{Delivered: time.Hour}, {Delivered: time.Microsecond, Discarded: time.Hour}} {
		if n := count(l); n != 0 {
			e.Errorf("with %+v %d messages would go", l, n)
		}
	}
}
