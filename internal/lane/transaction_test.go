package lane

import (
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// word is what is wanted, and what comes of it.
type word struct {
	do     Do
	leases Leases
	record []byte // of a lane that is opened; nil: it is not
	tx     broker.TxOutcome
	over   bool // nobody waits any more
}

// play takes a transaction through its course, which must be over behind the last word.
func play(t *testing.T, c *Transaction, words []word) {
	t.Helper()
	do := c.Start()
	for i, w := range words {
		if do != w.do {
			t.Fatalf("step %d: %d is wanted, not %d", i, do, w.do)
		}
		switch do {
		case Ask:
			do = c.Asked(w.leases)
		case Open:
			do = c.Opened(w.record, w.record != nil)
		case Commit:
			do = c.Committed(w.tx)
		case Drop:
			do = c.Dropped()
		case Pause:
			do = c.Paused(w.over)
		case Over:
		}
	}
	if do != Over {
		t.Fatalf("%d is wanted at the end", do)
	}
}

func TestATransactionIsBegunCommittedAndSettled(t *testing.T) {
	t.Parallel()
	leases := []store.Lease{leaseOf(0, 4096, 5)}
	items := []Item{item(1, 7), item(2, 8)}
	none := (&Record{}).Encode()
	own := NewRecord(leases, items, nil)
	before := NewRecord(leases, items[:1], nil)
	enter := func(record []byte) []word {
		return []word{{do: Ask, leases: Valid}, {do: Open, record: record}, {do: Ask, leases: Valid}}
	}
	for name, c := range map[string]struct {
		held     bool
		words    []word
		end      End
		dropping bool
	}{
		"committed": {held: true, words: []word{{do: Commit, tx: broker.Committed}}, end: Answered},
		"a lane that is opened first": {
			words: append(enter(none), word{do: Commit, tx: broker.Committed}), end: Answered,
		},
		"what its predecessor left is carried": {
			words: append(enter(before.Encode()), word{do: Commit, tx: broker.Committed}, word{do: Commit, tx: broker.Committed}), end: Answered,
		},
		"a carrying record that is not written": {
			words: append(enter(before.Encode()), word{do: Commit, tx: broker.Unresolved}, word{do: Drop}), end: NotEntered,
		},
		"a record that cannot be read": {words: append(enter([]byte{99}), word{do: Drop}), end: NotEntered},
		"leases that are gone":         {words: []word{{do: Ask, leases: Gone}}, end: Disowned, dropping: true},
		"leases that go while the lane is opened": {
			words: []word{{do: Ask, leases: Valid}, {do: Open, record: none}, {do: Ask, leases: Gone}, {do: Drop}}, end: Disowned, dropping: true,
		},
		"a lane that cannot be opened": {words: []word{{do: Ask, leases: Valid}, {do: Open}}, end: NotEntered},
		"aborted":                      {held: true, words: []word{{do: Commit, tx: broker.Aborted}, {do: Drop}}, end: Refused},
		"a lost answer to a commit that stands": {
			held: true, words: append([]word{{do: Commit}, {do: Drop}}, enter(own.Encode())...), end: Answered,
		},
		"a lost answer to a commit that does not": {
			held: true, words: append([]word{{do: Commit}, {do: Drop}}, enter(none)...), end: Undone,
		},
		"a commit that was fenced, and does not stand": {
			held: true, words: append([]word{{do: Commit, tx: broker.Fenced}, {do: Drop}}, enter(none)...), end: Undone,
		},
		"a commit whose outcome has no name": {
			held: true, words: append([]word{{do: Commit, tx: 99}, {do: Drop}}, enter(own.Encode())...), end: Answered,
		},
		"a lost answer, and a store that does not answer": {
			held: true, words: append([]word{{do: Commit}, {do: Drop}, {do: Ask, leases: NoAnswer}, {do: Pause}}, enter(own.Encode())...), end: Answered,
		},
		"a lost answer, and the leases are gone": {
			held: true, words: []word{{do: Commit}, {do: Drop}, {do: Ask, leases: Gone}}, end: Lost, dropping: true,
		},
		"a lost answer, and nobody waits": {
			held: true, words: []word{{do: Commit}, {do: Drop}, {do: Ask}, {do: Pause, over: true}}, end: Lost, dropping: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := NewTransaction(&Acquisition{Leases: leases, Held: c.held}, items)
			play(t, tx, c.words)
			if tx.End != c.end || tx.Dropping() != c.dropping {
				t.Errorf("end %d, dropping %v; want %d, %v", tx.End, tx.Dropping(), c.end, c.dropping)
			}
		})
	}
}

