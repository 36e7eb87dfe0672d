package history

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// broken is a change to the history of calm.
type broken struct {
	name   string
	change func(h *History, o *Options)
	// breaks is the one promise that is broken by it, times how often; none if times is zero.
	breaks Promise
	times  int
	why    string // part of the first example's reason
}

var verdicts = []broken{
	// Sound.
	{"a transaction both committed and rolled back", func(h *History, _ *Options) {
		h.End(Outcome{Tx: 7, Fate: RolledBack})
	}, Sound, 1, "both committed and rolled back"},
	{"an unknown outcome after a certain one", func(h *History, _ *Options) {
		h.End(Outcome{Tx: 1, Fate: Unknown})
	}, Sound, 0, ""},
	{"two messages with one id", func(h *History, _ *Options) {
		h.Intend(Intent{Tx: 8, Index: 1, ID: id(10), Key: "d"})
	}, Sound, 1, "two messages have one id"},
	{"a message published after its transaction's end", func(h *History, _ *Options) {
		h.Intend(Intent{Tx: 7, Index: 1, ID: id(11), Key: "d", Begin: 9*second + 1})
	}, Sound, 1, "after its transaction had committed"},

	// Lost.
	{"a committed message that is nowhere", func(h *History, _ *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
	}, Lost, 1, "committed and not delivered"},
	{"a committed message that a look finds nowhere", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		o.Lookup = func(ID) Found { return Found{Note: "the log was read to its end"} }
	}, Lost, 1, "nowhere to be found"},
	{"a committed message that a look finds in the broker", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		o.Lookup = func(ID) Found { return Found{Broker: true} }
	}, Lost, 0, ""},
	{"a committed message that a look finds parked", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		o.Lookup = func(one ID) Found {
			if one != id(6) {
				return Found{}
			}
			return Found{State: Parked}
		}
	}, Lost, 0, ""},
	{"more seem lost than may be looked up", func(h *History, o *Options) {
		h.deliveries = nil
		o.Lookups, o.Resume = 4, 0
		o.Lookup = func(ID) Found { return Found{State: Parked} }
	}, Lost, 1, "committed and not delivered"},
	{"a command to discard without an answer", func(h *History, _ *Options) { h.commands[0].Unknown = true }, Lost, 0, ""},
	{"a command to try again", func(h *History, _ *Options) { h.commands[0].What = Retry }, Lost, 1, ""},
	{"a lost message that the subscription does not want", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		o.Wants = func(m *Intent) bool { return m.ID != id(6) }
	}, Lost, 0, ""},
	{"a message delivered to another subscription", func(h *History, o *Options) {
		o.Subscription = "mine"
		h.deliveries[4].Subscription = "other"
	}, Lost, 1, ""},

	{"a message that was parked once, and then was nowhere", func(h *History, _ *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Hold(Stored{ID: id(6)})
	}, Lost, 1, "committed and not delivered"},

	// Rest.
	{"a message that waits without a reason", func(h *History, _ *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Hold(Stored{ID: id(6), State: Pending})
		h.intents[5].Due = 0
	}, Rest, 1, "still to be sent"},
	{"a message that waits, in a run that was judged early", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Hold(Stored{ID: id(6), State: Pending})
		h.intents[5].Due, o.MayPend = 0, true
	}, Rest, 0, ""},
	{"a scheduled message that is overdue", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Hold(Stored{ID: id(6), State: Pending})
		o.Ended = 31 * second
	}, Rest, 1, "still to be sent"},
	{"a scheduled message that is not yet due", func(h *History, o *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Hold(Stored{ID: id(6), State: Pending})
		o.Ended = 29 * second
	}, Rest, 0, ""},
	{"what a lost answer left in the store", func(h *History, _ *Options) { h.Hold(Stored{ID: id(10), State: Pending}) }, Rest, 1, ""},

	// Phantom.
	{"a delivery that nobody published", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(99), Place: "s", Position: 99, From: second, To: second})
	}, Phantom, 1, "never published"},
	{"a delivery of what was rolled back", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(5), Key: "a", Payload: Sum(ids(5)), Place: "s", Position: 99, From: 5 * second, To: 5 * second})
	}, Phantom, 1, "rolled back"},
	{"a delivery of a transaction without an answer", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(10), Key: "d", Payload: Sum(ids(10)), Place: "s", Position: 99, From: 80 * second, To: 80 * second})
	}, Phantom, 0, ""},
	{"what was rolled back is in the store", func(h *History, _ *Options) { h.Hold(Stored{ID: id(5), State: Pending}) }, Phantom, 1, "in the store"},
	{"a delivery of what was cancelled", func(h *History, _ *Options) {
		h.Order(Command{ID: id(6), What: Cancel, Begin: 10 * second, End: 11 * second})
	}, Phantom, 1, "cancelled"},
	{"a delivery of what may have been cancelled", func(h *History, _ *Options) {
		h.Order(Command{ID: id(6), What: Cancel, Unknown: true, Begin: 10 * second, End: 11 * second})
	}, Phantom, 0, ""},
	{"a delivery of what the database forgot", func(h *History, _ *Options) {
		h.Break(Fault{Kind: "restore", Rewinds: true, RewoundTo: 4500 * time.Millisecond, Begin: 5 * second, End: 6 * second, Window: -1})
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
	}, Phantom, 0, ""},

	// Order.
	{"two of a transaction in the wrong order", func(h *History, _ *Options) {
		h.deliveries[0].Position, h.deliveries[2].Position = 2, 0
	}, Order, 1, "of one transaction and key, the first was delivered after it"},
	{"two transactions in the wrong order", func(h *History, _ *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
	}, Order, 1, "the first committed 1s before the second was begun"},
	{"two transactions in the wrong order, where none is promised", func(h *History, o *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		o.Unordered = true
	}, Order, 0, ""},
	{"two transactions at one time in the other order", func(h *History, _ *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		h.intents[2].Begin = 2 * second
	}, Order, 0, ""},
	{"two keys in the other order", func(h *History, _ *Options) {
		h.deliveries[0].Position, h.deliveries[1].Position = 1, 0
	}, Order, 0, ""},
	{"a message delivered again after its follower", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99, From: 60 * second, To: 60 * second})
	}, Order, 0, ""},
	{"a message delivered while one before it is parked", func(h *History, _ *Options) {
		h.Intend(Intent{Tx: 9, ID: id(12), Key: "c", Begin: 10 * second})
		h.End(Outcome{Tx: 9, Fate: Committed, Begin: 11 * second, End: 11 * second})
		h.Deliver(Delivery{ID: id(12), Key: "c", Place: "s", Position: 99, From: 60 * second, To: 60 * second})
	}, Order, 1, "is still to be delivered"},
	{"a message delivered while one before it is parked, and left behind", func(h *History, o *Options) {
		h.Intend(Intent{Tx: 9, ID: id(12), Key: "c", Begin: 10 * second})
		h.End(Outcome{Tx: 9, Fate: Committed, Begin: 11 * second, End: 11 * second})
		h.Deliver(Delivery{ID: id(12), Key: "c", Place: "s", Position: 99, From: 60 * second, To: 60 * second})
		o.Skip = true
	}, Order, 0, ""},
	{"a message delivered before the one in front was discarded", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(10), Key: "d", Payload: Sum(ids(10)), Place: "s", Position: 99, From: 69 * second, To: 69 * second})
	}, Order, 1, "was removed only after that"},
	{"a message delivered while the one in front was being discarded", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(10), Key: "d", Payload: Sum(ids(10)), Place: "s", Position: 99, From: 69 * second, To: 70 * second})
	}, Order, 0, ""},
	{"a discarded message that arrives after all", func(h *History, _ *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		h.Order(Command{ID: id(2), What: Discard, Begin: 40 * second, End: 41 * second})
	}, Order, 0, ""},
	{"a message that arrived too late, and was discarded then", func(h *History, _ *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		h.Order(Command{ID: id(2), What: Discard, Begin: 41 * second, End: 42 * second})
	}, Order, 1, "was delivered after it"},
	{"a key in two places", func(h *History, _ *Options) { h.deliveries[3].Place = "other" }, Order, 1, "they lie in two places"},
	{"a message in two places", func(h *History, _ *Options) { h.deliveries[5].Place = "other" }, Order, 1, "a message lies in two places"},
	{"two topics in two places", func(h *History, _ *Options) {
		h.deliveries[3].Place, h.intents[2].Topic = "other", "other"
	}, Order, 0, ""},

	{"a message that came too late, and may have been there before it was wiped", func(h *History, o *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		o.Unseen = func(one ID) bool { return one == id(2) }
	}, Order, 0, ""},
	{"a message that came too late, of which another one may have been wiped", func(h *History, o *Options) {
		h.deliveries[2].Position, h.deliveries[3].Position = 3, 2
		o.Unseen = func(one ID) bool { return one == id(4) }
	}, Order, 1, "was delivered after it"},

	// Duplicates.
	{"a duplicate before the fault", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 49*second, 50*second-1
		h.deliveries[1].From, h.deliveries[1].To = 29*second, 30*second-1
	}, Duplicates, 1, "no fault explains"},
	{"a duplicate as the fault begins", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 49*second, 50*second
	}, Duplicates, 0, ""},
	{"a duplicate at the end of the slack", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 71*second, 72*second
	}, Duplicates, 0, ""},
	{"a duplicate after the slack", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 71*second+1, 72*second
		h.deliveries[1].From, h.deliveries[1].To = 29*second, 30*second-1
	}, Duplicates, 1, "no fault explains"},
	{"a duplicate after the slack of what was stored so shortly before the fault that it was not settled yet", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 71*second+1, 72*second
		h.deliveries[1].From, h.deliveries[1].To = 29*second, 30*second
	}, Duplicates, 0, ""},
	{"a duplicate after the slack of what was stored at its end", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 99*second, 99*second
		h.deliveries[1].From, h.deliveries[1].To = 71*second, 72*second
	}, Duplicates, 0, ""},
	{"a duplicate of what was stored after the slack", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 99*second, 99*second
		h.deliveries[1].From, h.deliveries[1].To = 71*second+1, 72*second
	}, Duplicates, 1, "no fault explains"},
	{"a duplicate of a fault that never ended", func(h *History, _ *Options) {
		h.deliveries[5].From, h.deliveries[5].To = 99*second, 100*second
		h.faults[0].End = 0
	}, Duplicates, 0, ""},
	{"a duplicate where exactly once is promised", func(_ *History, o *Options) { o.ExactlyOnce = true }, Duplicates, 1, "exactly once"},
	{"a duplicate that only a fault without a window covers", func(h *History, _ *Options) { h.faults[0].Window = -1 }, Duplicates, 1, "no fault"},
	{"more duplicates than the window", func(h *History, o *Options) {
		h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99, From: 60 * second, To: 60 * second})
		o.InFlight = 1
	}, Duplicates, 1, "2 duplicates between 50s and 1m11s"},
	{"more duplicates than the window of their own fault", func(h *History, o *Options) {
		h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99, From: 60 * second, To: 60 * second})
		h.Break(Fault{Kind: "freeze", Begin: 100 * second, End: 101 * second})
		o.InFlight = 1
	}, Duplicates, 1, "2 duplicates between 50s and 1m11s; the faults of that time explain 1"},
	{"as many duplicates as the windows of two faults at one time", func(h *History, o *Options) {
		h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99, From: 60 * second, To: 60 * second})
		h.Break(Fault{Kind: "freeze", Begin: 71 * second, End: 72 * second})
		o.InFlight = 1
	}, Duplicates, 0, ""},
	{"duplicates without a time, more than the windows", func(h *History, o *Options) {
		for range 2 {
			h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99})
		}
		o.InFlight = 2
	}, Duplicates, 1, "3 duplicates; 2 faults explain 2 at most"},

	// Bytes.
	{"another payload", func(h *History, _ *Options) { h.deliveries[1].Payload[0]++ }, Bytes, 1, "the payload is not"},
	{"another payload of a duplicate", func(h *History, _ *Options) { h.deliveries[5].Payload[31]++ }, Bytes, 1, "the payload is not"},
	{"another key", func(h *History, _ *Options) { h.deliveries[1].Key = "B" }, Bytes, 1, "the key is not"},
	{"a payload that was not recorded", func(h *History, _ *Options) { h.deliveries[1].Payload = Hash{} }, Bytes, 0, ""},

	// Schedule.
	{"a message before it was due", func(h *History, _ *Options) { h.intents[5].Due = 70 * second }, Schedule, 1, "before it was due"},
	{"a message as it was due", func(h *History, _ *Options) { h.intents[5].Due = 60 * second }, Schedule, 0, ""},

	// Attempts.
	{"an attempt without a refusal", func(h *History, _ *Options) { h.stored[1].Attempts = 2 }, Attempts, 1, "refused it 1 times, and 2 attempts"},
	{"an attempt that was seen of a message that arrived", func(h *History, _ *Options) {
		h.Hold(Stored{ID: id(1), Attempts: 1})
	}, Attempts, 1, "refused it 0 times, and 1 attempts"},
	{"a parked message of which an earlier attempt was seen", func(h *History, _ *Options) {
		h.Hold(Stored{ID: id(8), Attempts: 1})
	}, Attempts, 0, ""},
	{"an attempt with a refusal more", func(h *History, _ *Options) {
		h.stored[1].Attempts = 2
		h.Refuse(Refusal{ID: id(8)})
	}, Attempts, 0, ""},

	// Takeovers and resumes.
	{"a takeover that took too long", func(h *History, _ *Options) { h.gaps[0].End = 54*second + 1 }, Takeovers, 1, "the bound is 4s"},
	{"a takeover that took as long as it may", func(h *History, _ *Options) { h.gaps[0].End = 54 * second }, Takeovers, 0, ""},
	{"no takeover at all", func(h *History, _ *Options) { h.gaps[0].End = 0 }, Takeovers, 1, "any more"},
	{"a fault with no delivery soon after", func(_ *History, o *Options) { o.Resume = 5*second - 1 }, Resumes, 1, "nothing was delivered for 5s"},
	{"a fault with a delivery after the bound", func(_ *History, o *Options) { o.Resume = 5 * second }, Resumes, 0, ""},
	{"a fault while the bound after another one runs", func(h *History, o *Options) {
		h.Break(Fault{Kind: "cut", Begin: 18 * second, End: 19 * second, Stops: true, Window: -1})
		o.Resume = 4 * second
	}, Resumes, 0, ""},
	{"a measured gap that took too long", func(h *History, _ *Options) {
		h.Wait(Gap{Kind: Resume, Of: "cut", Begin: 15 * second, End: 23 * second})
	}, Resumes, 1, "nothing was delivered for 8s"},

	// Transactions and locks.
	{"a transaction open too long", func(h *History, _ *Options) { h.watches[0].End += time.Millisecond + 1 }, Transactions, 1, "relay's transaction"},
	{"a transaction open as long as it may", func(h *History, _ *Options) { h.watches[0].End += time.Millisecond }, Transactions, 0, ""},
	{"a producer that waited too long", func(h *History, _ *Options) { h.watches[1].End += 41 * time.Millisecond }, Locks, 1, "a producer waited"},
	{"a producer that waited as long as it may", func(h *History, _ *Options) { h.watches[1].End += 40 * time.Millisecond }, Locks, 0, ""},
}

