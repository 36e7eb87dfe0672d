package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store"
)

// wrongSettlements are mistakes of settling, parking and owning.
func wrongSettlements() []wrong {
	return []wrong{
		{"the token is not checked", noToken, []string{
			"A settlement with another token is lost and writes nothing",
			"A dead relay's shards are taken over, and its settlements are lost",
		}},
		{"the version is not checked", noVersion, []string{
			"A settlement with another version is lost and writes nothing",
			"A settlement two behind is lost",
			"A repeated settlement reports applied and changes nothing",
			"A repeated settlement is in the ledger once",
			"Of settlements of one lease at a time one is written",
		}},
		{"a repeat is lost", loseRepeats, []string{
			"A repeated settlement reports applied and changes nothing",
			"A repeat among new settlements is told apart",
		}},
		{"a lost settlement fails the turn", loseTogether, []string{
			"A lost settlement does not fail the others of its turn",
		}},
		{"keys are always cleared", alwaysCleared, []string{
			"A key is cleared when its last blocking message is resolved, not before",
			"A repeated settlement reports applied and changes nothing",
		}},
		{"keys are never cleared", answered(func(r *store.TurnResult) {
			for i := range r.Verdicts {
				r.Verdicts[i].Cleared = nil
			}
		}), []string{"A key is cleared when its last blocking message is resolved, not before"}},
		{"due looks at every message", dueAll, []string{
			"Of a blocked key only the first message counts",
			"Followers end before the first that is not blocked",
			"What is due later is not due, and the wait is told",
		}},
		{"what postpones a message is an attempt", countPostponed, []string{
			"What only postpones a message is not in its history",
		}},
		{"blocking is forgotten", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].Blocking = false
			}
		}), []string{
			"The blocked keys of a lease are all and only those",
			"Of a blocked key only the first message counts",
		}},
		{"one blocked key is left out", func(db *database) {
			s := spoil(db)
			s.blocked = func(ctx context.Context, l store.Lease) (store.Blocks, error) {
				got, err := s.Store.Blocked(ctx, l)
				got.Keys = got.Keys[:max(0, len(got.Keys)-1)]
				return got, err
			}
		}, []string{
			"The blocked keys of a lease are all and only those",
			"Blocked keys survive a change of hands",
		}},
		{"nothing is superseded", changed(func(st *store.Settlement) {
			st.Supersede = slices.Clone(st.Supersede)
			for i := range st.Supersede {
				st.Supersede[i].Seq = 0
			}
		}), []string{
			"Only what waits and is older is superseded",
			"A superseded message is listed with what superseded it",
			"A settlement supersedes what it parks",
			"Commands about a superseded message are closed",
			"The ledger has superseded messages under a fate of their own",
		}},
		{"newer messages are superseded too", changed(func(st *store.Settlement) {
			st.Supersede = slices.Clone(st.Supersede)
			for i := range st.Supersede {
				st.Supersede[i].Seq += 1000
			}
		}), []string{"Only what waits and is older is superseded"}},
		{"a key that is named without a message is superseded", changed(func(st *store.Settlement) {
			st.Supersede = slices.Clone(st.Supersede)
			for i := range st.Supersede {
				if st.Supersede[i].Seq == 0 {
					st.Supersede[i].Seq = 1 << 40
				}
			}
		}), []string{"A settlement that names a key without a message tells what waits"}},
		{"blocking rows and dead ones are superseded", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].Blocking, st.Park[i].State = false, store.ParkRetrying
			}
		}), []string{
			"Only what waits and is older is superseded",
			"A superseded message is listed with what superseded it",
			"Blocked names the newest that waits of each key",
		}},
		{"superseding counts again when it is repeated", answered(func(r *store.TurnResult) {
			for i := range r.Verdicts {
				r.Verdicts[i].Superseded = max(r.Verdicts[i].Superseded, int64(len(r.Verdicts[i].Waiting)))
			}
		}), []string{"A repeated settlement supersedes nothing again"}},
		{"what is left over when many end stays", answered(func(r *store.TurnResult) {
			for i := range r.Verdicts {
				v := &r.Verdicts[i]
				v.Applied, v.More = v.Applied || v.More, false
			}
		}), []string{
			"A settlement supersedes a bounded number, and is made again for the rest",
			"What a settlement writes itself does not end in a part of it",
		}},
		{"all that waits ends at once", unbounded, []string{
			"A settlement supersedes a bounded number, and is made again for the rest",
		}},
		{"a settlement of which parts are left keeps those behind it back", oneByOne(true), []string{
			"A settlement of which parts are left does not keep others of its turn back",
		}},
		{"each settlement of a turn ends as many rows as one alone", oneByOne(false), []string{
			"A settlement of which parts are left does not keep others of its turn back",
		}},
		{"a part of a settlement ends what the settlement writes", changed(func(st *store.Settlement) {
			if len(st.Supersede) > 0 {
				st.Park = nil
			}
		}), []string{"What a settlement writes itself does not end in a part of it"}},
		{"nobody is told what waits", answered(func(r *store.TurnResult) {
			for i := range r.Verdicts {
				r.Verdicts[i].Waiting = nil
			}
		}), []string{
			"Only what waits and is older is superseded",
			"A settlement that names a key without a message tells what waits",
		}},
		{"followers do not come", due(func(d *store.Due) { d.Followers = 0 }), []string{
			"Followers come right behind the first of their key",
		}},
		{"what is in hand comes again", due(func(d *store.Due) { d.Skip = nil }), []string{
			"Messages that the caller has already are left out, with their keys",
		}},
		{"due looks at all slots", due(func(d *store.Due) { d.Slots = []store.Slots{store.AllSlots} }), []string{
			"Only the slots asked for count",
		}},
		{"the delay is not heeded", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].Delay = 0
			}
		}), []string{"What is due later is not due, and the wait is told"}},
		{"messages in flight are due", changed(func(st *store.Settlement) {
			for i := range st.Park {
				if st.Park[i].State == store.ParkInFlight {
					st.Park[i].State = store.ParkRetrying
				}
			}
		}), []string{"A message in flight is due only after its shard changed hands"}},
		{"messages in flight stay so for ever", changed(func(st *store.Settlement) {
			for i := range st.Park {
				if st.Park[i].State == store.ParkInFlight {
					st.Park[i].State = store.ParkDead
				}
			}
		}), []string{"A message in flight is due only after its shard changed hands"}},
		{"held messages are due by themselves", changed(func(st *store.Settlement) {
			for i := range st.Park {
				if st.Park[i].State == store.ParkHeld {
					st.Park[i].State = store.ParkRetrying
				}
			}
		}), []string{
			"Held messages come only when asked for their topic",
			"Blocked names the held topics",
			"Taking a shard leaves held messages held",
		}},
		{"topics are compared without case", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].Topic = strings.ToLower(st.Park[i].Topic)
			}
		}), []string{"Topics are compared byte for byte"}},
		{"held messages of a key come together", changed(func(st *store.Settlement) {
			for i := range st.Park {
				st.Park[i].Blocking = st.Park[i].Blocking && st.Park[i].State != store.ParkHeld
			}
		}), []string{
			"Held messages of a topic come lowest seq first, of a key only the first",
		}},
		{"held messages come latest first", func(db *database) {
			s := spoil(db)
			s.due = func(ctx context.Context, d store.Due) ([]store.Parked, error) {
				got, err := s.Store.Due(ctx, d)
				if len(d.Topics) > 0 {
					slices.Reverse(got)
				}
				return got, err
			}
		}, []string{
			"Held messages of a topic come lowest seq first, of a key only the first",
			"Held messages of several topics come in one line",
		}},
		{"an expired heartbeat is renewed", func(db *database) {
			s := spoil(db)
			s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
				b.TTL = forever
				return s.Store.Beat(ctx, b)
			}
		}, []string{
			"A heartbeat whose time is over is never renewed",
			"A heartbeat that was marked dead is never renewed, nor made again",
			"A dead relay's shards are taken over, and its settlements are lost",
		}},
		{"a view has the time of another clock", func(db *database) {
			s := spoil(db)
			s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
				v, err := s.Store.Beat(ctx, b)
				v.Now = v.Now.Add(time.Minute)
				return v, err
			}
		}, []string{"A view has the time of the clock that messages are stored by"}},
		{"a view hides a pause", func(db *database) {
			s := spoil(db)
			s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
				v, err := s.Store.Beat(ctx, b)
				for i := range v.Subscriptions {
					v.Subscriptions[i].Paused = false
				}
				return v, err
			}
		}, []string{"A subscription is paused until it is resumed"}},
		{"a held shard is taken", steal, []string{
			"A shard that a live relay holds is not taken",
			"Of eight relays that want one shard one gets it",
		}},
		{"a shard that is held already is taken again", retake, []string{
			"A shard that its taker holds stays as it is",
		}},
		{"leaving gives nothing back", func(db *database) {
			s := spoil(db)
			s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
				b.Leave = false
				b.TTL = forever
				return s.Store.Beat(ctx, b)
			}
		}, []string{"A relay that leaves gives everything back"}},
		{"nothing is reshaped", func(db *database) {
			s := spoil(db)
			s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
				b.Reshape = nil
				return s.Store.Beat(ctx, b)
			}
		}, []string{"Reshaped from 1 to 4, 3, 8 and 1, each message comes once and in order"}},
		{"a reshape settles what is uneven", evenOut, []string{"A reshape is refused where positions differ"}},
		{"a command comes once", commandOnce, []string{"A command comes with every turn until it is done"}},
		{"a command is known by its id alone", commandByID, []string{
			"A settlement leaves a command that has the id of another",
			"A message is discarded though its command is forgotten",
		}},
		{"messages are dropped before their time", func(db *database) {
			s := spoil(db)
			s.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				r.Keep = 0
				return s.Store.Maintain(ctx, r)
			}
		}, []string{"Nothing is dropped before its time"}},
		{"the ledger is not kept", changed(func(st *store.Settlement) { st.Tally = nil }), []string{
			"What every subscription has passed is dropped, and nothing else",
		}},
		{"all is dropped at the first chance", dropAll, []string{
			"Nothing is dropped while a subscription lags",
			"Nothing is dropped while one shard of a subscription lags",
			"Nothing is dropped before its time",
			"Nothing is dropped while the ledger counts too few, and that is said",
			"Nothing is dropped while the ledger counts another message",
			"A message of a transaction that is open all the while is kept and read",
		}},
		{"parked messages go with the log", dropParked, []string{
			"A parked message outlives the log, with its bytes",
		}},
		{"Maintain needs no lease", func(db *database) {
			s := spoil(db)
			s.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
				rep, err := s.Store.Maintain(ctx, r)
				if errors.Is(err, store.ErrLeaseLost) {
					return rep, nil
				}
				return rep, err
			}
		}, []string{
			"Maintain needs the lease of its pseudo-subscription",
			"The maintenance lease is one, and changes hands like others",
		}},
		{"a declaration fails as a whole", declareTogether, []string{
			"Another filter is ErrFilterDiffers, and the rest is declared",
		}},
		{"every subscription begins at the first message", func(db *database) {
			s := spoil(db)
			s.declare = func(ctx context.Context, specs []store.Spec) error {
				specs = slices.Clone(specs)
				for i := range specs {
					specs[i].From = store.Start{}
				}
				return s.Store.Declare(ctx, specs)
			}
		}, []string{
			"From now: only what commits after the declaration",
			"From a time: what was stored since, and little more",
		}},
	}
}

