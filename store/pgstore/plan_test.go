package pgstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// Every statement's plan, as the server makes and runs it for the store's own calls: no scan of a large table, no sort of
// more than a page, no more than ten rows looked at for each of a page. With no message, ten thousand and many; with
// statistics of now, of when the tables were empty, and of when they were full. Many are a million in the long form. In
// the other they are a hundred thousand, for reading and settling alone.
func TestEveryStatementReadsAnIndexRange(t *testing.T) {
	t.Parallel()
	t.Run("ten thousand", func(t *testing.T) {
		t.Parallel()
		plansOf(t, 10_000, true)
	})
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		n := 100_000
		if servertest.Full() {
			n = 1_000_000
		}
		plansOf(t, n, servertest.Full())
	})
}

// plansOf looks at the plans while the tables grow from nothing to n messages and shrink again.
func plansOf(t *testing.T, n int, all bool) {
	p := &plans{tb: t, mode: "auto", seen: map[string]int{}, told: map[string]bool{}}
	s := &work{testBox: testBoxOn(t, plannable.Database(t), p.explain), all: all}
	if all {
		s.Must(s.CreateBox(t.Context(), "old"))
	}
	see := func(when string) { p.at(when, s.pool, s.everything) }
	s.exec("ANALYZE")
	see("empty")
	s.fill(n)
	see("statistics of when it was empty")
	s.exec("ANALYZE")
	see("statistics of now")
	s.exec("DELETE FROM postbag.outbox WHERE seq < (SELECT max(seq) - 500 FROM postbag.outbox)")
	s.exec("DELETE FROM postbag._parked WHERE seq < (SELECT max(seq) - 50 FROM postbag._parked)")
	s.exec("DELETE FROM postbag.outbox__scheduled WHERE n % 1000 <> 0")
	s.burn()
	see("statistics of when it was full")
	if all {
		if missing := p.missing(s.Statements()); len(missing) > 0 {
			t.Errorf("nothing here runs the statements %q", missing)
		}
	}
}

// work does all that a store is asked to.
type work struct {
	*testBox

	all bool
	n   int
	// janitor is the lease of the maintenance of box old.
	janitor store.Lease
}

