package pgstore

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// listRow is a message as a listing walks over it: without its bytes, but for headers if a filter asks for them.
type listRow struct {
	scannedRow

	topic, key, shardKey, typ, headers string
}

func (r *listRow) record() store.Record {
	out := store.Record{
		Message: postbag.Message{ID: postbag.ID(r.id), Topic: r.topic, Key: r.key, ShardKey: r.shardKey, Type: r.typ},
		Seq:     r.seq, Slot: r.slot, Hash: store.KeyHash(r.key), At: sqlkit.TimeOf(r.at),
	}
	if r.headers != "" {
		out.Headers, out.Err = readHeaders(r.headers)
	}
	return out
}

// listing returns a statement of the list family for a direction, with headers or without.
func (c *statementSet) listing(name, box string, oldest, headed bool) *statement {
	way, end, headers, number := "DESC", "min", "NULL", uint16(0)
	if oldest {
		way, end, number = "ASC", "max", 1
	}
	if headed {
		headers, number = "q.headers::text", number+2
	}
	return c.variant(name, box, number, func() []string {
		looked := "q"
		if strings.Contains(c.templates[name], "{apart}") {
			looked = "s"
		}
		matching := strings.NewReplacer("{way}", way, "{end}", end, "{headers}", headers, "{looked}", looked).Replace(c.templates["list_matching"])
		apart := strings.NewReplacer("{row}", c.templates["list_row"], "{matching}", matching).Replace(c.templates["list_apart"])
		return []string{"{way}", way, "{row}", c.templates["list_row"], "{matching}", matching, "{apart}", apart}
	})
}

// piece is what one statement has of a walk.
type piece struct {
	rows   []listRow
	looked int
	// next is where the walk goes on, if there is more.
	next int64
	more bool
}

// piece returns the next rows of the walk from an ordinal on.
func (l *lister) piece(ctx context.Context, at int64, size int) (piece, error) {
	if name, of := l.beside(); name != "" {
		lo, hi := l.from(at, 0, math.MaxInt64)
		return l.ask(ctx, name, lo, hi, size, func(a *parameters) {
			a.int4s(len(l.subs), func(i int) int32 { return l.subs[i].id }).int4(of).int4(l.box.id)
			if name == "list_parked_key" {
				a.int8(int64(store.KeyHash(l.Key)))
			}
			if name != "list_discarded_rows" {
				a.text(l.inError())
			}
		})
	}
	if l.State == store.StateScheduled {
		lo, hi := l.from(at, 0, math.MaxInt64)
		return l.ask(ctx, "list_scheduled", lo, hi, size, nil)
	}
	first := max(l.lo, l.dropped)
	inLog := at > first
	if l.Oldest {
		inLog = at > l.dropped
	}
	if inLog {
		return l.logPiece(ctx, at, first, size)
	}
	lo, hi := l.from(at, 0, l.dropped)
	p, err := l.ask(ctx, "list_copies", lo, hi, size, func(a *parameters) { a.int4(l.box.id) })
	if l.Oldest && !p.more {
		p.next, p.more = l.dropped+1, true
	}
	return p, err
}

// beside returns the statement that finds what the query asks for without the log, and what it is to look for; none where only the
// log tells.
func (l *lister) beside() (name string, of int32) {
	state, parked := parkStateOf(l.State)
	switch {
	case parked && l.Key != "":
		return "list_parked_key", int32(state)
	case parked:
		return "list_parked", int32(state)
	case l.State == store.StateDiscarded:
		return "list_discarded_rows", 0
	case l.State == store.StateSuperseded:
		return "list_past_rows", 0
	case l.Error != "" && l.State == "":
		return "list_past_rows", 1
	case l.Error != "" && l.State == store.StateDelivered:
		return "list_past_rows", 0
	}
	return "", 0
}

// inError is what a statement looks for in errors, in small letters. Empty: it looks for nothing, since the database may have other
// small letters.
func (l *lister) inError() string {
	if strings.ContainsFunc(l.Error, func(r rune) bool { return r >= utf8.RuneSelf || r == 0 }) {
		return ""
	}
	return strings.ToLower(l.Error)
}

// from returns the range of a walk that goes on at an ordinal: after lo, up to hi.
func (l *lister) from(at, lo, hi int64) (int64, int64) {
	if l.Oldest {
		return max(at-1, lo), hi
	}
	return lo, min(at, hi)
}

// logPiece looks at a part of the log that is bounded by its seqs too, whatever
// the planner takes the log for.
func (l *lister) logPiece(ctx context.Context, at, first int64, size int) (piece, error) {
	reach := int64(8 * size)
	if l.Oldest {
		return l.oldestPiece(ctx, max(at-1, first), reach, size)
	}
	hi := min(at, l.hi)
	lo := max(first, hi-reach)
	p, err := l.ask(ctx, "list_log", lo, max(hi, lo), size, nil)
	if err != nil || p.more {
		return p, err
	}
	if p.looked == 0 && lo > first {
		if lo, err = l.before(ctx, lo); err != nil {
			return p, err
		}
	}
	if p.next, p.more = lo, lo > first; !p.more {
		p.next, p.more = l.dropped, l.dropped > 0 // what is left is copies
	}
	return p, nil
}