// changed changes the settlements of turns.
func changed(change func(*store.Settlement)) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
			t.Settle = slices.Clone(t.Settle)
			for i := range t.Settle {
				t.Settle[i].Park = slices.Clone(t.Settle[i].Park)
				change(&t.Settle[i])
			}
			return s.Store.Turn(ctx, t)
		}
	}
}

// countPostponed counts each parking as an attempt, so that each is in the history.
func countPostponed(db *database) {
	attempts := map[int64]int{}
	var mu sync.Mutex
	changed(func(st *store.Settlement) {
		mu.Lock()
		defer mu.Unlock()
		for i := range st.Park {
			p := &st.Park[i]
			attempts[p.Seq]++
			p.Attempts = attempts[p.Seq]
		}
	})(db)
}

// unbounded makes a turn until nothing is left over.
func unbounded(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		superseded := int64(0)
		for {
			res, err := s.Store.Turn(ctx, t)
			if err != nil || len(res.Verdicts) == 0 || !res.Verdicts[0].More {
				if len(res.Verdicts) > 0 {
					res.Verdicts[0].Superseded += superseded
				}
				return res, err
			}
			superseded += res.Verdicts[0].Superseded
		}
	}
}

// oneByOne makes each settlement in a turn of its own. If waits, those behind one of which parts are left are not made.
func oneByOne(waits bool) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
			var verdicts []store.Verdict
			left := false
			for ; len(t.Settle) > 1; t.Settle = t.Settle[1:] {
				res, err := s.Store.Turn(ctx, store.Turn{Settle: t.Settle[:1], Life: t.Life})
				if err != nil {
					return res, err
				}
				verdicts = append(verdicts, res.Verdicts...)
				left = left || res.Verdicts[0].More
			}
			if left && waits {
				t.Settle = nil
				verdicts = append(verdicts, store.Verdict{More: true})
			}
			res, err := s.Store.Turn(ctx, t)
			res.Verdicts = append(verdicts, res.Verdicts...)
			return res, err
		}
	}
}

