package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// pauseCases are about what operators hold, for stores that are a Pauser.
func pauseCases() []scenario {
	return []scenario{
		{name: "Pauses of every scope are in views and overviews, with who, why, since and end", run: pausesShown},
		{name: "A pause ends by the database's clock, though no relay runs", run: pauseEndsByItself},
		{name: "A pause ends at the time that it names", run: pauseEndsAtItsTime},
		{name: "Of pauses one is ended by hand, and the others stay", run: pauseEndedByHand},
		{name: "A pause that is said again takes the place of the first, and began when that did", run: pauseSaidAgain},
		{name: "A pause that cannot be is refused, and nothing is written", run: pauseRefused},
		{name: "Pauses are audited with who, why, what and end", run: pauseAudited},
		{name: "The epoch changes as a pause begins, as it is ended, and as it ends", run: pauseMovesEpoch},
		{name: "A pause of a whole subscription and its flag are one", run: pauseIsFlag},
		{name: "As many pauses as there can be are taken, and no more", run: pausesMost},
		{name: "Messages that a pause holds are found by its name", needs: heldTopics, run: pauseHoldsRows},
	}
}

// pauser returns the store as a Pauser, or skips the case.
func (e *env) pauser() store.Pauser {
	e.Helper()
	p, ok := e.Store.(store.Pauser)
	if !ok {
		e.Skip("the store is no Pauser")
	}
	return p
}

// everyPause is one pause of each scope.
func everyPause() []store.Pause {
	return []store.Pause{
		{Ref: ref, Scope: store.PauseSubscription},
		{Scope: store.PauseDestination, Value: "kafka"},
		{Ref: ref, Scope: store.PauseTopic, Value: "orders"},
		{Ref: ref, Scope: store.PauseType, Value: "order.*"},
		{Ref: ref, Scope: store.PauseKey, Value: strings.Repeat("ü'\"\\%_", 140)},
	}
}

// pausesSeen returns what a relay sees of pauses.
func (e *env) pausesSeen() []store.Pause {
	e.Helper()
	e.look(ref)
	return e.observer.beat(store.Beat{}).Pauses
}

// pausesLooked returns what people see of pauses.
func (e *env) pausesLooked() []store.Pause {
	e.Helper()
	in, ok := e.Store.(store.Inspector)
	if !ok {
		return e.pausesSeen()
	}
	o, err := in.Overview(e.ctx)
	e.check(err, "overview")
	return o.Pauses
}

// same says whether pauses are those wanted, by what they hold.
func same(got []store.Pause, want ...store.Pause) bool {
	return len(got) == len(want) && !slices.ContainsFunc(want, func(w store.Pause) bool {
		return !slices.ContainsFunc(got, func(g store.Pause) bool { return g.Same(&w) })
	})
}

func pausesShown(e *env) {
	o := e.pauser()
	e.open(2)
	before := e.now()
	all := everyPause()
	for i, p := range all {
		e.check(o.SetPause(e.ctx, store.Audit{Who: "anna", Why: "why " + string(p.Scope)}, p, time.Duration(i)*time.Hour), "pause")
	}
	for where, got := range map[string][]store.Pause{"a view": e.pausesSeen(), "an overview": e.pausesLooked()} {
		if !same(got, all...) {
			e.Errorf("%s has %d pauses, %+v, not those of every scope", where, len(got), got)
			continue
		}
		for _, p := range got {
			i := slices.IndexFunc(all, func(o store.Pause) bool { return o.Same(&p) })
			if p.Who != "anna" || p.Why != "why "+string(p.Scope) {
				e.Errorf("%s shows the pause of the %s as %q's for %q", where, p.Scope, p.Who, p.Why)
			}
			if d := p.Since.Sub(before); d < -e.patience || d > 2*e.patience {
				e.Errorf("%s shows the pause of the %s as begun at %s, and it was at %s", where, p.Scope, p.Since, before)
			}
			if left := p.Until.Sub(p.Since); i == 0 && !p.Until.IsZero() || i > 0 && (left-time.Duration(i)*time.Hour).Abs() > time.Minute {
				e.Errorf("%s shows the end of the pause of the %s as %s, after %s", where, p.Scope, p.Until, left)
			}
		}
	}
	if !e.look(ref).Paused {
		e.Error("a subscription of which all is paused is not shown as paused")
	}
}