// oldestPiece looks at the rows after lo.
func (l *lister) oldestPiece(ctx context.Context, lo, reach int64, size int) (piece, error) {
	if lo >= l.hi {
		return piece{}, nil
	}
	hi := min(l.hi, lo+reach)
	p, err := l.ask(ctx, "list_log", lo, hi, size, nil)
	if err != nil || p.more {
		return p, err
	}
	if p.looked == 0 {
		if hi, err = l.s.skip(ctx, l.Box, hi, l.hi); err != nil {
			return p, err
		}
	}
	p.next, p.more = hi+1, hi < l.hi
	return p, nil
}

// before returns the last row up to a seq.
func (l *lister) before(ctx context.Context, seq int64) (before int64, err error) {
	err = l.s.run(ctx, call{
		st: l.s.statements.get("before", l.Box), args: new(parameters).int8(seq),
		each: func(r row) error {
			c := columns{rest: r}
			before = c.int8()
			return c.err
		},
	})
	return before, err
}

// headedPiece is how many rows come in one piece when they bring their headers, of 64 KiB at most each.
const headedPiece = 500

// ask runs a statement of the list family over a range.
func (l *lister) ask(ctx context.Context, name string, lo, hi int64, size int, rest func(*parameters)) (piece, error) {
	var p piece
	headed := slices.ContainsFunc(l.subs, func(s listed) bool { return s.filter.AsksHeaders() })
	if headed {
		size = min(size, headedPiece)
	}
	a := new(parameters).int8(lo).int8(hi).int4(int32(size))
	types := namesOf(l.types)
	a.bytes(l.ID[:]).text(l.Topic).text(l.Key)
	types.append(a)
	a.int8(microsOf(l.After)).int8(microsOf(l.Before)).bool(l.selects())
	if rest != nil {
		rest(a)
	}
	err := l.s.run(ctx, call{
		st: l.s.statements.listing(name, l.Box, l.Oldest, headed), args: a,
		reset: func() { p = piece{} },
		each: func(r row) error {
			c := columns{rest: r}
			if r[2] == nil {
				p.looked, p.next = int(c.int8()), c.int8()
				return c.err
			}
			v, err := readListRow(r)
			p.rows = append(p.rows, v)
			return err
		},
	})
	p.more = p.looked == size
	if l.Oldest {
		p.next++
	} else {
		p.next--
	}
	return p, err
}

func readListRow(r row) (listRow, error) {
	c := columns{rest: r}
	v := listRow{scannedRow: scannedRow{seq: c.int8(), xid: uint64(c.int8()), id: c.id(), slot: c.int2(), at: c.int8()}}
	v.topic, v.key, v.shardKey, v.typ, v.headers = c.text(), c.text(), c.text(), c.text(), c.text()
	return v, c.err
}