// due changes what Due is asked.
func due(change func(*store.Due)) func(*database) {
	return func(db *database) {
		s := spoil(db)
		s.due = func(ctx context.Context, d store.Due) ([]store.Parked, error) {
			change(&d)
			return s.Store.Due(ctx, d)
		}
	}
}

// noToken gives every settlement the token that its shard has.
func noToken(db *database) {
	s := spoil(db)
	seen := s.watch()
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		t.Settle = slices.Clone(t.Settle)
		for i := range t.Settle {
			if sh, ok := seen.of(t.Settle[i].Shard); ok {
				t.Settle[i].Token = sh.Token
			}
		}
		return s.Store.Turn(ctx, t)
	}
}

// noVersion gives every settlement the version that its shard has.
func noVersion(db *database) {
	s := spoil(db)
	seen := s.watch()
	var mu sync.Mutex
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		mu.Lock()
		defer mu.Unlock()
		t.Settle = slices.Clone(t.Settle)
		for i := range t.Settle {
			if sh, ok := seen.of(t.Settle[i].Shard); ok {
				t.Settle[i].Version = sh.Version
			}
		}
		res, err := s.Store.Turn(ctx, t)
		for i, v := range res.Verdicts {
			if v.Applied {
				seen.settled(t.Settle[i].Shard)
			}
		}
		return res, err
	}
}