func pauseEndsByItself(e *env) {
	o := e.pauser()
	e.open(2)
	stays := store.Pause{Ref: ref, Scope: store.PauseTopic, Value: "stays"}
	e.check(o.SetPause(e.ctx, why, stays, time.Hour), "pause")
	for _, p := range everyPause() {
		e.check(o.SetPause(e.ctx, why, p, 300*time.Millisecond), "pause")
	}
	e.pass(400 * time.Millisecond)
	if got := e.pausesLooked(); !same(got, stays) {
		e.Errorf("an overview has the pauses %+v, whose end is over but for one", got)
	}
	if in, ok := e.Store.(store.Inspector); ok {
		v, err := in.Overview(e.ctx)
		e.check(err, "overview")
		if v.Boxes[0].Subscriptions[0].Paused {
			e.Error("an overview shows a subscription as paused whose pause is over")
		}
	}
	if e.look(ref).Paused {
		e.Error("a view shows a subscription as paused whose pause is over")
	}
	if got := e.pausesSeen(); !same(got, stays) {
		e.Errorf("a view has the pauses %+v, whose end is over but for one", got)
	}
	p := everyPause()[0]
	e.check(o.SetPause(e.ctx, why, p, 0), "pause again")
	e.pass(400 * time.Millisecond)
	if !e.look(ref).Paused {
		e.Error("a pause without an end, of what had one, has ended")
	}
}

func pauseEndsAtItsTime(e *env) {
	o := e.pauser()
	e.open(1)
	p := store.Pause{Ref: ref, Scope: store.PauseKey, Value: "k", Until: e.now().Add(2 * time.Hour).Truncate(time.Second)}
	e.check(o.SetPause(e.ctx, why, p, 0), "pause")
	if got := e.pausesSeen(); len(got) != 1 || !got[0].Until.Equal(p.Until) {
		e.Errorf("a pause until %s is shown as %+v", p.Until, got)
	}
	for _, over := range []time.Time{e.now().Add(-time.Hour), time.Unix(0, 0), time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)} {
		p.Until = over
		if err := o.SetPause(e.ctx, why, p, 0); !errors.Is(err, store.ErrPauseOver) {
			e.Errorf("a pause until %s, which is over: %v", over, err)
		}
	}
	if got := e.pausesSeen(); len(got) != 1 || got[0].Over(e.now()) {
		e.Errorf("a pause that was over left %+v", got)
	}
}

func pauseEndedByHand(e *env) {
	o := e.pauser()
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	e.declareFirst(other)
	all := everyPause()
	for _, p := range everyPause()[2:] {
		p.Ref = other
		all = append(all, p)
	}
	for _, p := range all {
		e.check(o.SetPause(e.ctx, why, p, 0), "pause")
	}
	for i, p := range all {
		ended, err := o.EndPause(e.ctx, why, p)
		e.check(err, "resume")
		if !ended || !same(e.pausesSeen(), all[i+1:]...) {
			e.Errorf("ended (%v) the pause %s of %s, and in force are %+v", ended, p.Scope, p.Ref, e.pausesSeen())
		}
		if ended, err = o.EndPause(e.ctx, why, p); err != nil || ended {
			e.Errorf("the pause %s of %s is ended twice: %v, %v", p.Scope, p.Ref, ended, err)
		}
	}
	if e.look(ref).Paused {
		e.Error("a subscription is paused although its pause was ended")
	}
}

func pauseSaidAgain(e *env) {
	o := e.pauser()
	e.open(1)
	for _, p := range everyPause() {
		e.check(o.SetPause(e.ctx, why, p, time.Hour), "pause")
		first := e.pausesSeen()[0]
		e.pass(20 * time.Millisecond)
		e.check(o.SetPause(e.ctx, store.Audit{Who: "another", Why: "longer"}, p, 0), "pause again")
		got := e.pausesSeen()
		if len(got) != 1 || got[0].Who != "another" || got[0].Why != "longer" || !got[0].Until.IsZero() || !got[0].Since.Equal(first.Since) {
			e.Errorf("the pause %+v, said again without an end, is %+v", first, got)
		}
		_, err := o.EndPause(e.ctx, why, p)
		e.check(err, "resume")
	}
}