// fill puts n messages into the log, and a share of them into all else that grows with messages.
func (s *work) fill(n int) {
	s.Helper()
	gone := n / 100 // of which only the parked are left
	s.exec("SELECT setval('postbag.outbox__seq', greatest($1, last_value)) FROM postbag.outbox__seq", gone)
	s.exec("UPDATE postbag._boxes SET dropped = $1 WHERE name = 'outbox'", gone)
	s.exec(`INSERT INTO postbag.outbox (id, key, type, payload)
		SELECT gen_random_uuid(), 'key ' || g % 1000, CASE WHEN g % 100 = 0 THEN 'order.cancelled' ELSE 'order.created' END, '{"n":1}'
		FROM generate_series(1, $1::integer) g`, n)
	s.exec(`INSERT INTO postbag._copies (box, seq, at, id, topic, key, payload)
		SELECT b.id, g, now(), gen_random_uuid(), 'outbox', 'key ' || g % 1000, '' FROM postbag._boxes b, generate_series(1, $1::integer) g
		WHERE b.name = 'outbox' ON CONFLICT DO NOTHING`, gone)
	s.exec(`INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, ready, due, first, id, reason, history)
		SELECT h.sub, g, h.id, 7, g % 1000, CASE WHEN g % 4 = 0 THEN 4 WHEN g % 4 = 1 THEN 2 ELSE 1 END, g % 4 = 1 OR g % 4 = 2, 1, now(),
			CASE WHEN g % 4 = 3 OR g % 4 = 2 AND g < 4000 THEN now() END, now(), gen_random_uuid(), 'no', '[]'
		FROM postbag._shards h JOIN postbag._subscriptions u ON u.id = h.sub, generate_series(1, $1::integer / 2) g
		WHERE u.name = 'default' AND h.lo = 0 ON CONFLICT DO NOTHING`, n)
	s.exec("INSERT INTO postbag._discarded SELECT u.id, g FROM postbag._subscriptions u, generate_series(1, $1::integer / 2) g WHERE u.name = 'default' ON CONFLICT DO NOTHING", n)
	s.exec("INSERT INTO postbag.outbox__scheduled (due, key, payload) SELECT now() + (g - $1::integer / 4) * interval '1 minute', 'k', '' FROM generate_series(1, $1::integer / 2) g", n)
	s.exec(`INSERT INTO postbag._ledger SELECT 1000000, g / 8, g % 2 + 1, g % 4, 1, 1, 1 FROM generate_series(1, $1::integer / 2) g ON CONFLICT DO NOTHING`, n)
	s.exec("INSERT INTO postbag._audit (who, why, what) SELECT 'x', 'y', 'z' FROM generate_series(1, $1::integer / 2)", n)
	s.exec("INSERT INTO postbag._commands (sub, slot, seq, kind) SELECT 1000000, 7, g, 1 FROM generate_series(1, $1::integer / 2) g ON CONFLICT DO NOTHING", n)
	s.exec(`INSERT INTO postbag._operations (version, kind, box, name, sub, messages, chosen, as_of, rate, who, why, matched, made, state, touched)
		SELECT 1, 'retry', CASE WHEN g % 2 = 0 THEN 'outbox' ELSE 'old' END, 'x', 1000000, 'dead', '', 1, 0, 'x', 'y', 500, 1, CASE WHEN g % 500 < 2 THEN 'paused' ELSE 'done' END,
			(extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 86400000000 * (2 + g % 20)
		FROM generate_series(1, $1::integer / 2) g`, min(n, 20_000))
	s.exec("INSERT INTO postbag._operation_parts (operation, part, messages) SELECT g % 50, g, 'x' FROM generate_series(1, $1::integer / 10) g ON CONFLICT DO NOTHING", n)
	s.exec(`INSERT INTO postbag._error_notes (box, name, hash, kind, note, who, at, seen, checked)
		SELECT 'other', 'default', sha256(g::text::bytea), g::text, 'x', 'y', 1, 1, 1 FROM generate_series(1, $1::integer / 10) g ON CONFLICT DO NOTHING`, n)
	s.exec(`INSERT INTO postbag._once (consumer, id, sum, at)
		SELECT 'consumer ' || g % 3, uuid_send(gen_random_uuid()), CASE WHEN g % 2 = 0 THEN sha256('x') END, now() - g % 10 * interval '10 days' FROM generate_series(1, $1::integer) g`, n)
	if s.all {
		s.exec("INSERT INTO postbag.old (id, key, payload) SELECT gen_random_uuid(), 'key ' || g % 1000, '{}' FROM generate_series(1, $1::integer / 2) g", n)
	}
}

func (s *work) everything() {
	s.Helper()
	s.n++
	s.readAndSettle()
	s.inbox()
	if s.all {
		s.write()
		s.orders()
		s.beats()
		s.listings()
		s.housekeeping()
		s.lifetimes()
		s.retention()
	}
}