// applies has the handler of calm apply message 6 too: then each message that needs an effect has one.
func applies(h *History, o *Options) {
	o.Effects = OnceInOrder
	h.Apply(Effect{ID: id(6), Key: "a", Payload: Sum(ids(6)), Position: 4})
}

// effectVerdicts are changes to the effects of calm. All of them must have been recorded.
var effectVerdicts = []broken{
	{"each has its effect", func(*History, *Options) {}, Applied, 0, ""},
	{"an effect twice", func(h *History, _ *Options) {
		h.Apply(Effect{ID: id(4), Key: "b", Payload: Sum(ids(4)), Position: 99})
	}, Applied, 1, "applied 2 times"},
	{"an effect three times", func(h *History, _ *Options) {
		for range 2 {
			h.Apply(Effect{ID: id(4), Key: "b", Payload: Sum(ids(4)), Position: 99})
		}
	}, Applied, 1, "applied 3 times"},
	{"an effect twice, where not all were recorded", func(h *History, o *Options) {
		h.Apply(Effect{ID: id(4), Key: "b", Payload: Sum(ids(4)), Position: 99})
		o.Effects = NoEffects
	}, Applied, 1, "applied 2 times"},
	{"an effect for each of two consumers", func(h *History, o *Options) {
		o.Subscription = "mine"
		h.Apply(Effect{ID: id(4), Subscription: "other", Key: "b", Payload: Sum(ids(4)), Position: 99})
	}, Applied, 0, ""},
	{"an effect of another consumer alone", func(h *History, o *Options) {
		o.Subscription = "mine"
		h.effects[2].Subscription = "other"
	}, Applied, 1, "committed and not applied"},
	{"a delivery twice, applied once", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(1), Key: "a", Payload: Sum(ids(1)), Place: "s", Position: 99, From: 60 * second, To: 60 * second})
	}, Applied, 0, ""},

	{"an effect that is lost", func(h *History, _ *Options) { h.effects = h.effects[1:] }, Applied, 1, "committed and not applied"},
	{"an effect that is lost, in order or not", func(h *History, o *Options) {
		h.effects = h.effects[1:]
		o.Effects = OnceEach
	}, Applied, 1, "committed and not applied"},
	{"an effect that was not recorded, as others", func(h *History, o *Options) {
		h.effects = h.effects[1:]
		o.Effects = NoEffects
	}, Applied, 0, ""},
	{"an effect that is lost, in a run that was judged early", func(h *History, o *Options) {
		h.effects = h.effects[1:]
		o.MayPend = true
	}, Applied, 0, ""},
	{"an effect that is lost, and nobody read the broker", func(h *History, o *Options) {
		h.deliveries, h.effects = nil, h.effects[1:]
		o.Unread, o.Resume = true, 0
	}, Applied, 1, "committed and not applied"},
	{"all effects, and nobody read the broker", func(h *History, o *Options) {
		h.deliveries = nil
		o.Unread, o.Resume = true, 0
	}, Applied, 0, ""},

	{"an effect of a message that nobody sent", func(h *History, _ *Options) {
		h.Apply(Effect{ID: id(99), Key: "a", Position: 99})
	}, Applied, 1, "applied, and never published"},
	{"an effect of what was rolled back", func(h *History, _ *Options) {
		h.Apply(Effect{ID: id(5), Key: "a", Payload: Sum(ids(5)), Position: 99})
	}, Applied, 1, "its transaction rolled back"},
	{"an effect of what was cancelled", func(h *History, _ *Options) {
		h.deliveries = append(h.deliveries[:4], h.deliveries[5:]...)
		h.Order(Command{ID: id(6), What: Cancel, Begin: 10 * second, End: 11 * second})
	}, Applied, 1, "it was cancelled"},
	{"an effect of a transaction without an answer", func(h *History, _ *Options) {
		h.Apply(Effect{ID: id(10), Key: "d", Payload: Sum(ids(10)), Position: 99})
	}, Applied, 0, ""},
	{"no effect of a transaction without an answer, which was delivered", func(h *History, _ *Options) {
		h.Deliver(Delivery{ID: id(10), Key: "d", Payload: Sum(ids(10)), Place: "s", Position: 99, From: 80 * second, To: 80 * second})
	}, Applied, 1, "delivered and not applied"},
	{"an effect of a transaction without an answer, twice", func(h *History, _ *Options) {
		for range 2 {
			h.Apply(Effect{ID: id(10), Key: "d", Payload: Sum(ids(10)), Position: 99})
		}
	}, Applied, 1, "applied 2 times"},

	{"two effects of a transaction in the wrong order", func(h *History, _ *Options) {
		h.effects[0].Position, h.effects[1].Position = 1, 0
	}, Applied, 1, "of one transaction and key, the first was applied after it"},
	{"two effects of two transactions in the wrong order", func(h *History, _ *Options) {
		h.effects[1].Position, h.effects[3].Position = 3, 1
	}, Applied, 1, "the first committed 1s before the second was begun, and was applied after it"},
	{"two effects in the wrong order, where none is promised", func(h *History, o *Options) {
		h.effects[1].Position, h.effects[3].Position = 3, 1
		o.Effects = OnceEach
	}, Applied, 0, ""},
	{"two effects of transactions at one time in the other order", func(h *History, _ *Options) {
		h.effects[1].Position, h.effects[3].Position = 3, 1
		h.intents[2].Begin = 2 * second
	}, Applied, 0, ""},
	{"effects of two keys in the other order", func(h *History, _ *Options) {
		h.effects[2].Position, h.effects[3].Position = 3, 2
	}, Applied, 0, ""},
	{"an effect in the wrong order of what was discarded", func(h *History, _ *Options) {
		h.effects[1].Position, h.effects[3].Position = 3, 1
		h.Order(Command{ID: id(2), What: Discard, Begin: 41 * second, End: 42 * second})
	}, Applied, 0, ""},

	{"an effect of another payload", func(h *History, _ *Options) { h.effects[2].Payload[0]++ }, Bytes, 1, "what was applied is not the payload"},
	{"an effect of another key", func(h *History, _ *Options) { h.effects[2].Key = "B" }, Bytes, 1, "the key of the effect is not"},
	{"an effect without its payload", func(h *History, _ *Options) { h.effects[2].Payload = Hash{} }, Bytes, 0, ""},
}