func pauseRefused(e *env) {
	o := e.pauser()
	e.open(1)
	e.look(ref)
	before := e.epochOf()
	unknown := store.Ref{Box: box, Subscription: "unknown"}
	for _, c := range []struct {
		p    store.Pause
		a    store.Audit
		d    time.Duration
		want error
	}{
		{store.Pause{Ref: unknown, Scope: store.PauseKey, Value: "k"}, why, 0, store.ErrNoSubscription},
		{store.Pause{Ref: store.Ref{Box: box, Subscription: store.Maintenance}, Scope: store.PauseKey, Value: "k"}, why, 0, store.ErrNoSubscription},
		{store.Pause{Ref: ref, Scope: store.PauseKey}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseTopic, Value: "a\x00b"}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseTopic, Value: strings.Repeat("t", 256)}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseKey, Value: strings.Repeat("k", 1025)}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseType, Value: "\xff"}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseSubscription, Value: "x"}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseDestination, Value: "kafka"}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: "color", Value: "red"}, why, 0, store.ErrPause},
		{store.Pause{Scope: store.PauseTopic, Value: "t"}, why, 0, store.ErrPause},
		{store.Pause{Ref: ref, Scope: store.PauseTopic, Value: "t"}, why, -time.Second, store.ErrPauseOver},
		{store.Pause{Ref: ref, Scope: store.PauseTopic, Value: "t"}, store.Audit{Who: "x"}, 0, nil},
		{store.Pause{Scope: store.PauseDestination, Value: "d"}, store.Audit{Why: "x"}, 0, nil},
	} {
		err := o.SetPause(e.ctx, c.a, c.p, c.d)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			e.Errorf("a pause %+v by %+v for %s: %v, want %v", c.p, c.a, c.d, err, c.want)
		}
		if c.d == 0 {
			if ended, err := o.EndPause(e.ctx, c.a, c.p); err == nil || ended {
				e.Errorf("the end of a pause %+v by %+v: %v, %v", c.p, c.a, ended, err)
			}
		}
	}
	if moved := e.epochOf() != before; moved || len(e.pausesSeen()) > 0 {
		e.Errorf("pauses that were refused changed the epoch (%v), and left %+v", moved, e.pausesSeen())
	}
	if got, err := e.operator().Audited(e.ctx, 10); err != nil || len(got) > 0 {
		e.Errorf("pauses that were refused left the audit log %+v, %v", got, err)
	}
}

func pauseAudited(e *env) {
	o := e.pauser()
	e.open(1)
	p := store.Pause{Ref: ref, Scope: store.PauseTopic, Value: "orders", Until: e.now().Add(time.Hour).Truncate(time.Second)}
	short := store.Pause{Scope: store.PauseDestination, Value: "kafka"}
	e.check(o.SetPause(e.ctx, why, p, 0), "pause")
	_, err := o.EndPause(e.ctx, store.Audit{Who: "another", Why: "it works"}, p)
	e.check(err, "resume")
	_, err = o.EndPause(e.ctx, why, p)
	e.check(err, "resume what goes on")
	e.check(o.SetPause(e.ctx, why, short, 10*time.Millisecond), "pause")
	e.pass(50 * time.Millisecond)
	e.look(ref)
	got, err := e.operator().Audited(e.ctx, 10)
	e.check(err, "audit log")
	slices.Reverse(got)
	want := []string{
		fmt.Sprintf("pause %s --topic orders until %s", ref, p.Until.UTC().Format(time.RFC3339)),
		fmt.Sprintf("resume %s --topic orders", ref),
		"pause --destination kafka until 2",
	}
	if len(got) != len(want) {
		e.Fatalf("the audit log has %+v, want %q", got, want)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i].What, w) {
			e.Errorf("entry %d of the audit log is %q, want %q", i, got[i].What, w)
		}
	}
	if got[0].Audit != why || got[1].Audit != (store.Audit{Who: "another", Why: "it works"}) {
		e.Errorf("the audit log has %+v and %+v", got[0].Audit, got[1].Audit)
	}
}