// edits discards pending messages, erases one, and has the ledger lack one.
func (s *work) edits(ref store.Ref, lease *store.Lease, records []store.Record, end store.Position) {
	s.Helper()
	why := store.Audit{Who: "x", Why: "y"}
	n, err := s.Command(s.Context(), why, ref, store.Discard, []int64{records[0].Seq, records[1].Seq})
	s.Must(err)
	ask := store.Turn{Read: []store.Request{{Ref: ref, Slots: []store.Slots{store.AllSlots}}}}
	commands := s.turn(ask).Commands
	if n != 2 || len(commands) != 2 {
		s.Fatalf("a discard of two pending messages was queued for %d, and %d come", n, len(commands))
	}
	s.Settle(lease, store.Settlement{
		To: end, Done: []store.Done{commands[0].Done()}, Tally: boxtest.Tally(store.TallyDelivered, records[1:]...),
	})
	if left := s.turn(ask).Commands; len(left) != 0 {
		s.Fatalf("%d commands wait for messages that are passed", len(left))
	}
	erased, err := s.Erase(s.Context(), why, ref.Box, []postbag.ID{records[1].ID})
	s.Must(err)
	lines, err := s.AcceptLedger(s.Context(), why, ref.Box)
	s.Must(err)
	if erased.Messages != 1 || len(lines) != 1 {
		s.Fatalf("%d messages are erased, and accepted is %q", erased.Messages, lines)
	}
	later := boxtest.Messages(2, "k")
	for i := range later {
		later[i].NotBefore = time.Now().Add(time.Hour)
	}
	s.publish(later...)
	for i, kind := range []store.CommandKind{store.Discard, store.Retry} {
		n, err := s.Scheduled(s.Context(), why, "outbox", kind, []postbag.ID{later[i].ID})
		s.Must(err)
		if n != 1 {
			s.Fatalf("command %d of one scheduled message changed %d", kind, n)
		}
	}
}

func (s *work) turn(t store.Turn) store.TurnResult {
	s.Helper()
	r, err := s.Turn(s.Context(), t)
	s.Must(err)
	for _, b := range r.Batches {
		s.Must(b.Err)
	}
	return r
}

// readAndSettle reads in each form, opening a window and going on in it, far behind and at the end.
func (s *work) readAndSettle() {
	s.Helper()
	s.publish(boxtest.Messages(planPage, "a", "b", "c", "")...)
	end := store.Ref{Box: "outbox", Subscription: fmt.Sprint("end", s.n)}
	few := store.Ref{Box: "outbox", Subscription: "few"}
	s.Declare(store.Spec{Ref: end, Shards: 1, From: store.Start{Now: true}}, store.Spec{Ref: few, Shards: 4, Types: []string{"order.created", "x.*"}, Where: store.Where{Headers: []string{"n"}}})
	var records []store.Record
	for _, q := range []store.Request{
		{Ref: outbox, Slots: []store.Slots{store.AllSlots}},
		{Ref: outbox, Slots: store.Split(2)[:1]},
		{Ref: few, Slots: []store.Slots{store.AllSlots}},
		{Ref: few, Slots: store.Split(2)[:1]},
		{Ref: end, Slots: []store.Slots{store.AllSlots}, From: lease2position(s.testBox, end)},
	} {
		q.Limit, q.Bytes = planPage, 1<<20
		for range 3 {
			b := s.turn(store.Turn{Read: []store.Request{q}}).Batches[0]
			if q.From = b.Next; records == nil {
				records = b.Records
			}
		}
	}
	s.turn(store.Turn{Read: []store.Request{{Ref: outbox, Slots: []store.Slots{store.AllSlots}}}})
	st := store.Settlement{Tally: boxtest.Tally(store.TallyParked, records...)}
	for i := range records {
		p := store.Park{Seq: records[i].Seq, Slot: records[i].Slot, Hash: records[i].Hash, State: store.ParkRetrying, Blocking: i%2 == 0, Reason: "no"}
		st.Park = append(st.Park, p)
	}
	s.Settle(&s.Lease, st)
	var seqs []int64
	for i := range records {
		if i < len(records)/2 {
			seqs = append(seqs, records[i].Seq)
		}
	}
	_, err := s.Command(s.Context(), store.Audit{Who: "x", Why: "y"}, outbox, store.Discard, seqs)
	s.Must(err)
	_, err = s.Due(s.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: planPage, Followers: 3, Bytes: 1 << 20})
	s.Must(err)
	_, err = s.Due(s.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: planPage, Bytes: 1 << 20, Topics: []string{"x"}})
	s.Must(err)
	_, err = s.Blocked(s.Context(), s.Lease)
	s.Must(err)
	r := s.turn(store.Turn{Read: []store.Request{{Ref: outbox, Slots: []store.Slots{store.AllSlots}}}})
	done := store.Settlement{}
	for _, c := range r.Commands {
		done.Done = append(done.Done, c.Done())
		done.Resolve = append(done.Resolve, store.Resolved{Seq: c.Park.Seq, Hash: c.Park.Hash})
	}
	named := map[uint64]bool{0: true}
	for i := range records {
		if k := (store.Superseding{Hash: records[i].Hash, Seq: 1 << 40, ID: records[i].ID}); !named[k.Hash] {
			named[k.Hash] = true
			done.Supersede = append(done.Supersede, k)
		}
	}
	s.Settle(&s.Lease, done)
	s.letters(records)
}

