package engine_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

// twoShards is a desk with the low shard at "9", which leads, and the high one
// behind it at "3".
func twoShards(t *testing.T, c engine.Config) *desk {
	t.Helper()
	d := newDesk(t, c)
	d.f.Add(lease(0, 2048, 1, 1), "9", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "3", store.Blocks{})
	return d
}

// reads returns a turn's requests as "from" or "from-until".
func reads(t store.Turn) []string {
	var out []string
	for _, r := range t.Read {
		s := string(r.From)
		if r.Until != "" {
			s += "-" + string(r.Until)
		}
		if r.Limit == 0 {
			s = "ask"
		}
		out = append(out, s)
	}
	return out
}

// reading returns the next turn, which must read so.
func (d *desk) reading(want ...string) store.Turn {
	d.t.Helper()
	t := d.turn()
	got := reads(t)
	equal(d.t, "reads", len(got), len(want))
	for i := range got {
		equal(d.t, "read", got[i], want[i])
	}
	return t
}

func TestShardsAtOnePositionAreReadAsOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "3", store.Blocks{})
	d.f.Add(lease(2048, 4096, 2, 1), "3", store.Blocks{})
	turn := d.reading("3")
	equal(t, "slots", len(turn.Read[0].Slots), 2)
	d.land(turn, page("5", messages(1, 1, 2)...))
	d.deliver(1, 2)
	d.now += 60 * ms
	turn = d.turn()
	equal(t, "settlements", len(turn.Settle), 2)
	equal(t, "position", turn.Settle[0].To, "5")
	equal(t, "position", turn.Settle[1].To, "5")
}

func TestAStragglerReadsUpToTheGroupThatLeadsAndJoinsIt(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10"))
	d.land(d.reading("3-10"), part("5", messages(1, 1)...)) // the one that leads found nothing, and pauses
	d.land(d.reading("5-10"), page("10", messages(2, 3)...))
	d.deliver(1, 2)
	d.noTurnReads()
	d.land(d.turn())
	d.now += 5 * ms
	turn := d.reading("10")
	equal(t, "slots", len(turn.Read[0].Slots), 2)
	equal(t, "groups", d.f.Groups(), 1)
}

// noTurnReads checks that nothing is read now; a settlement is made.
func (d *desk) noTurnReads() {
	d.t.Helper()
	t := d.f.Turn(d.now)
	for _, r := range t.Read {
		if r.Limit > 0 {
			d.t.Fatalf("a read from %s", r.From)
		}
	}
	d.land(t)
}

func TestTheGroupThatLeadsWaitsForAStragglerThatIsNear(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10", "3-10"), page("11", messages(2, 2)...), page("10"))
	d.land(d.reading("10-11"), page("11")) // the first group does not read on
	d.noTurnReads()
	d.deliver(1)
	d.deliver(2)
	d.land(d.turn())
	d.reading("11")
	equal(t, "groups", d.f.Groups(), 1)
}

func TestAStragglerThatIsFarDoesNotHoldTheGroupThatLeads(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10", "3-10"), page("11", messages(2, 2)...), part("4", messages(3, 1)...))
	d.reading("11", "4-11")
}

func TestAGroupThatIsAheadLeadsAfterASecondTry(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10", "3-10"), page("11", messages(2, 2)...), page("20", messages(3, 1)...))
	d.land(d.reading("11", "20-11"), page("12", messages(4, 2)...), store.Batch{Ahead: true})
	d.now += 5 * ms
	d.land(d.reading("12", "20-12"), page("13", messages(5, 2)...), store.Batch{Ahead: true})
	d.now += 5 * ms
	d.reading("20", "13-20")
}

// Two groups of which neither is before the other changed places at every read,
// and neither ever read on.
func TestGroupsWithIncomparablePositionsBothReadOn(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("a"))
	d.land(d.reading("3-a"), page("b"))
	d.meetByLength(50)
	equal(t, "groups", d.f.Groups(), 1)
}

// With three groups that were read seldom, the one that had read on was no longer
// the one that led by the time that the others could have stopped where it had got
// to.
func TestIdleGroupsDoNotAlternateLeadership(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	for i, at := range []store.Position{"a", "b", "c"} {
		d.f.Add(lease(i*1024, (i+1)*1024, 1, 1), at, store.Blocks{})
	}
	d.now = time.Minute
	d.land(d.reading("a"), page("+"))
	d.land(d.reading("b-+", "c-+"), store.Batch{Ahead: true}, store.Batch{Ahead: true}) // and "a" waits for its poll
	d.now += time.Second
	d.land(d.reading("+", "b", "c"), page("+"), page("++"), page("+++"))
	d.now += time.Second
	// All are at rest where windows end. The one that leads reads on at once.
	d.land(d.reading("+", "++-+", "+++-+"), page("+"), store.Batch{Ahead: true}, store.Batch{Ahead: true})
	d.land(d.reading("+"), page("++++"))
	d.now += time.Second
	d.land(d.reading("++++", "++-++++", "+++-++++"), page("+++++"), page("++++"), page("++++"))
	d.land(d.reading("++++-+++++", "++++-+++++"), page("+++++"), page("+++++"))
	d.turn()
	equal(t, "groups", d.f.Groups(), 1)
}

