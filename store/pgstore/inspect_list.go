package pgstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Inspector = (*Store)(nil)

// What one List does at most: how many rows it looks at, in how large pieces, and
// how many bytes it brings.
const (
	lookMost  = 20_000
	lookPiece = 5000
	listBytes = 16 << 20
)

// List implements store.Inspector. Without a State it returns all but scheduled
// messages, which have no place in the log yet. Without a Subscription a message
// comes once a subscription. A page is short, too, when its payloads are large.
func (s *Store) List(ctx context.Context, q store.Query) (items []store.Item, next string, err error) {
	from, err := storekit.ParseCursor(q.Cursor, q.Oldest)
	if err != nil {
		err = &fault{doing: "read the query", said: err.Error(), cause: err}
	} else {
		err = s.guarded(ctx, func(*server) error {
			l, err := s.lister(ctx, q)
			if err != nil || l.nothing() {
				items, next = nil, ""
				return err
			}
			items, next, err = l.list(ctx, from)
			return err
		})
	}
	return items, next, translateError("list messages of box "+q.Box, err)
}

// lister answers one Query.
type lister struct {
	store.Query

	s     *Store
	box   *catalogBox
	types []string // those that a message can have
	subs  []listed
	// lo and hi bound the log: after lo, up to hi. What is not above dropped is
	// gone but for copies.
	lo, hi, dropped int64
	now             int64 // microseconds since 1970
	places          bool  // what is not passed is pending, whatever the filter says
}

// listed is a subscription in a listing.
type listed struct {
	follower

	filter filter
	fault  error // of the filter, if it cannot be read
}

func (s *Store) lister(ctx context.Context, q store.Query) (*lister, error) {
	q.Limit = storekit.ListLimit(q.Limit)
	l := &lister{Query: q, s: s, types: slices.DeleteFunc(q.AllTypes(), noText)}
	if _, known := parkStateOf(q.State); !known && !knownState(q.State) {
		return nil, &fault{doing: "read the query", said: fmt.Sprintf("state %.20q is unknown", q.State), fix: "use one of package store"}
	}
	known, err := s.readCatalog(ctx)
	if err != nil {
		return nil, err
	}
	if l.box = known.boxes[q.Box]; l.box == nil {
		return nil, store.ErrNoBox
	}
	if q.Subscription != "" && (known.subs[q.Ref] == nil || q.Subscription == store.Maintenance) {
		return nil, store.ErrNoSubscription
	}
	if err := l.readPositions(ctx, known); err != nil {
		return nil, err
	}
	return l, l.bound(ctx)
}

// readPositions reads where the subscriptions stand that the query is about.
func (l *lister) readPositions(ctx context.Context, known *catalog) error {
	return l.s.run(ctx, call{
		st: l.s.statements.get("standings", l.Box), args: new(parameters).int4(l.box.id).text(l.Subscription),
		reset: func() { l.subs = nil },
		each: func(r row) error {
			c := columns{rest: r}
			l.now, l.hi, l.dropped = c.int8(), c.int8(), c.int8()
			for _, f := range followersOf(c.int4s(), c.texts(), c.int4s(), c.int4s(), c.texts()) {
				if f.bad != nil {
					return f.bad
				}
				sub := listed{follower: f}
				if e := known.subs[store.Ref{Box: l.Box, Subscription: f.name}]; e != nil {
					sub.filter, sub.fault = e.filter, e.fault
				}
				l.subs = append(l.subs, sub)
			}
			return c.err
		},
	})
}

// bound narrows the walk by time: that of the query, or of an id of version 7,
// which cannot have been stored before it was drawn.
func (l *lister) bound(ctx context.Context) (err error) {
	after := l.After
	if drawn, ok := storekit.DrawnAt(l.ID); ok && drawn.After(after) {
		after = drawn
	}
	l.lo = l.dropped
	if l.State == store.StatePending {
		l.lo = max(l.lo, l.passed())
	}
	if !after.IsZero() {
		floor, err := l.s.search(ctx, l.Box, after)
		if err != nil {
			return err
		}
		l.lo = max(l.lo, floor)
	}
	if l.Before.IsZero() {
		return nil
	}
	floor, err := l.s.search(ctx, l.Box, l.Before)
	l.hi = min(l.hi, floor+2*searchSlack+1)
	return err
}

// passed is the last seq up to which all subscriptions of the query have passed everything.
func (l *lister) passed() int64 {
	floor := int64(math.MaxInt64)
	for i := range l.subs {
		for k := range l.subs[i].shards {
			floor = min(floor, l.subs[i].shards[k].at.Lowest())
		}
	}
	return min(floor, l.hi)
}