// letters has messages die that leave dead letters, and one whose letter has no box.
func (s *work) letters(records []store.Record) {
	s.Helper()
	s.Must(s.CreateBox(s.Context(), "dead"))
	s.Declare(store.Spec{Ref: outbox, DeadTo: "dead"})
	for _, to := range []string{"dead", "nowhere"} {
		st := store.Settlement{}
		for _, r := range records {
			st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead, DeadTo: to})
		}
		s.Settle(&s.Lease, st)
	}
}

// write publishes in each form.
func (s *work) write() {
	s.Helper()
	later := boxtest.Messages(2, "k")
	later[0].NotBefore = time.Now().Add(time.Hour)
	s.Must(pgx.BeginFunc(s.Context(), s.pool, func(tx pgx.Tx) error {
		s.Must(s.Lock(s.Context(), tx, "outbox", []string{"k"}))
		for _, m := range [][]postbag.Message{boxtest.Messages(1, "k"), boxtest.Messages(5, "k"), later} {
			s.Must(s.Append(s.Context(), tx, "outbox", m))
		}
		there, err := s.Cancel(s.Context(), tx, "outbox", later[0].ID)
		if !there {
			s.Error("a scheduled message was not there to be cancelled")
		}
		return err
	}))
}

// inbox marks in each form, what is new and what is not, and forgets.
func (s *work) inbox() {
	s.Helper()
	const consumer = "consumer 1"
	for i := range 2 {
		s.Must(pgx.BeginFunc(s.Context(), s.pool, func(tx pgx.Tx) error {
			marks := make([]store.Mark, planPage)
			for k := range marks {
				marks[k] = store.Mark{ID: store.MessageID(fmt.Sprint(s.n, " ", k)), Sum: store.Sum{1}}
			}
			for _, m := range [][]store.Mark{marks, {{ID: marks[0].ID + "a"}}, {{ID: marks[0].ID + "b", Sum: store.Sum{2}}}} {
				fresh, err := s.Mark(s.Context(), tx, consumer, m)
				if err != nil || fresh[0] != (i == 0) {
					return fmt.Errorf("marks are %v: %w", fresh, err)
				}
			}
			return nil
		}))
	}
	s.Must(pgx.BeginFunc(s.Context(), s.pool, func(tx pgx.Tx) error {
		lane, err := s.OpenLane(s.Context(), tx, "lane")
		return errors.Join(err, s.WriteLane(s.Context(), tx, "lane", lane.Epoch, []byte("record")))
	}))
	s.Must(s.DeclareConsumer(s.Context(), consumer, time.Hour))
	declared, err := s.Consumers(s.Context())
	s.Must(err)
	forgotten, err := s.Forget(s.Context())
	s.Must(err)
	if len(declared) != 1 || forgotten.Busy {
		s.Fatalf("the consumers are %v; it forgets %+v", declared, forgotten)
	}
}