// Each validator sees what breaks its promise, and only that; and does not see it in a history that is almost the same.
func TestEachValidatorTellsBrokenFromKeptPromises(t *testing.T) {
	t.Parallel()
	wrong, held := map[Promise]bool{}, map[Promise]bool{}
	test := func(one *broken, before func(*History, *Options)) {
		if one.times > 0 {
			wrong[one.breaks] = true
		} else {
			held[one.breaks] = true
		}
		t.Run(strings.ReplaceAll(one.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h, o := calm(), options()
			before(h, &o)
			one.change(h, &o)
			judgeBoth(t, h, o, func(r *Report) { one.judge(t, r) })
		})
	}
	for i := range verdicts {
		test(&verdicts[i], func(*History, *Options) {})
	}
	for i := range effectVerdicts {
		test(&effectVerdicts[i], applies)
	}
	for p := range Promise(promises) {
		if !wrong[p] || !held[p] {
			t.Errorf("%v is not seen both ways", p)
		}
	}
}

func (one *broken) judge(t *testing.T, r *Report) {
	t.Helper()
	for p := range Promise(promises) {
		v := r.Of(p)
		want := 0
		if p == one.breaks {
			want = one.times
		}
		if v.Broken != want || v.Held != (want == 0) || (want == 0) != (len(v.Examples) == 0) {
			t.Errorf("%v is broken %d times, and should be %d times\n%s", p, v.Broken, want, r)
		}
	}
	if one.times == 0 {
		return
	}
	first := r.Of(one.breaks).Examples[0]
	if !strings.Contains(first.Why, one.why) {
		t.Errorf("the reason is %q, not %q", first.Why, one.why)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), first.Why) || r.Held() {
		t.Errorf("the error is %v", err)
	}
}

