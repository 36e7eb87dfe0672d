package mysqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// reading answers one request: the status of its subscription, a page of the log,
// and then the rows of open seqs, which are delivered before the page. In this
// order: of two messages of a key the second cannot be on the page without the
// first being visible to the statement after it.
type reading struct {
	s       *Store
	about   subscribed
	request *store.Request
	slots   storekit.SlotSet
	// slotsToo are those that status is about; status says that it is asked for.
	slotsToo []store.Slots
	status   bool

	from, until position
	towards     bool // there is an Until
	scan        int  // rows to look at

	seen         serverState
	recentStatus *recentStatus // the status of a moment ago, of which only some is asked for again
	swept        int64
	check        position // the highest of the subscription's in this Turn
	there        there    // what is there now
	last         int64    // the highest seq of the log
	ready        sql.NullInt64
	commands     bool
	asked        bool // the page was asked for
	page         taken
	pageCut      bool // there may be more rows than were read
	late         taken
	lateCut      bool
	lateAsked    bool
	found        bool // rows of any kind
	arena        arena
	texts        texts
	batch        store.Batch
}

func newReading(s *Store, about subscribed, r *store.Request) *reading {
	w := &reading{s: s, about: about, request: r, slots: storekit.SlotsOf(r.Slots), towards: r.Until != ""}
	var err error
	if w.from, err = decodePosition(r.From); err == nil {
		w.until, err = decodePosition(r.Until)
	}
	switch {
	case err != nil:
	case about.id == 0:
		err = store.ErrNoSubscription
	case about.fault != nil:
		err = about.fault
	case r.Limit < 0 || r.Limit > 0 && r.Bytes <= 0:
		err = fmt.Errorf("limit %d and bytes %d; use positive ones, or a limit of zero to read nothing", r.Limit, r.Bytes)
	}
	if err != nil {
		w.batch = store.Batch{Err: translateError("read "+r.String(), err)}
		return w
	}
	w.batch = store.Batch{Next: r.From, Whole: true}
	if w.towards && !w.from.before(&w.until) {
		w.batch.Ahead = true
	}
	return w
}

// begin begins a reading again, of a subscription that has changed.
func (w *reading) begin(about subscribed, status bool) {
	again := newReading(w.s, about, w.request)
	again.status, again.slotsToo, again.check = status, w.slotsToo, w.check
	*w = *again
}

// wanted says whether there is anything to read.
func (w *reading) wanted() bool {
	return w.batch.Err == nil && !w.batch.Ahead && w.request.Limit > 0 && w.request.Subscription != store.Maintenance
}

// run asks the database and makes the batch.
func (w *reading) run(ctx context.Context, life *serverState) error {
	if w.about.id == 0 && w.status {
		if _, err := w.s.row(ctx, w.s.serverStateText(), nil, w.seen.dest()...); err != nil {
			return err
		}
		return w.s.accept(&w.seen)
	}
	w.seen = *life
	// With nothing at the end last time only the status is asked for.
	busy := w.s.busy.Of(w.about.String()) != 0
	if w.status {
		if err := w.askStatus(ctx, life, busy); err != nil {
			return err
		}
	}
	if !w.wanted() {
		return nil
	}
	if w.status && !w.towards && w.last < w.from.high {
		return fmt.Errorf("the log of box %s ends at seq %d, before the position %d of %s: %w",
			w.about.Box, w.last, w.from.high, w.about.Ref, store.ErrMoved)
	}
	if idle := w.status && w.last == w.from.high && len(w.from.open) == 0; !w.asked && !idle {
		w.status = false
		if err := w.ask(ctx, true); err != nil {
			return err
		}
	}
	if err := errors.Join(w.readOdd(ctx, w.late), w.readOdd(ctx, w.page)); err != nil {
		return err
	}
	w.found = len(w.page.rows)+len(w.late.rows) > 0
	w.assemble()
	w.note()
	return nil
}

// askStatus asks for the status, and for the page where one is expected, and refuses
// what is there if the positions are not of it.
func (w *reading) askStatus(ctx context.Context, life *serverState, busy bool) error {
	if g, ok := w.s.recent.of(w.request); ok && w.wanted() && busy && !w.towards {
		w.recentStatus = &g
	}
	if err := w.ask(ctx, w.wanted() && (busy || w.towards)); err != nil {
		return err
	}
	if err := w.s.accept(&w.seen); err != nil {
		return err
	}
	switch {
	case w.seen.full() != life.full():
		return errNewLife
	case !w.check.holds(&w.there, w.swept):
		return fmt.Errorf("the log of box %s was emptied and its numbering begun again since the position %d of %s was read: %w",
			w.about.Box, w.check.high, w.about.Ref, store.ErrMoved)
	}
	return nil
}

// note remembers for the next read, and for the tombstones, what this one found.
func (w *reading) note() {
	more := int64(0)
	if w.found {
		more = 1
	}
	w.s.busy.Set(w.about.String(), more)
	w.look()
	if next, err := decodePosition(w.batch.Next); err == nil {
		w.s.unknowns.note(w.about.Ref, w.request.Slots, next.open)
	}
}

// look keeps the status for the read that goes on from here.
func (w *reading) look() {
	g := recentStatus{at: w.seen.at, next: w.batch.Next, last: w.last, ready: w.ready}
	if w.recentStatus != nil {
		g.at = w.recentStatus.at
	}
	if w.batch.More && w.status && !w.commands && !w.towards {
		w.s.recent.put(w.about.Ref, g)
	} else {
		w.s.recent.drop(w.about.Ref)
	}
}