// loseRepeats applies a settlement once and calls its repeats lost.
func loseRepeats(db *database) {
	var mu sync.Mutex
	applied := map[store.Lease]bool{}
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		mu.Lock()
		defer mu.Unlock()
		for i, st := range t.Settle {
			if applied[st.Lease] {
				res.Verdicts[i] = store.Verdict{}
			}
			applied[st.Lease] = true
		}
		return res, err
	}
}

func loseTogether(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for _, v := range res.Verdicts {
			if !v.Applied {
				return store.TurnResult{}, errors.Join(err, store.ErrLeaseLost)
			}
		}
		return res, err
	}
}

func alwaysCleared(db *database) {
	s := spoil(db)
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for i, st := range t.Settle {
			for _, p := range st.Park {
				res.Verdicts[i].Cleared = append(res.Verdicts[i].Cleared, p.Hash)
			}
		}
		return res, err
	}
}

// dueAll returns every parked message, whether or not it is its key's first, and
// whatever its state and its time.
func dueAll(db *database) {
	s := spoil(db)
	var mu sync.Mutex
	lot := map[int64]store.Park{}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, st := range t.Settle {
			for _, p := range st.Park {
				lot[p.Seq] = p
			}
			for _, r := range st.Resolve {
				delete(lot, r.Seq)
			}
		}
		return s.Store.Turn(ctx, t)
	}
	s.due = func(ctx context.Context, d store.Due) ([]store.Parked, error) {
		mu.Lock()
		defer mu.Unlock()
		res, err := s.Store.Turn(ctx, store.Turn{Read: []store.Request{{Ref: d.Ref, Slots: d.Slots, Limit: 1000, Bytes: 1 << 30}}})
		var out []store.Parked
		for i := range res.Batches {
			for _, r := range res.Batches[i].Records {
				if p, ok := lot[r.Seq]; ok {
					out = append(out, store.Parked{Record: r, Park: p})
				}
			}
		}
		return out, err
	}
}