// judgeBoth judges a history in memory, and from files.
func judgeBoth(t *testing.T, h *History, o Options, judge func(*Report)) {
	t.Helper()
	inMemory := h.Check(o)
	judge(inMemory)
	fromFiles, err := CheckFiles(writeFiles(t, h, 3), o, Space{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	judge(fromFiles)
	if a, b := inMemory.String(), fromFiles.String(); a != b {
		t.Errorf("in memory:\n%s\nfrom files:\n%s", a, b)
	}
}

// writeFiles writes a history into some files.
func writeFiles(t *testing.T, h *History, n int) []string {
	t.Helper()
	dir := t.TempDir()
	names := make([]string, n)
	for i := range names {
		names[i] = filepath.Join(dir, string(rune('a'+i)))
		w, err := Create(names[i], i*50)
		if err != nil {
			t.Fatal(err)
		}
		part(h, i, n).replay(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// part is the i-th of n parts of a history.
func part(h *History, i, n int) *records {
	var out records
	cut(&out.intents, h.intents, i, n)
	cut(&out.outcomes, h.outcomes, i, n)
	cut(&out.deliveries, h.deliveries, i, n)
	cut(&out.refusals, h.refusals, i, n)
	cut(&out.stored, h.stored, i, n)
	cut(&out.commands, h.commands, i, n)
	cut(&out.faults, h.faults, i, n)
	cut(&out.gaps, h.gaps, i, n)
	cut(&out.watches, h.watches, i, n)
	cut(&out.effects, h.effects, i, n)
	return &out
}

func cut[T any](to *[]T, from []T, i, n int) { *to = from[i*len(from)/n : (i+1)*len(from)/n] }

func (r *records) replay(to Recorder) {
	each(r.intents, to.Intend)
	each(r.outcomes, to.End)
	each(r.deliveries, to.Deliver)
	each(r.refusals, to.Refuse)
	each(r.stored, to.Hold)
	each(r.commands, to.Order)
	each(r.faults, to.Break)
	each(r.gaps, to.Wait)
	each(r.watches, to.Look)
	each(r.effects, to.Apply)
}

func each[T any](all []T, do func(T)) {
	for i := range all {
		do(all[i])
	}
}
