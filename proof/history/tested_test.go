package history

import (
	"strings"
	"testing"
)

// tried is a history that puts a promise to the test, or does not, and breaks none.
type tried struct {
	name    string
	promise Promise
	tested  bool
	make    func(h *History, o *Options)
}

// sent is a message of key n that was published, with what became of its transaction.
func sent(h *History, n int, key string, fate Fate) {
	h.Intend(Intent{Tx: Tx(n), ID: id(n), Key: key, Payload: Sum(ids(n)), Begin: second})
	h.End(Outcome{Tx: Tx(n), Fate: fate, Begin: 2 * second, End: 2 * second})
}

// scheduled is a committed message that is due at 30 s.
func scheduled(h *History) {
	h.Intend(Intent{Tx: 1, ID: id(1), Due: 30 * second})
	h.End(Outcome{Tx: 1, Fate: Committed, End: second})
}

// came is a message that lies in the broker.
func came(h *History, n int, key string) {
	h.Deliver(Delivery{ID: id(n), Key: key, Payload: Sum(ids(n)), Position: uint64(n), From: 40 * second, To: 40 * second})
}

// kill is a fault that may have four messages sent again.
var kill = Fault{Kind: "kill", Begin: 39 * second, End: 41 * second, Window: 4}

var tests = []tried{
	{"nothing was published", Sound, false, func(h *History, _ *Options) { h.Break(kill) }},
	{"a message was published", Sound, true, func(h *History, _ *Options) { sent(h, 1, "a", Unknown) }},

	{"all was rolled back", Lost, false, func(h *History, _ *Options) { sent(h, 1, "a", RolledBack) }},
	{"a message was committed", Lost, true, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},

	{"messages may be waiting", Rest, false, func(h *History, o *Options) {
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
		h.Hold(Stored{ID: id(2), State: Pending})
		sent(h, 2, "b", Committed)
		o.MayPend = true
	}},
	{"what was committed is due later", Rest, false, func(h *History, o *Options) {
		scheduled(h)
		h.Hold(Stored{ID: id(1), State: Pending})
		o.Ended = 30 * second
	}},
	{"what was committed was discarded", Rest, false, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		h.Order(Command{ID: id(1), What: Discard})
	}},
	{"what was committed arrived", Rest, true, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"what was committed is parked", Rest, true, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		h.Refuse(Refusal{ID: id(1)})
		h.Hold(Stored{ID: id(1), State: Parked, Attempts: 1})
	}},

	{"nothing was delivered, or ought not to be", Phantom, false, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		h.Order(Command{ID: id(1), What: Cancel, Unknown: true})
	}},
	{"a message was delivered", Phantom, true, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"a message was rolled back", Phantom, true, func(h *History, _ *Options) { sent(h, 1, "a", RolledBack) }},
	{"a message was cancelled", Phantom, true, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		h.Order(Command{ID: id(1), What: Cancel})
	}},

	{"each message has a key of its own", Order, false, func(h *History, _ *Options) {
		for n, key := range []string{"a", "b"} {
			sent(h, n, key, Committed)
			came(h, n, key)
		}
	}},
	{"no order is promised", Order, false, func(h *History, o *Options) {
		for n := range 2 {
			sent(h, n, "a", Committed)
			came(h, n, "a")
		}
		o.Unordered = true
	}},
	{"two messages have a key", Order, true, func(h *History, _ *Options) {
		for n := range 2 {
			sent(h, n, "a", Committed)
			came(h, n, "a")
		}
	}},
	{"a message came twice", Order, true, func(h *History, _ *Options) {
		h.Break(kill)
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
		came(h, 1, "a")
	}},

	{"nothing was delivered", Duplicates, false, func(h *History, _ *Options) {
		h.Break(kill)
		sent(h, 1, "a", RolledBack)
	}},
	{"each came once, and no fault", Duplicates, true, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"each came once, through a fault", Duplicates, true, func(h *History, _ *Options) {
		h.Break(kill)
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
	}},
	{"each came once, as is promised", Duplicates, true, func(h *History, o *Options) {
		h.Break(kill)
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
		o.ExactlyOnce = true
	}},

	{"nothing arrived", Bytes, false, func(h *History, _ *Options) { sent(h, 1, "a", RolledBack) }},
	{"a message arrived", Bytes, true, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},

	{"nothing was scheduled", Schedule, false, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"the broker keeps no times", Schedule, false, func(h *History, _ *Options) { scheduled(h); h.Deliver(Delivery{ID: id(1)}) }},
	{"a scheduled message came", Schedule, true, func(h *History, _ *Options) { scheduled(h); h.Deliver(Delivery{ID: id(1), To: 30 * second}) }},
	{"a scheduled message was held back", Schedule, true, func(h *History, _ *Options) {
		scheduled(h)
		h.Hold(Stored{ID: id(1), State: Pending})
	}},

	{"nobody asked for attempts", Attempts, false, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"all attempts are of poison", Attempts, false, func(h *History, _ *Options) {
		h.Intend(Intent{Tx: 1, ID: id(1), Poison: true})
		h.Hold(Stored{ID: id(1), State: Dead, Attempts: 3})
	}},
	{"the store counts no attempts", Attempts, true, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
		h.Look(Watch{Kind: BurnedAttempts, Begin: second, End: second})
	}},
	{"the store counts attempts", Attempts, true, func(h *History, _ *Options) {
		sent(h, 1, "a", Committed)
		h.Refuse(Refusal{ID: id(1)})
		h.Hold(Stored{ID: id(1), State: Parked, Attempts: 1})
	}},

	{"no bound is said", Takeovers, false, func(h *History, o *Options) {
		h.Wait(Gap{Kind: Takeover, Begin: second, End: 2 * second})
		o.Takeover = 0
	}},
	{"a relay died", Takeovers, true, func(h *History, _ *Options) { h.Wait(Gap{Kind: Takeover, Begin: second, End: 2 * second}) }},

	{"nothing waited", Resumes, false, func(h *History, _ *Options) {
		h.Break(Fault{Kind: "cut", Begin: 0, End: second, Stops: true})
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
	}},
	{"a message waited", Resumes, true, func(h *History, _ *Options) {
		h.Break(Fault{Kind: "cut", Begin: second, End: 39 * second, Stops: true})
		sent(h, 1, "a", Committed)
		came(h, 1, "a")
	}},
	{"a gap was measured", Resumes, true, func(h *History, _ *Options) { h.Wait(Gap{Kind: Resume, Begin: second, End: 2 * second}) }},

	{"only locks were watched", Transactions, false, func(h *History, _ *Options) { h.Look(Watch{Kind: LockWait}) }},
	{"transactions were watched", Transactions, true, func(h *History, _ *Options) { h.Look(Watch{Kind: OpenTransaction}) }},
	{"only transactions were watched", Locks, false, func(h *History, _ *Options) { h.Look(Watch{Kind: OpenTransaction}) }},
	{"locks were watched", Locks, true, func(h *History, _ *Options) { h.Look(Watch{Kind: LockWait}) }},

	{"nobody recorded effects", Applied, false, func(h *History, _ *Options) { sent(h, 1, "a", Committed); came(h, 1, "a") }},
	{"nobody knows whether it was published", Applied, false, func(h *History, o *Options) {
		sent(h, 1, "a", Unknown)
		o.Effects = OnceInOrder
	}},
	{"what was rolled back has no effect", Applied, true, func(h *History, o *Options) {
		sent(h, 1, "a", RolledBack)
		o.Effects = OnceEach
	}},
	{"a message was applied", Applied, true, func(h *History, o *Options) {
		sent(h, 1, "a", Committed)
		h.Apply(Effect{ID: id(1), Key: "a"})
		o.Unread = true
	}},
}

// A promise that nothing could have broken was not put to the test, and one that something could have broken, and did not, is held.
func TestAVerdictSaysWhetherThePromiseWasTested(t *testing.T) {
	t.Parallel()
	tested, idle := map[Promise]bool{}, map[Promise]bool{}
	for _, one := range tests {
		word := "not put to the test"
		if one.tested {
			tested[one.promise], word = true, "held; judged"
		} else {
			idle[one.promise] = true
		}
		t.Run(one.promise.String()+": "+one.name, func(t *testing.T) {
			t.Parallel()
			h, o := &History{}, options()
			one.make(h, &o)
			judgeBoth(t, h, o, func(r *Report) {
				if v := r.Of(one.promise); !r.Held() || !strings.Contains(v.Line(), " "+word) || (v.Seen > 0) != one.tested {
					t.Errorf("%v should be %s:\n%s", one.promise, word, r)
				}
			})
		})
	}
	for p := range Promise(promises) {
		if !tested[p] || !idle[p] {
			t.Errorf("%v is not seen both ways", p)
		}
	}
}
