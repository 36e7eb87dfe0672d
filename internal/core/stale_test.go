package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/store"
)

// What was read of another life of the database may have a seq that is given out again.
func TestARelayThatReadsAnotherLifeOfItsDatabaseBeginsAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.message()
	if !d.land(d.reads()) {
		t.Fatal("the first answer is not taken")
	}
	d.until(core.Send)
	id := d.ID()
	d.life++
	if d.land(d.until(core.Turn).Round) {
		t.Error("the answer of another life is taken")
	}
	all := slices.Clone(d.Operations())
	if !has(all, core.NewIdentity) || !has(all, core.EndCalls) || d.ID() == id {
		t.Errorf("it goes on as %s, with %v", d.ID(), all)
	}
	if d.Life() == d.life {
		t.Error("it takes the new life for its own before it has begun again")
	}
}

// Until the heartbeat of an identity that was given up is over, others leave its shards alone.
func TestAnIdentityThatWasGivenUpIsLeftByEachHeartbeatUntilOneIsAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r, id := d.reads(), d.ID()
	d.Landed(d.now, r, core.Moved, &store.TurnResult{})
	for range 3 {
		b := d.until(core.Beat).Beat
		if !slices.Equal(b.Former, []string{id}) {
			t.Fatalf("a heartbeat of %s leaves %v, not %s", b.Relay, b.Former, id)
		}
		d.Beaten(d.now, b, core.Failed, nil)
	}
	d.answer(d.until(core.Beat))
	if b := d.until(core.Beat).Beat; len(b.Former) > 0 {
		t.Errorf("the heartbeat behind the one that was answered leaves %v, too", b.Former)
	}
}

// A stop waits for answers no longer than it was told, and then gives back what it has.
func TestAStopEndsThoughACallIsNeverAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.message()
	d.until(core.Send)
	d.stopsWithin(grace)
}

// A shard that was being loaded was kept until its heartbeat ran out.
func TestAStopGivesBackAShardWhoseLoadingIsNeverAnswered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.until(core.Load)
	d.stopsWithin(grace)
}

// stopsWithin stops, and answers all but what is out. The calls must be given up when the
// grace is over, not before, and nothing may be kept.
func (d *desk) stopsWithin(grace time.Duration) {
	d.t.Helper()
	stopped := d.now
	d.Stop(d.now)
	gaveUp := false
	for !d.Over(d.now) {
		for all := append(slices.Clone(d.Operations()), d.step()...); len(all) > 0; all = all[1:] {
			gaveUp = gaveUp || all[0].Kind == core.EndCalls
			d.answer(&all[0])
			all = append(all, slices.Clone(d.Operations())...)
		}
		if gaveUp && d.now < stopped+grace {
			d.t.Fatalf("the call is given up after %v", d.now-stopped)
		}
		if d.now > stopped+2*grace {
			d.t.Fatalf("it does not end in %v", d.now-stopped)
		}
		d.now += 10 * time.Millisecond
	}
	if !gaveUp || !d.Left() || d.owners[ref] != "" {
		d.t.Errorf("it ended, gave the call up: %v, left: %v, and the shard is of %q", gaveUp, d.Left(), d.owners[ref])
	}
}

// The lease that housekeeping is done by is that of an identity.
func TestNoHouseIsKeptByTheLeaseOfAnIdentityThatWasGivenUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.answer(d.until(core.Maintain))
	d.Landed(d.now, d.until(core.Turn).Round, core.Moved, &store.TurnResult{})
	for range 1000 { // only its heartbeats are not answered
		all := append(slices.Clone(d.Operations()), d.step()...)
		if has(all, core.Maintain) {
			t.Fatal("the house is kept before a heartbeat of the new identity was answered")
		}
		for i := range all {
			if all[i].Kind != core.Beat {
				d.answer(&all[i])
			}
		}
		d.now += 10 * time.Millisecond
	}
}

// A lease is good from when its heartbeat was sent, and not for all of its time: clocks and answers take theirs.
func TestNothingIsSentWhenMostOfALeaseIsOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after time.Duration
		sends bool
	}{
		"before": {ttl*4/5 - time.Millisecond, true},
		"then":   {ttl * 4 / 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.slow = 2 * time.Second
			d.message()
			r := d.reads()
			d.now = d.sent + c.after
			d.land(r)
			if sends := has(append(slices.Clone(d.Operations()), d.step()...), core.Send); sends != c.sends {
				t.Errorf("%v after the heartbeat was sent a message is sent: %v", c.after, sends)
			}
		})
	}
}

// What a turn brings that began before all was dropped is worthless.
func TestTheAnswerToATurnOfAnIdentityThatWasGivenUpIsNotTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := d.reads()
	d.Beaten(d.now, d.until(core.Beat).Beat, core.Moved, nil)
	if d.land(r) {
		t.Error("it is taken")
	}
	if d.Life() != 0 {
		t.Errorf("the life of it, %d, is taken", d.Life())
	}
}