// selects says whether the query asks for some rows and not for others.
func (l *lister) selects() bool {
	return l.ID != (postbag.ID{}) || l.Topic != "" || l.Key != "" || len(l.types) > 0 || !l.After.IsZero() || !l.Before.IsZero()
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// subSeq names a message of a subscription.
type subSeq struct {
	sub int32
	seq int64
}

// states is what is known of messages beyond the log.
type states struct {
	parked    map[subSeq]parkedItem
	discarded map[subSeq]bool
	// past is what failed of messages that are resolved; queued are commands.
	past   map[subSeq]parkedItem
	queued map[subSeq]store.CommandKind
}

// parkedItem is a parked row as listings show it.
type parkedItem struct {
	state    store.ParkState
	attempts int
	due      time.Duration
	reason   string
	history  []store.Attempt
	queued   store.CommandKind
}

// states reads what is known of some rows: first what is parked, then what was
// discarded, so that one that is resolved in between is shown as one or the other.
func (l *lister) states(ctx context.Context, rows []listRow) (*states, error) {
	out := &states{}
	if len(rows) == 0 {
		return out, nil
	}
	ask := func(name string, each func(row) error) group {
		name, a := l.about(name, rows)
		return group{{st: l.s.statements.get(name, ""), args: a, each: each}}
	}
	parked := ask("list_states", func(r row) error {
		at, p, err := readParkedItem(r)
		out.parked[at] = p
		return err
	})
	parked[0].reset = func() { out.parked = map[subSeq]parkedItem{} }
	discarded := ask("list_discarded", func(r row) error {
		c := columns{rest: r}
		out.discarded[subSeq{c.int4(), c.int8()}] = true
		return c.err
	})
	discarded[0].reset = func() { out.discarded = map[subSeq]bool{} }
	past := ask("list_past", func(r row) error {
		c := columns{rest: r}
		at := subSeq{c.int4(), c.int8()}
		p := parkedItem{attempts: int(c.int4()), reason: c.text()}
		var err error
		p.history, err = storekit.Attempts(c.text())
		out.past[at] = p
		return errors.Join(c.err, err)
	})
	past[0].reset = func() { out.past = map[subSeq]parkedItem{} }
	queued := ask("list_queued", func(r row) error {
		c := columns{rest: r}
		at := subSeq{c.int4(), c.int8()}
		out.queued[at] = max(out.queued[at], store.CommandKind(c.int2()))
		return c.err
	})
	queued[0].reset = func() { out.queued = map[subSeq]store.CommandKind{} }
	errs, err := l.s.pipeline(ctx, parked, discarded, past, queued)
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return out, err
}

// about returns the form of a statement about rows, and its parameters: one range where they lie side by side, and else each of them.
func (l *lister) about(name string, rows []listRow) (string, *parameters) {
	a := new(parameters).int4s(len(l.subs), func(i int) int32 { return l.subs[i].id })
	lo, hi := rows[0].seq, rows[len(rows)-1].seq
	if lo > hi {
		lo, hi = hi, lo
	}
	if hi-lo < 4*int64(len(rows)) {
		return name + "_in", a.int8(lo).int8(hi)
	}
	return name, a.int8s(len(rows), func(i int) int64 { return rows[i].seq })
}

func readParkedItem(r row) (subSeq, parkedItem, error) {
	c := columns{rest: r}
	at := subSeq{c.int4(), c.int8()}
	p := parkedItem{state: store.ParkState(c.int2()), attempts: int(c.int4()), due: c.duration(), reason: c.text()}
	history := c.text()
	p.queued = store.CommandKind(c.int2())
	if c.err != nil {
		return at, p, c.err
	}
	var err error
	p.history, err = storekit.Attempts(history)
	return at, p, err
}

// fill reads the bytes of items, and returns how many it has: a page ends where
// they get too many.
func (l *lister) fill(ctx context.Context, items []found) (int, error) {
	if l.Bare && l.State != store.StateScheduled {
		for i := range items {
			items[i].Headers = nil // a filter may have asked for them
		}
		return len(items), nil
	}
	var seqs []int64
	for i := range items {
		if n := len(seqs); n == 0 || seqs[n-1] != items[i].Ordinal {
			seqs = append(seqs, items[i].Ordinal)
		}
	}
	got, err := l.bytes(ctx, seqs)
	if err != nil {
		return 0, err
	}
	for i := range items {
		b, ok := got[items[i].Ordinal]
		if !ok {
			return i, nil
		}
		if !l.Bare {
			items[i].Headers, items[i].Payload, items[i].Err = b.headers, b.payload, b.unreadable
		}
		if l.State == store.StateScheduled {
			items[i].NotBefore = sqlkit.TimeOf(b.due)
			items[i].Due = items[i].NotBefore.Sub(time.UnixMicro(l.now))
			items[i].Seq = 0
		}
	}
	return len(items), nil
}

// body is what of a message a walk leaves out; of a scheduled one with when it is
// due, in microseconds since 1970.
type body struct {
	headers    map[string]string
	unreadable error
	payload    []byte
	due        int64
}

// bytes reads bodies by ordinal, as many as a page may bring.
func (l *lister) bytes(ctx context.Context, seqs []int64) (map[int64]body, error) {
	got := map[int64]body{}
	name := "list_bytes"
	a := new(parameters).int8s(len(seqs), func(i int) int64 { return seqs[i] }).int8(listBytes)
	if l.State == store.StateScheduled {
		name = "list_later"
		a.bool(l.Bare)
	} else {
		a.int4(l.box.id)
	}
	err := l.s.run(ctx, call{st: l.s.statements.get(name, l.Box), args: a, each: func(r row) error {
		c := columns{rest: r}
		seq, headers := c.int8(), c.text()
		b := body{payload: []byte(c.text())}
		if l.State == store.StateScheduled {
			b.due = c.int8()
		}
		if c.err != nil || headers == "" {
			got[seq] = b
			return c.err
		}
		b.headers, b.unreadable = readHeaders(headers)
		got[seq] = b
		return nil
	}})
	return got, err
}

// parkStateOf returns the state of parked rows that people call s, if it is one.
func parkStateOf(s store.State) (store.ParkState, bool) {
	parked := storekit.ParkStateOf(s)
	return parked, storekit.StateOf(parked) == s
}

// knownState says whether s is a state of messages that are not parked, or none.
func knownState(s store.State) bool {
	switch s {
	case "", store.StatePending, store.StateDelivered, store.StateDiscarded, store.StateSuperseded, store.StateFiltered, store.StateScheduled:
		return true
	default:
		return false
	}
}