// floorSeq is the seq after which the page begins.
func (w *reading) floorSeq() int64 { return max(w.from.high, w.swept) }

// open are the open seqs to look for.
func (w *reading) open() ranges {
	open := w.from.open.from(w.swept + 1)
	if w.towards {
		open = open.minus(w.until.open)
	}
	return open
}

// ask makes one round trip.
func (w *reading) ask(ctx context.Context, page bool) error {
	text, args := "", []driver.NamedValue(nil)
	add := func(statement string, more ...any) {
		if text != "" {
			text += ";\n"
		}
		text += statement + w.s.comment
		for _, a := range more {
			args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: a})
		}
	}
	status := w.status
	switch {
	case status && w.recentStatus != nil:
		add(fmt.Sprintf(sqlTurnStatus, w.s.server.Load().id, tableOf(w.about.Box), w.check.high, w.about.Box))
	case status:
		add(fmt.Sprintf(sqlStatus, w.s.server.Load().id, tableOf(w.about.Box), w.check.high), w.about.id)
	}
	if page {
		w.asked = true
		add(w.pageText(), int64(w.scan))
		if condition := seqCondition(w.open()); condition != "" {
			w.lateAsked = true
			add(w.rowsText(condition), int64(w.lateLimit()))
		}
	}
	conn, err := w.s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	err = conn.Raw(func(c any) error { return w.take(ctx, c, text, args, status) })
	if !errors.Is(err, errCut) {
		return err
	}
	return w.askLate(ctx)
}

// errCut: enough was read of a page that goes on; its session is given up, since
// the rest would have to be read off it.
var errCut = fmt.Errorf("the page was cut: %w", driver.ErrBadConn)

// askLate reads the open seqs where the page was cut.
func (w *reading) askLate(ctx context.Context) error {
	condition := seqCondition(w.open())
	if condition == "" || len(w.late.rows) > 0 {
		return nil
	}
	conn, err := w.s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(w.lateLimit())}}
	err = conn.Raw(func(c any) error {
		w.asked, w.lateAsked = false, true
		defer func() { w.asked = true }()
		return w.take(ctx, c, w.rowsText(condition)+w.s.comment, args, false)
	})
	if errors.Is(err, errCut) {
		return nil
	}
	return err
}

// lateLimit is how many rows of open seqs are read at a time.
func (w *reading) lateLimit() int { return w.request.Limit + 64 }

func (w *reading) pageText() string {
	w.scan = w.scanRows()
	if !w.towards {
		return w.rowsText(fmt.Sprintf("seq > %d AND seq <= %d", w.floorSeq(), int64(math.MaxInt64)))
	}
	// What is open at Until may have come since: it is read from there.
	text := fmt.Sprintf("seq > %d AND seq <= %d", w.floorSeq(), w.until.high)
	if open := seqCondition(w.until.open.from(w.floorSeq() + 1)); open != "" {
		text += " AND NOT " + open
	}
	return w.rowsText(text)
}

// scanRows is how many rows a page looks at: as many as make Limit records where
// keys are spread evenly, and not many more than Bytes are expected to hold.
func (w *reading) scanRows() int {
	rows := w.request.Limit
	if !w.slots.All {
		share := max(w.slots.Count(), 1)
		rows = min(rows*store.SlotCount/share+64, 8*rows+1024)
	}
	if average := w.s.average.Of(w.about.Box); average > 0 {
		rows = min(rows, int(2*int64(w.request.Bytes)/average)+16)
	}
	return rows
}

// take runs a text on a session and takes its results.
func (w *reading) take(ctx context.Context, c any, text string, args []driver.NamedValue, status bool) (err error) {
	run, ok := c.(driver.QueryerContext)
	if !ok {
		return fmt.Errorf("%T cannot run a query", c)
	}
	rows, err := run.QueryContext(ctx, text, args)
	if err != nil {
		return err
	}
	cut := false
	defer func() {
		if !cut { // else the whole session goes
			err = errors.Join(err, rows.Close())
		}
	}()
	results := results{rows: rows}
	if status {
		if err := errors.Join(results.next(), w.takeStatus(rows)); err != nil {
			return err
		}
	}
	if w.asked {
		if err := results.next(); err != nil {
			return err
		}
		if w.page, cut, err = w.takeRows(rows, w.scan); err != nil {
			return err
		}
		if w.pageCut = cut || len(w.page.rows) >= w.scan; cut {
			return errCut
		}
	}
	if w.lateAsked {
		if err := results.next(); err != nil {
			return err
		}
		if w.late, cut, err = w.takeRows(rows, w.lateLimit()); err != nil {
			return err
		}
		if w.lateCut = cut || len(w.late.rows) >= w.lateLimit(); cut {
			return errCut
		}
	}
	return nil
}

// results are those of several statements, one after the other.
type results struct {
	rows  driver.Rows
	begun bool
}

// next goes to the next result, or to the first.
func (r *results) next() error {
	if !r.begun {
		r.begun = true
		return nil
	}
	several, ok := r.rows.(driver.RowsNextResultSet)
	if !ok {
		return errors.New("the driver does not return several results; use go-sql-driver/mysql 1.10 or newer")
	}
	return several.NextResultSet()
}

// assemble makes the batch of what was read.
func (w *reading) assemble() {
	b := newBuilder(w)
	b.takeLate(w.late)
	if w.lateCut {
		b.full = true // the page must wait for the rest of the late ones
	}
	b.takePage(w.page)
	w.batch = b.batch()
	w.page, w.late = taken{}, taken{}
}