func pauseMovesEpoch(e *env) {
	o := e.pauser()
	e.open(1)
	e.look(ref)
	for _, p := range everyPause() {
		last := e.epochOf()
		moved := func(what string, want bool) {
			e.Helper()
			now := e.epochOf()
			if (now != last) != want {
				e.Errorf("the epoch changes (%v) as a pause of the %s %s", now != last, p.Scope, what)
			}
			last = now
		}
		e.check(o.SetPause(e.ctx, why, p, 0), "pause")
		moved("begins", true)
		e.check(o.SetPause(e.ctx, why, p, 0), "pause again")
		moved("is said again", false)
		e.check(o.SetPause(e.ctx, why, p, 200*time.Millisecond), "pause with an end")
		moved("gets an end", true)
		e.pass(250 * time.Millisecond)
		e.look(ref)
		moved("ends, at the next heartbeat", true)
		e.look(ref)
		moved("has ended", false)
		e.check(o.SetPause(e.ctx, why, p, 0), "pause")
		moved("begins again", true)
		_, err := o.EndPause(e.ctx, why, p)
		e.check(err, "resume")
		moved("is ended by hand", true)
		_, err = o.EndPause(e.ctx, why, p)
		e.check(err, "resume")
		moved("is ended twice", false)
	}
}

func pauseIsFlag(e *env) {
	o, p := e.operator(), e.pauser()
	e.open(1)
	whole := everyPause()[0]
	e.check(o.SetPaused(e.ctx, why, ref, true), "pause")
	if got := e.pausesSeen(); !same(got, whole) || got[0].Who != why.Who || got[0].Why != why.Why {
		e.Errorf("a subscription that was paused by its flag has the pauses %+v", got)
	}
	ended, err := p.EndPause(e.ctx, why, whole)
	if e.check(err, "resume"); !ended || e.look(ref).Paused {
		e.Errorf("the pause of the flag is ended: %v; paused: %v", ended, e.look(ref).Paused)
	}
	e.check(p.SetPause(e.ctx, why, whole, time.Hour), "pause")
	if !e.look(ref).Paused {
		e.Error("a pause of a whole subscription does not show in its flag")
	}
	e.check(o.SetPaused(e.ctx, why, ref, false), "resume")
	if got := e.pausesSeen(); e.look(ref).Paused || len(got) > 0 {
		e.Errorf("after the flag was cleared the pauses are %+v, paused %v", got, e.look(ref).Paused)
	}
}

func pausesMost(e *env) {
	o := e.pauser()
	e.open(1)
	p := store.Pause{Ref: ref, Scope: store.PauseKey}
	for i := range store.MaxPauses {
		p.Value = fmt.Sprint("key ", i)
		e.check(o.SetPause(e.ctx, why, p, 0), "pause")
	}
	if n := len(e.pausesSeen()); n != store.MaxPauses {
		e.Errorf("a view has %d pauses, not all %d", n, store.MaxPauses)
	}
	more := store.Pause{Scope: store.PauseDestination, Value: "one more"}
	if err := o.SetPause(e.ctx, why, more, 0); !errors.Is(err, store.ErrTooManyPauses) {
		e.Errorf("one pause more than there can be: %v", err)
	}
	e.check(o.SetPause(e.ctx, why, p, 10*time.Millisecond), "the last is said again")
	e.pass(20 * time.Millisecond)
	e.check(o.SetPause(e.ctx, why, more, 0), "a pause in place of one that is over")
}

func pauseHoldsRows(e *env) {
	p := everyPause()[4]
	l := e.parked("a", "b", "c")
	row := park(l.at(0), store.ParkHeld)
	row.Topic = p.HeldAs()
	other := park(l.at(1), store.ParkHeld)
	other.Topic = everyPause()[3].HeldAs()
	l.park(row, other)
	blocked, err := e.Store.Blocked(e.ctx, l.lease)
	e.check(err, "blocked")
	if len(blocked.Held) != 2 || !slices.ContainsFunc(blocked.Held, func(h store.HeldTopic) bool { return h == store.HeldTopic{Topic: p.HeldAs(), Messages: 1} }) {
		e.Errorf("messages are held for %+v, want the two pauses", blocked.Held)
	}
	got, err := e.Store.Due(e.ctx, store.Due{Ref: ref, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20, Topics: []string{p.HeldAs()}})
	e.check(err, "due")
	if len(got) != 1 || got[0].Park.Seq != row.Seq || got[0].Park.Topic != p.HeldAs() {
		e.Errorf("asked for what the pause holds, %d messages come: %+v", len(got), got)
	}
}