// nothing says that no message can match, such as one with a key that is no text.
func (l *lister) nothing() bool {
	if len(l.subs) == 0 && l.State != store.StateScheduled {
		return true
	}
	if l.State == store.StateFiltered && !slices.ContainsFunc(l.subs, func(s listed) bool { return s.filter.Narrows() || !s.filter.types.empty() }) {
		return true
	}
	if l.Error != "" && (l.State == store.StatePending || l.State == store.StateScheduled) { // no attempt yet
		return true
	}
	return noText(l.Topic) || noText(l.Key) || len(l.types) == 0 && len(l.AllTypes()) > 0
}

// noText says that a string is none that a row can have.
func noText(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }

// list walks what the query can find, in its order.
func (l *lister) list(ctx context.Context, from storekit.Cursor) ([]store.Item, string, error) {
	var out []found
	next, more := from, true
	if l.Oldest {
		next.Ordinal = max(next.Ordinal, 1)
	}
	size := l.firstPiece()
	for looked := 0; more && looked < lookMost && len(out) < l.Limit; size *= 4 {
		p, err := l.piece(ctx, next.Ordinal, min(size, lookPiece, lookMost))
		if err != nil {
			return nil, "", err
		}
		items, err := l.items(ctx, p.rows)
		if err != nil {
			return nil, "", err
		}
		out = append(out, without(items, next)...)
		looked += max(p.looked, 1)
		next, more = storekit.Cursor{Ordinal: p.next}, p.more
	}
	if len(out) > l.Limit {
		next, more = out[l.Limit].Cursor, true
		out = out[:l.Limit]
	}
	if n, err := l.fill(ctx, out); err != nil {
		return nil, "", err
	} else if n < len(out) {
		next, more = out[n].Cursor, true
		out = out[:n]
	}
	items := make([]store.Item, len(out))
	for i := range out {
		items[i] = out[i].Item
		items[i].History = nil
	}
	if !more {
		return items, "", nil
	}
	return items, next.String(), nil
}

// firstPiece is how many rows a walk looks at first: as many as the page has, if each subscription has each of them and no filter
// leaves one out.
func (l *lister) firstPiece() int {
	switch {
	case l.selects() || l.Error != "":
		return max(2*l.Limit, 100)
	case l.State == store.StateScheduled:
		return l.Limit + 1
	}
	return l.Limit/len(l.subs) + 2
}

// without leaves out what an earlier page had of the first message.
func without(items []found, from storekit.Cursor) []found {
	n := 0
	for n < len(items) && items[n].Ordinal == from.Ordinal && items[n].Skip < from.Skip {
		n++
	}
	return items[n:]
}

// found is an item of a listing, with its place in it.
type found struct {
	store.Item
	storekit.Cursor
}

// items returns what of some rows the query asks for: of each subscription, or as
// scheduled; without bytes.
func (l *lister) items(ctx context.Context, rows []listRow) ([]found, error) {
	var out []found
	if l.State == store.StateScheduled {
		for i := range rows {
			out = append(out, found{store.Item{Record: rows[i].record(), State: store.StateScheduled}, storekit.Cursor{Ordinal: rows[i].seq}})
		}
		return out, nil
	}
	known, err := l.states(ctx, rows)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		skip := 0
		for k := range l.subs {
			item, there := l.item(&l.subs[k], &rows[i], known)
			if there && l.matches(&item) {
				out = append(out, found{item, storekit.Cursor{Ordinal: rows[i].seq, Skip: skip}})
				skip++
			}
		}
	}
	return out, nil
}

// matches says whether an item is one that the query asks for, beyond what the
// statement has looked at.
func (l *lister) matches(item *store.Item) bool {
	return (l.State == "" || item.State == l.State) &&
		(l.Error == "" || strings.Contains(strings.ToLower(item.Reason), strings.ToLower(l.Error)))
}

// item returns a message as a subscription has it, with its history. One that is gone from the log
// is there only for who has it parked.
func (l *lister) item(sub *listed, r *listRow, known *states) (item store.Item, there bool) {
	at := subSeq{sub.id, r.seq}
	item = store.Item{Record: r.record(), Subscription: sub.name, State: store.StateDelivered}
	p, parked := known.parked[at]
	switch {
	case parked:
		item.State, item.Attempts, item.Due, item.Reason = storekit.StateOf(p.state), p.attempts, p.due, p.reason
		item.Queued, item.History = p.queued, p.history
	case !sub.passed(&r.scannedRow) && (l.places || sub.filter.Take(&item.Record)):
		item.State = store.StatePending
	case !sub.filter.Take(&item.Record): // passed or not: it goes nowhere
		item.State = store.StateFiltered
	case known.discarded[at]:
		item.State = store.StateDiscarded
	}
	if !parked {
		item.Queued = known.queued[at]
		if h, failed := known.past[at]; failed && item.State != store.StatePending {
			item.Attempts, item.Reason, item.History = h.attempts, h.reason, h.history
			if item.State == store.StateDelivered && storekit.Superseded(h.history) {
				item.State = store.StateSuperseded
			}
		}
	}
	return item, parked || r.seq > l.dropped
}