// orders are the commands of an operator.
func (s *work) orders() {
	s.Helper()
	s.Must(s.SetShards(s.Context(), store.Audit{Who: "x", Why: "y"}, outbox, 1+s.n%3))
	s.Must(s.SetPaused(s.Context(), store.Audit{Who: "x", Why: "y"}, outbox, s.n%2 == 0))
	s.Must(s.SetPaused(s.Context(), store.Audit{Who: "x", Why: "y"}, outbox, false))
	again := store.Replay{Ref: store.Ref{Box: "outbox", Subscription: "again"}, Of: "default", After: 1 << 40, Through: 1<<40 + 1}
	s.Must(s.StartReplay(s.Context(), store.Audit{Who: "x", Why: "y"}, again))
	s.Must(s.EndReplay(s.Context(), store.Audit{Who: "x", Why: "y"}, again.Ref, "nothing"))
	s.Must(s.SetPause(s.Context(), store.Audit{Who: "x", Why: "y"}, store.Pause{Ref: outbox, Scope: store.PauseKey, Value: fmt.Sprint(s.n)}, time.Microsecond))
	_, err := s.Audited(s.Context(), planPage)
	s.Must(err)
	_, err = s.Check(s.Context())
	s.Must(err)
	recent := store.Ref{Box: "outbox", Subscription: fmt.Sprint("recent", s.n)}
	s.Declare(store.Spec{Ref: recent, Shards: 1, From: store.Start{At: time.Now().Add(-time.Minute)}}, store.Spec{Ref: recent})
	s.stewards(recent)
	s.operations()
	s.notes()
}

// notes writes, reads and removes notes on errors, and leaves some to housekeeping.
func (s *work) notes() {
	s.Helper()
	a := store.Audit{Who: "x", Why: "y"}
	for _, text := range []string{"x", "y", ""} {
		s.Must(s.SetErrorNote(s.Context(), a, store.ErrorNote{Ref: outbox, Kind: "an error", Text: text}))
	}
	_, err := s.ErrorNotes(s.Context(), outbox)
	s.Must(err)
	s.exec(`INSERT INTO postbag._error_notes (box, name, hash, kind, note, who, at, seen, checked)
		SELECT 'old', 'default', sha256(g::text::bytea), g::text, 'x', 'y', 1, g, 1
		FROM unnest(ARRAY[1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint]) g ON CONFLICT DO NOTHING`)
}

// operations plans, works and ends a long operation of each kind of messages.
func (s *work) operations() {
	s.Helper()
	a := store.Audit{Who: "x", Why: "y"}
	later := boxtest.Messages(2, "k")
	for i := range later {
		later[i].NotBefore = time.Now().Add(time.Hour)
	}
	s.publish(later...)
	now, err := s.Clock(s.Context())
	s.Must(err)
	for _, o := range []struct {
		store.Operation
		store.OperationMessage
	}{
		{store.Operation{Kind: store.OperationDiscard, Of: store.StateDead}, store.OperationMessage{Seq: 1 << 40}},
		{store.Operation{Kind: store.OperationPublishNow, Of: store.StateScheduled}, store.OperationMessage{ID: later[0].ID}},
		{store.Operation{Kind: store.OperationDiscard, Of: store.StateScheduled}, store.OperationMessage{ID: later[1].ID}},
	} {
		o.Ref, o.AsOf, o.Matched = outbox, now, 1
		id, err := s.PlanOperation(s.Context(), a, o.Operation)
		s.Must(err)
		s.Must(s.AddMessages(s.Context(), id, 0, []store.OperationMessage{o.OperationMessage}))
		s.Must(s.BeginOperation(s.Context(), a, id))
		claimed, err := s.ClaimOperation(s.Context(), id, "x", time.Minute)
		s.Must(err)
		done, err := s.StepOperation(s.Context(), store.OperationClaim{ID: id, Token: claimed.Token, Lease: time.Minute}, 0, 1)
		s.Must(err)
		if done.State != store.OperationDone {
			s.Fatalf("an operation of one message is %s after a step", done.State)
		}
	}
	_, err = s.Operations(s.Context(), 10)
	s.Must(err)
	s.exec("UPDATE postbag._operations SET touched = 1 WHERE id IN (SELECT id FROM postbag._operations WHERE box = 'old' OR box = 'outbox' ORDER BY id DESC LIMIT 1)")
}