func TestATransactionSendsNothingThatIsKnownToBeInTheBroker(t *testing.T) {
	t.Parallel()
	items := []Item{item(1, 7), item(2, 8), item(3, 9)}
	other := item(3, 9).Sum + 1 // another message had the seq before the database lost it
	tx := NewTransaction(&Acquisition{Held: true, Known: Marks{2: items[1].Sum, 3: other, 9: 90}}, items)
	tx.Leases = []store.Lease{leaseOf(0, 4096, 5)}
	if do := tx.Start(); do != Commit || !tx.Messages() {
		t.Fatalf("%d is wanted", do)
	}
	var sent []int
	for i := range items {
		if tx.Sends(i) {
			sent = append(sent, i)
		}
	}
	if !slices.Equal(sent, []int{0, 2}) {
		t.Errorf("%v are sent", sent)
	}
	r, err := Decode(tx.Record())
	if err != nil {
		t.Fatal(err)
	}
	if known, _, _ := r.Recall(tx.Leases); !slices.Equal(known.seqs(), []int64{1, 2, 3, 9}) {
		t.Errorf("the record names %v", known.seqs())
	}
	if tx.Committed(broker.Committed); !slices.Equal(tx.Known.seqs(), []int64{9}) {
		t.Errorf("%v are known behind it", tx.Known.seqs())
	}
}

func TestALaneIsEnteredOnceAllShardsAreHeldAndCallsEnded(t *testing.T) {
	t.Parallel()
	var k Lifecycle
	gain := func(gained, all int, want Move) {
		t.Helper()
		if got := k.Gain(gained, all, time.Second, false); got != want {
			t.Errorf("of %d shards %d are gained: %d, want %d", all, gained, got, want)
		}
	}
	gain(0, 4, Stay)
	gain(3, 4, Stay)
	k.RetryAt = 2 * time.Second
	gain(4, 4, Later)
	k.RetryAt = 0
	gain(4, 4, Enter)
	_, life := k.Take()
	gain(4, 4, Stay) // it is being entered
	if !k.Reclaim(Marks{1: 1}, life) {
		t.Error("the lane is not taken back")
	}
	k.Entered(4)
	gain(1, 4, Forget)
	k.Forget()
	gain(4, 4, Stay) // a turn may be out
	if k.Look(false) || !k.Look(true) || k.Look(true) {
		t.Error("a heartbeat is wanted at another time than once, when nothing is out")
	}
	gain(4, 4, Enter)
	if k.Lives(life) || k.Reclaim(nil, life) || len(k.Known) != 0 {
		t.Error("what was dropped is still there")
	}
}

func TestALostShardEndsTheLane(t *testing.T) {
	t.Parallel()
	var k Lifecycle
	if k.Lost(0, false) || k.Leave() {
		t.Error("shards are lost that were never held")
	}
	k.Entered(4)
	if k.Lost(4, false) || !k.Lost(3, false) || k.Lost(3, true) || !k.Lost(0, true) {
		t.Error("a loss is taken for none, or none for one")
	}
	if !k.Leave() || k.Lost(3, false) || !k.Lost(0, false) {
		t.Error("a shutdown counts as a loss, or never ends")
	}
}

func TestMarksAreForgottenAFewTurnsAfterAllWasSettled(t *testing.T) {
	t.Parallel()
	var k Lifecycle
	k.Entered(4)
	k.Known = Marks{1: 1}
	drained := true
	look := func(turns int64) int {
		k.Unlearn(turns, func() bool { return drained })
		return len(k.Known)
	}
	if look(10)+look(11)+look(13) != 3 {
		t.Error("it is forgotten at once")
	}
	drained = false
	_ = look(13)
	drained = true
	if look(14) != 1 || look(17) != 1 || look(18) != 0 {
		t.Error("it is not forgotten three turns after all was seen to be settled")
	}
}

// A process that slept before it opened the lane has fenced the owner of the shards by now: it must not commit.
func TestLeasesAreCheckedAgainAfterALaneWasOpened(t *testing.T) {
	t.Parallel()
	var e Acquisition
	if e.Enter(nil) != Ask || e.Asked(Valid) != Open || e.Opened((&Record{}).Encode(), true) != Ask {
		t.Fatal("a lane is entered in another way than by a look, the lane and a look")
	}
	if e.Asked(Gone) != Drop || e.Dropped() != Over {
		t.Error("a lane is kept that was opened without leases")
	}
	if e.Entered || !e.LostLeases || e.Held {
		t.Errorf("the lane is entered: %v; its leases are lost: %v; it is held: %v", e.Entered, e.LostLeases, e.Held)
	}
}
