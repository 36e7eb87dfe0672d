package simulation

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// recorders write the run's history: those of the producers, of the broker, of the
// operators, and of the fault maker. None of them asks a relay.
type recorders struct {
	history   *history.History
	takeovers int
}

// instant is the time, no two the same.
func (w *world) instant() time.Duration {
	w.tick++
	return w.now + w.tick
}

// idOf is what a message is called in the history.
func idOf(m *message) (id history.ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(m.id))
	return id
}

// bytesOf stands for a message's bytes.
func bytesOf(m *message) (h history.Hash) {
	binary.BigEndian.PutUint64(h[:], m.sum)
	h[31] = 1
	return h
}

// lineOf is what a message's order is kept by; empty: nothing.
func (w *world) lineOf(m *message) string {
	switch {
	case (m.given || m.forgiven) && m.accepted > 0: // a store that was set back had forgotten the command, or a late call came after it
		return ""
	case m.emptied: // it may be under way while later ones go out, and nobody is to send it again first
		return ""
	case m.shifting: // one that was refused, and is read again, may come behind later ones
		return ""
	case m.copied: // the id of its transaction may be that of one that runs now, for which it then has to wait
		return ""
	case w.plan.cfg.Order == engine.ByShard && !w.mixed && len(w.shapes) == 0:
		return names.shards[shardAt(m.slot, w.plan.shards)]
	case m.key == 0:
		return ""
	default:
		return names.keys[m.key]
	}
}

// names are those of shards and keys.
var names = func() (n struct {
	shards [8]string
	keys   [maxKeys + 1]string
},
) {
	for i := range n.shards {
		n.shards[i] = "shard " + strconv.Itoa(i)
	}
	for i := range n.keys {
		n.keys[i] = "key " + strconv.Itoa(i)
	}
	return n
}()

func shardAt(slot, n int) int {
	for i := range n {
		if slot < (i+1)*4096/n {
			return i
		}
	}
	return n
}

// refused records that the broker refused a message for what it is.
func (w *world) refused(m *message) {
	at := w.instant()
	m.no = w.moment()
	if m.shifting { // it may be read again, and be filtered: see intended
		m.refusals = append(m.refusals, at)
		return
	}
	w.recorders.history.Refuse(history.Refusal{ID: idOf(m), At: at})
}

// discarded records an operator's command that was carried out: just now if the message
// was parked, or else at some time since the command was given.
func (w *world) discarded(m *message, parked bool) {
	at := w.instant()
	c := history.Command{ID: idOf(m), What: history.Discard, Begin: at, End: at}
	if !parked {
		c.Begin = m.ordered
	}
	w.recorders.history.Order(c)
}

// stillOrdered records the discards that are not settled: those that a relay has begun
// to carry out let the key go on.
func (w *world) stillOrdered() {
	for i := range w.server.commands {
		if c := &w.server.commands[i]; !c.done && c.kind == store.Discard {
			w.recorders.history.Order(history.Command{ID: idOf(c.m), What: history.Discard, Unknown: true, Begin: c.m.ordered, End: w.instant()})
		}
	}
}

// excuse records a fault that may have so many messages sent again.
func (w *world) excuse(what, target string, most int) {
	switch what {
	case "set back", "copy":
	default:
		if w.plan.cfg.Transactions { // exactly once is promised whatever else happens, to what is parked, too
			return
		}
	}
	if most > 0 {
		w.excused = true
		at := w.instant()
		w.recorders.history.Break(history.Fault{Kind: what, Target: target, Begin: at, End: at, Window: most})
	}
}

// rewound records that the store went back.
func (w *world) rewound(to time.Duration) {
	at := w.instant()
	w.rewoundOnce = true
	w.recorders.history.Break(history.Fault{Kind: "rewind", Target: "database", Begin: to, End: at, Window: -1, Rewinds: true, RewoundTo: to})
}