// stewards change a subscription, and remove it.
func (s *work) stewards(of store.Ref) {
	s.Helper()
	a := store.Audit{Who: "x", Why: "y"}
	s.Must(s.SetFilter(s.Context(), a, of, store.Filter{Types: []string{"order.*"}, Where: store.Where{Topics: []string{"orders"}}}))
	s.Must(s.Tune(s.Context(), a, of, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, []string{store.SettingRate}))
	_, err := s.Assigned(s.Context())
	s.Must(err)
	added := store.Ref{Box: of.Box, Subscription: fmt.Sprint("added", s.n)}
	s.Must(s.Add(s.Context(), a, store.Spec{Ref: added, From: store.Start{Now: true}}))
	s.Must(s.Remove(s.Context(), a, added, false))
	s.Must(s.Remove(s.Context(), a, of, false))
	s.Must(s.Readmit(s.Context(), a, of))
}

// beats take, give back, reshape and leave.
func (s *work) beats() {
	s.Helper()
	beat := func(b store.Beat) store.View {
		v, err := s.Beat(s.Context(), b)
		s.Must(err)
		return v
	}
	v := beat(store.Beat{Relay: "relay", TTL: time.Hour, Works: []store.Ref{outbox}, Give: []store.Lease{s.Lease}})
	v = beat(store.Beat{Relay: "relay", TTL: time.Hour, Works: []store.Ref{outbox}, Take: []store.Shard{v.Subscriptions[0].Shards[0].Shard}})
	again := store.Reshape{Ref: outbox, Shards: 1, Leases: []store.Lease{v.Subscriptions[0].Shards[0].Lease}}
	v = beat(store.Beat{Relay: "relay", TTL: time.Hour, Works: []store.Ref{outbox}, Reshape: []store.Reshape{again}})
	if l := v.Subscriptions[0].Shards[0]; l.Owner != "relay" || l.Token == s.Lease.Token {
		s.Fatalf("the shard is %s's after it was given back, taken and reshaped", l.Owner)
	}
	s.Lease = v.Subscriptions[0].Shards[0].Lease
	short := fmt.Sprint("short ", s.n)
	beat(store.Beat{Relay: short, New: true, TTL: time.Hour})
	beat(store.Beat{Relay: short, Leave: true})
	beat(store.Beat{Relay: short + " again", New: true, TTL: time.Millisecond})
}

// listings are what people look at.
func (s *work) listings() {
	s.Helper()
	for _, q := range []store.Query{
		{},
		{Oldest: true},
		{Key: "key 17"},
		{Type: "order.*", Oldest: true},
		{State: store.StateDelivered},
		{State: store.StateDiscarded},
		{State: store.StateDead},
		{State: store.StateBlocked, Oldest: true},
		{State: store.StateRetrying, Key: "key 17"},
		{State: store.StateScheduled},
		{State: store.StateScheduled, Bare: true},
		{State: store.StateDead, Bare: true},
		{After: time.Now().Add(-time.Minute)},
		{State: store.StatePending},
		{State: store.StateSuperseded, Oldest: true},
		{State: store.StateDead, Error: "nobody said so"},
		{State: store.StateBlocked, Key: "key 17", Oldest: true},
		{State: store.StateDelivered, Error: "nobody said so"},
		{Error: "nobody said so"},
	} {
		q.Ref, q.Limit = outbox, planPage
		items, next, err := s.List(s.Context(), q)
		s.Must(err)
		if q.Cursor = next; next != "" {
			_, _, err = s.List(s.Context(), q)
			s.Must(err)
		}
		if len(items) > 0 {
			_, err = s.Show(s.Context(), "outbox", items[0].ID)
			s.Must(err)
		}
	}
	_, err := s.Show(s.Context(), "outbox", postbag.NewID())
	s.Must(err)
	_, err = s.Overview(s.Context())
	s.Must(err)
	s.Must(s.Newest(s.Context(), "outbox"))
}

// housekeeping is that of another process, which remembers nothing yet.
func (s *work) housekeeping() {
	s.Helper()
	s.Housekeep()
	_, err := s.Maintain(s.Context(), store.Retention{Lease: s.House, Keep: time.Hour})
	s.Must(err)
}