// steal takes from others what a beat wants.
func steal(db *database) {
	s := spoil(db)
	seen := s.watch()
	beat := s.beat
	var one sync.Mutex // a thief has to see the owner: of relays at once all might look first
	s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
		one.Lock()
		defer one.Unlock()
		for _, want := range b.Take {
			if sh, ok := seen.of(want); ok && sh.Owner != "" && sh.Owner != b.Relay {
				if _, err := beat(ctx, store.Beat{Relay: sh.Owner, TTL: forever, Works: b.Works, Give: []store.Lease{sh.Lease}}); err != nil {
					return store.View{}, err
				}
			}
		}
		return beat(ctx, b)
	}
}

// retake gives back what a beat wants and has.
func retake(db *database) {
	s := spoil(db)
	seen := s.watch()
	beat := s.beat
	s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
		for _, want := range b.Take {
			if sh, ok := seen.of(want); ok && sh.Owner == b.Relay {
				b.Give = append(b.Give, sh.Lease)
			}
		}
		return beat(ctx, b)
	}
}

// evenOut settles all shards that are to be reshaped where the last of them
// stands.
func evenOut(db *database) {
	s := spoil(db)
	seen := s.watch()
	beat := s.beat
	s.beat = func(ctx context.Context, b store.Beat) (store.View, error) {
		for i, r := range b.Reshape {
			if _, err := beat(ctx, store.Beat{Relay: b.Relay, TTL: forever, Works: b.Works}); err != nil {
				return store.View{}, err
			}
			var t store.Turn
			for _, l := range r.Leases {
				last, _ := seen.of(r.Leases[0].Shard)
				t.Settle = append(t.Settle, store.Settlement{Lease: l, To: last.Position})
			}
			if _, err := s.Store.Turn(ctx, t); err != nil {
				return store.View{}, err
			}
			b.Reshape[i].Leases = slices.Clone(r.Leases)
			for j := range r.Leases {
				b.Reshape[i].Leases[j].Version++
			}
		}
		return beat(ctx, b)
	}
}

// commandOnce forgets a command when it has been told.
func commandOnce(db *database) {
	var mu sync.Mutex
	told := map[store.CommandID]bool{}
	answered(func(r *store.TurnResult) {
		mu.Lock()
		defer mu.Unlock()
		r.Commands = slices.DeleteFunc(r.Commands, func(c store.Command) bool {
			again := told[c.ID]
			told[c.ID] = true
			return again
		})
	})(db)
}

// commandByID takes what was done for the command that has its id.
func commandByID(db *database) {
	s := spoil(db)
	told := map[store.CommandID]store.Done{}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		for _, st := range t.Settle {
			for i, d := range st.Done {
				if known, ok := told[d.ID]; ok {
					st.Done[i] = known
				}
			}
		}
		res, err := s.Store.Turn(ctx, t)
		for i := range res.Commands {
			told[res.Commands[i].ID] = res.Commands[i].Done()
		}
		return res, err
	}
}

// declareTogether ends at the first declaration that fails.
func declareTogether(db *database) {
	s := spoil(db)
	s.declare = func(ctx context.Context, specs []store.Spec) error {
		for _, spec := range specs {
			if err := s.Store.Declare(ctx, []store.Spec{spec}); err != nil {
				return err
			}
		}
		return nil
	}
}

// dropAll lets no message be read that was stored before the last Maintain.
func dropAll(db *database) {
	s := spoil(db)
	var gone atomic.Int64
	s.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
		o, err := s.Store.Overview(ctx)
		if err != nil {
			return store.Report{}, err
		}
		gone.Store(o.Boxes[0].Last)
		return s.Store.Maintain(ctx, r)
	}
	s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
		res, err := s.Store.Turn(ctx, t)
		for i := range res.Batches {
			b := &res.Batches[i]
			b.Records = slices.DeleteFunc(b.Records, func(r store.Record) bool { return r.Seq <= gone.Load() })
			if len(b.Records) == 0 {
				b.At = nil
			}
		}
		return res, err
	}
}

// dropParked forgets parked messages once something was dropped.
func dropParked(db *database) {
	s := spoil(db)
	var gone atomic.Bool
	s.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
		rep, err := s.Store.Maintain(ctx, r)
		if rep.Deleted > 0 {
			gone.Store(true)
		}
		return rep, err
	}
	s.due = func(ctx context.Context, d store.Due) ([]store.Parked, error) {
		if gone.Load() {
			return nil, nil
		}
		return s.Store.Due(ctx, d)
	}
}