// verdict hands the history of the run to its judge.
func (w *world) verdict(pending bool) {
	if w.failed != nil {
		return
	}
	h := w.recorders.history
	for _, m := range w.producers.msgs {
		w.intended(m)
	}
	for i, m := range w.broker.stored {
		at := w.broker.times[i]
		h.Deliver(history.Delivery{ID: idOf(m), Key: w.lineOf(m), Payload: bytesOf(m), Position: uint64(i), From: at, To: at})
		if w.plan.handlers {
			h.Apply(history.Effect{ID: idOf(m), Key: w.lineOf(m), Payload: bytesOf(m), Position: uint64(i), At: at})
		}
	}
	for i := range w.server.rows {
		r := &w.server.rows[i]
		state := history.Parked
		if r.State == store.ParkDead {
			state = history.Dead
		}
		attempts := r.Attempts
		if pending {
			attempts = w.refusedOf(r)
		}
		h.Hold(history.Stored{ID: idOf(r.m), State: state, Attempts: attempts})
	}
	w.stillOrdered()
	w.stillDead()
	w.checkLetters()
	cfg := &w.plan.cfg
	o := history.Options{
		InFlight: cfg.InFlight, Slack: time.Hour, MayPend: pending, Takeover: w.plan.takeover(), ExactlyOnce: cfg.Transactions && !w.excused,
		Unordered: cfg.Order == engine.Unordered || cfg.OnReject != engine.Block,
		Lookup:    w.lookUp,
	}
	if w.plan.handlers {
		o.Effects = history.OnceInOrder
		if o.Unordered {
			o.Effects = history.OnceEach
		}
	}
	report := h.Check(o)
	if v := report.Of(history.Applied); !v.Held { // the other verdicts see the same, and say less
		w.failf(promiseOf[v.Promise], "%v is broken %d times: %s", v.Promise, v.Broken, v.Examples[0].String())
		return
	}
	for i := range report.Verdicts {
		if v := &report.Verdicts[i]; !v.Held {
			what := ""
			if len(v.Examples) > 0 {
				what = v.Examples[0].String()
			}
			w.failf(promiseOf[v.Promise], "%v is broken %d times: %s", v.Promise, v.Broken, what)
			return
		}
	}
}

// refusedOf is how many attempts of a row the destination has refused, while relays still work: others were counted before their
// call, or since answers got lost.
func (w *world) refusedOf(r *parked) int {
	n := r.Attempts - r.m.cut - r.m.lone/3
	if w.plan.cfg.CountFirst && r.State == store.ParkInFlight {
		n--
	}
	return max(n, 0)
}

// promiseOf is which of Postbag's promises a verdict is about.
var promiseOf = map[history.Promise]string{
	history.Sound: "history", history.Lost: "P1", history.Rest: "P8", history.Phantom: "P2", history.Order: "P3", history.Duplicates: "P4",
	history.Bytes: "P6", history.Schedule: "P1", history.Attempts: "P1", history.Takeovers: "P8", history.Resumes: "P8",
	history.Transactions: "P7", history.Locks: "P7", history.Applied: "P5",
}

// intended records what the producer of a message meant, and what came of it.
// What it took back to a savepoint is of a transaction of its own.
func (w *world) intended(m *message) {
	if m.filtered || w.shifted(m) {
		return
	}
	h := w.recorders.history
	for _, at := range m.refusals {
		h.Refuse(history.Refusal{ID: idOf(m), At: at})
	}
	tx := history.Tx(m.by.number)
	fate := m.by.fate
	if m.takenBack {
		tx, fate = history.Tx(1<<32+m.id), history.RolledBack
	}
	h.Intend(history.Intent{
		Tx: tx, Index: uint32(m.id), ID: idOf(m), Key: w.lineOf(m), Payload: bytesOf(m), Begin: m.begun, End: m.begun,
	})
	if m.by.ended || m.takenBack {
		h.End(history.Outcome{Tx: tx, Fate: fate, Begin: m.by.endBegun, End: m.by.endAnswered})
	}
}

// lookUp looks for a message that seems lost in the store itself.
func (w *world) lookUp(id history.ID) (found history.Found) {
	s := w.server
	m := w.producers.msgs[binary.BigEndian.Uint64(id[8:])-1]
	if row, _ := s.row(m.seq); row != nil && row.m == m {
		found.State = history.Parked
	} else if s.at(m.seq) == m && m.state == committed && !w.passed(m) {
		found.State = history.Pending
	}
	return found
}

func (w *world) passed(m *message) bool {
	s := w.server
	for i := range s.shards {
		if sh := &s.shards[i]; sh.has(m.slot) {
			return s.log.lens(sh.position).passed(m)
		}
	}
	return false
}