// meetByLength makes turns until the groups are joined. A position that is longer
// than another is later; those of one length are beside each other. A read without
// Until gets beyond all others.
func (d *desk) meetByLength(turns int) {
	d.t.Helper()
	latest := store.Position("+")
	for i := 0; i < turns && d.f.Groups() > 1; i++ {
		turn := d.f.Turn(d.now)
		var pages []store.Batch
		for _, r := range turn.Read {
			switch {
			case r.Limit == 0:
				pages = append(pages, store.Batch{Next: r.From})
			case r.Until == "":
				latest += "+"
				pages = append(pages, page(latest))
			case len(r.Until) > len(r.From):
				pages = append(pages, page(r.Until))
			default:
				pages = append(pages, store.Batch{Ahead: true})
			}
		}
		d.land(turn, pages...)
		d.now += 10 * ms
	}
}

func TestAGroupInTheMiddleOfAWindowReadsToItsEndFirst(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10", "3-10"), page("11", messages(2, 2)...), store.Batch{Ahead: true})
	d.now += 5 * ms
	d.land(d.reading("11", "3"), page("12", messages(3, 2)...), part("4", messages(4, 1)...))
	d.land(d.reading("12", "4"), page("13", messages(5, 2)...), page("20", messages(6, 1)...))
	d.reading("13", "20-13")
}

// While groups waited for each other, one message without an answer kept both from
// reading for as long as its call took.
func TestAMissingAnswerDoesNotStopGroupsFromReading(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{Batch: 1})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.call(1)
	d.land(d.reading("10", "3-10"), page("10"), page("10"))
	d.noTurnReads()
	d.now += 1001 * ms
	d.reading("10", "10")
}

// A group that leads waited for a straggler whose reads failed.
func TestALeadingGroupDoesNotWaitForAnUnreadableGroup(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10", "3-10"), page("11", messages(2, 2)...), page("10"))
	d.land(d.reading("10-11"), store.Batch{Err: errRead})
	d.reading("11")
}

func TestAGroupWhoseShardsAllLeaveDoesNotLead(t *testing.T) {
	t.Parallel()
	d := twoShards(t, engine.Config{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.call(1)
	d.f.Leave(0)
	d.land(d.reading("3"), page("4"))
	d.now += 5 * ms
	d.reading("4")
}

func TestAShardAddedAtAnIdleGroupsPositionJoinsIt(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.feed("1")
	d.f.Lost(0)
	d.f.Add(lease(0, 2048, 2, 1), "1", store.Blocks{})
	d.f.Add(lease(2048, 4096, 3, 1), "1", store.Blocks{})
	equal(t, "groups", d.f.Groups(), 1)
}

func TestAShardAddedAtAnEarlierLeaderPositionReadsOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "9", store.Blocks{})
	d.land(d.reading("9"), page("10", messages(1, 2)...))
	d.land(d.reading("10"), part("11", messages(2, 2)...))
	d.f.Add(lease(2048, 4096, 2, 1), "10", store.Blocks{})
	d.reading("11", "10") // not until where it stands
}

func TestAnIdleGroupIsReadLessAndLessOften(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	n := 0
	for d.now < 10*time.Second {
		turn := d.f.Turn(d.now)
		n += len(turn.Read)
		d.land(turn)
		at := d.f.Wake(d.now, true, true)
		if at <= d.now {
			t.Fatalf("now is %v, wakes at %v", d.now, at)
		}
		d.now = at
	}
	if n < 20 || n > 80 {
		t.Errorf("%d reads in 10 idle seconds", n)
	}
	last := d.now
	d.f.Woken()
	equal(t, "wakes", d.f.Wake(d.now, true, true), last)
	d.feed("1", messages(1, 1)...)
	equal(t, "and reads on at once", d.f.Wake(d.now, true, true), d.now)
}

// A hint that came while a read was under way was forgotten when it landed.
func TestAHintDuringAReadCausesAnotherRead(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.now = 20 * time.Second
	d.land(d.reading("0"))
	d.now += 2 * time.Second
	turn := d.reading("0")
	d.f.Woken()
	d.land(turn)
	d.reading("0")
}

func TestAFlowThatCannotReadStillAsksForCommandsAndTheDueTime(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.f.Pause(true)
	d.land(d.reading("ask"))
	d.noTurn()
	d.now += 1500 * ms
	d.reading("ask")
}

// The beginning has no position to stop at: a quiet flow whose group there led waited
// for ever for the others to come by, and read nothing meanwhile.
func TestAGroupWithoutAPositionDoesNotLeadAQuietFlow(t *testing.T) {
	t.Parallel()
	d := newDesk(t, engine.Config{})
	d.f.Add(lease(0, 2048, 1, 1), "", store.Blocks{})
	d.land(d.reading(""))
	d.f.Add(lease(2048, 4096, 2, 1), "9", store.Blocks{})
	d.f.Quiesce(true)
	d.land(d.reading("9"), page("10"))
	d.now += time.Second
	d.land(d.reading("-10"), page("10"))
	d.quiesced()
	equal(t, "groups", d.f.Groups(), 1)
}