// lifetimes say how long messages stay, and dead ones go.
func (s *work) lifetimes() {
	s.Helper()
	why := store.Audit{Who: "x", Why: "y"}
	s.Must(s.SetRetention(s.Context(), why, "old", store.Lifetimes{Delivered: time.Millisecond, Discarded: 2 * time.Millisecond}))
	_, err := s.DeployRetention(s.Context(), store.Deployment{Box: "outbox", Relay: "x", Lifetimes: store.Lifetimes{Delivered: time.Hour}})
	s.Must(err)
	_, err = s.Expired(s.Context(), "outbox", store.Lifetimes{Delivered: time.Hour})
	s.Must(err)
	s.Must(s.SetRetention(s.Context(), why, "outbox", store.Lifetimes{Dead: time.Millisecond}))
	s.housekeeping()
	s.exec("DELETE FROM postbag._commands") // which turns would bring, a thousand each
	s.Must(s.SetRetention(s.Context(), why, "outbox", store.Lifetimes{}))
}

// retention deletes from and drops the log of a box whose one subscription has passed it.
func (s *work) retention() {
	s.Helper()
	s.exec("INSERT INTO postbag.old (id, key, payload) SELECT gen_random_uuid(), 'key ' || g % 1000, '{}' FROM generate_series(1, 300) g")
	s.exec("DELETE FROM postbag._cuts c USING postbag._subscriptions u, postbag._boxes b WHERE u.id = c.sub AND b.id = u.box AND b.name = 'old' AND u.name <> '@maintenance'")
	s.exec("DELETE FROM postbag._shards c USING postbag._subscriptions u, postbag._boxes b WHERE u.id = c.sub AND b.id = u.box AND b.name = 'old' AND u.name <> '@maintenance'")
	s.exec("DELETE FROM postbag._subscriptions u USING postbag._boxes b WHERE b.id = u.box AND b.name = 'old' AND u.name <> '@maintenance'")
	ref := store.Ref{Box: "old", Subscription: fmt.Sprint("at", s.n)}
	s.Declare(store.Spec{Ref: ref, Shards: 1, From: store.Start{Now: true}})
	s.exec(`INSERT INTO postbag._parked (sub, seq, shard, slot, hash, state, blocking, attempts, first, id, reason, history)
		SELECT u.id, b.seq, 0, 7, 0, 4, false, 1, now(), b.id, 'no', '[]' FROM postbag._subscriptions u, (SELECT o.seq, o.id FROM postbag.old o ORDER BY o.seq LIMIT 50) b
		WHERE u.name = $1`, ref.Subscription)
	if s.janitor.Token == 0 {
		s.janitor = s.Take("janitor", store.Ref{Box: "old", Subscription: store.Maintenance})
	}
	r := store.Retention{Lease: s.janitor, Keep: time.Millisecond}
	var total store.Report
	until := func(what string, done func() bool) {
		s.Helper()
		s.Eventually(what, func() bool {
			rep, err := s.Maintain(s.Context(), r)
			s.Must(err)
			total.Deleted, total.Dropped = total.Deleted+rep.Deleted, total.Dropped+rep.Dropped
			if len(rep.Faults) > 0 {
				s.Fatalf("faults: %q", rep.Faults)
			}
			return done()
		})
	}
	until("the log is thinned", func() bool { return s.number("SELECT count(*) FROM postbag.old") == 0 })
	s.exec("SELECT setval('postbag.old__seq', (((last_value - 1) / $1) + 1) * $1) FROM postbag.old__seq", partSize)
	s.exec("INSERT INTO postbag.old (key, payload) VALUES ('k', ''), ('k', ''), ('k', '')")
	lease := s.Take(fmt.Sprint("relay ", s.n), ref)
	records, end := s.ReadFrom(ref, lease2position(s.testBox, ref))
	s.edits(ref, &lease, records, end)
	until("a partition is dropped", func() bool { return total.Dropped > 0 })
}
