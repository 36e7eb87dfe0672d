package pgstore

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// reader is one request at work.
type reader struct {
	q   store.Request
	sub *catalogSubscription
	// at is where the read goes on from; it is in a window once the page has come.
	at snapshots.Position
	// until is the snapshot at which the read is to end, if there is one.
	until *snapshots.Position
	form  reading
	hint  hint
	span  int64
	// from is where the page begins in the log; a poll learns it from its answer.
	from int64
	page *page
	// now: there is nothing to ask the server for, batch is the answer.
	now   bool
	batch store.Batch
}

// newReader begins a request, or answers it if that takes no reading.
func newReader(q store.Request, sub *catalogSubscription, from, until snapshots.Position) *reader {
	rd := &reader{q: q, sub: sub, at: from}
	switch {
	case q.Limit < 0, q.Limit > 0 && q.Bytes <= 0:
		return rd.fail(fmt.Errorf("limit %d and bytes %d; use positive ones, or a limit of zero to read nothing", q.Limit, q.Bytes))
	case until.To != nil:
		return rd.fail(fmt.Errorf("until is in the middle of a window; use the Next of a Whole batch: %w", store.ErrPosition))
	case q.Limit == 0, q.Until != "" && q.Until == q.From:
		return rd.answer(store.Batch{Next: q.From, Whole: from.To == nil})
	}
	if rd.at.Done == nil && rd.at.To == nil {
		rd.at.Base = sub.box.foreign
	}
	if q.Until != "" {
		if !rd.at.Towards(&until) {
			return rd.answer(store.Batch{Next: q.From, Ahead: true})
		}
		rd.until = &until
	}
	rd.form = reading{
		window:  rd.at.To != nil,
		masked:  !allSlots(q.Slots),
		types:   !sub.filter.types.empty(),
		topics:  !sub.filter.topics.empty(),
		foreign: rd.at.To != nil && rd.at.Done == nil && rd.at.Base > 0,
		moved:   rd.at.Done != nil && rd.at.Base > 0 && len(rd.at.Done.Running) > 0,
		ended:   rd.at.To == nil && (rd.at.Done == nil || len(rd.at.Done.Running) == 0),
	}
	return rd
}

func (rd *reader) answer(b store.Batch) *reader {
	rd.now, rd.batch = true, b
	return rd
}

func (rd *reader) fail(err error) *reader {
	return rd.answer(store.Batch{Err: translateError("read "+rd.q.Ref.String(), err)})
}

// scope says how much of the log one page may look at. Where nearly all was
// passed already, looking is cheap, and where only a few slots are wanted, more
// of it finds as many.
func (rd *reader) scope(h hint) {
	limit := int64(rd.q.Limit)
	wanted := int64(0)
	for _, r := range rd.q.Slots {
		wanted += int64(max(r.Hi-r.Lo, 0))
	}
	share := min(store.SlotCount/max(wanted, 1), 8)
	rd.span = 8 * limit * max(share, 1)
	rd.from = rd.at.After
	if !rd.form.window {
		rd.from = rd.at.Lowest()
	}
	if rd.from < rd.at.Beyond() {
		rd.span = max(rd.span, 32<<10)
	}
	rd.hint = h
	rd.form.bounded = h.bounded > 0
	rd.form.skip = h.skip || rd.at.Done == nil && rd.from == rd.at.Floor
}

// cut is the most that a page of rows brings unasked of a row's headers and payload.
func (rd *reader) cut() int64 {
	if rd.form.bounded {
		return int64(rd.q.Bytes)
	}
	return max(16<<10, int64(rd.q.Bytes)/int64(rd.q.Limit))
}

// call returns the statement that reads the page.
func (rd *reader) call(s *Store, sc *scopes) call {
	rd.page = newPage(rd.q.Bytes, min(rd.hint.payload, rd.q.Bytes+rd.hint.payload/8))
	rd.page.byNumber = rd.sub.box.slots == store.SlotsByNumber
	p := &rd.at
	a := &parameters{buf: make([]byte, 0, 512)}
	var xmax uint64
	var running []snapshots.Runner
	if p.Done != nil {
		xmax, running = p.Done.XMax, p.Done.Running
	}
	a.int8(int64(xmax))
	a.xid8s(len(running), func(i int) int64 { return int64(running[i].XID) })
	if rd.form.window {
		from := len(a.buf)
		a.buf = snapshots.Append(a.buf, p.To)
		a.end(from)
	} else {
		a.int8s(len(running), func(i int) int64 { return running[i].Low })
	}
	a.int8(p.Beyond()).int4(int32(rd.q.Limit)).int8(rd.span).bool(rd.form.skip).int8(rd.cut())
	sc.append(a)
	if rd.form.window {
		a.int8(p.After).int8(p.Top)
	} else {
		a.int8(p.Lowest()).int8(rd.ceiling())
	}
	if rd.form.masked {
		a.bytes(mask(rd.q.Slots))
	}
	if rd.form.foreign {
		a.int8(p.Base)
		a.xid8s(len(p.To.Running), func(i int) int64 { return int64(p.To.Running[i].XID) })
	}
	if rd.form.moved {
		a.int8s(len(running), func(i int) int64 { return running[i].Low })
	}
	if rd.form.types {
		rd.sub.filter.types.append(a)
	}
	if rd.form.topics {
		rd.sub.filter.topics.append(a)
	}
	return call{st: s.statements.readStatement(rd.q.Box, rd.form), args: a, each: rd.page.take, reset: rd.page.reset}
}

// ceiling is above all that a poll looks at.
func (rd *reader) ceiling() int64 {
	if rd.form.skip {
		return math.MaxInt64
	}
	return rd.at.Beyond() + max(rd.span, 1<<20)
}

// again says that the page must be asked for once more: its very first row was
// too large to be sent unasked.
func (rd *reader) again() bool { return !rd.now && rd.page.omitted && len(rd.page.rows) == 0 }

// finish turns the page into the answer.
func (rd *reader) finish(v *server, h *hints) {
	f, p, pg := &rd.page.facts, &rd.at, rd.page
	known := v.of(rd.q.Box)
	if !rd.form.window {
		rd.from = p.Open(f.snapshot, f.last, known)
	}
	p.Life = v.era
	count := len(pg.rows)
	after, whole := rd.reached(f, count)
	next := rd.next(after, whole)
	if whole && rd.until == nil {
		next.More = f.last > p.Top // since the window was opened
	}
	h.set(rd.sub.ref, rd.learned(whole))
	records := pg.records(rd.q.Box, &rd.sub.filter.Filter)
	next.Records = records
	if count > 0 {
		next.At = positionsOf(*p, records, next.Next, whole)
	}
	rd.answer(next)
}

// reached returns the seq up to which the page has looked at everything, and
// whether that is the whole window.
func (rd *reader) reached(f *facts, count int) (after int64, whole bool) {
	pg := rd.page
	if count > 0 && (count >= rd.q.Limit || pg.crossed || pg.omitted) {
		after = pg.rows[count-1].seq
		return after, after >= rd.at.Top
	}
	looked := rd.from + rd.span
	if rd.form.skip {
		if f.first < 0 {
			return rd.at.Top, true
		}
		looked = f.first + rd.span
	}
	return looked, looked >= rd.at.Top
}

// next returns the answer but for its records.
func (rd *reader) next(after int64, whole bool) store.Batch {
	switch {
	case !whole:
		return store.Batch{Next: rd.at.At(after), More: true}
	case rd.until == nil:
		end := rd.at.Closed()
		return store.Batch{Next: end.Encode(), Whole: true}
	case rd.at.To.Same(rd.until.Done):
		return store.Batch{Next: rd.q.Until, Whole: true}
	default:
		end := rd.at.Closed()
		return store.Batch{Next: end.Encode(), Whole: true, More: true}
	}
}

// positionsOf returns Batch.At.
func positionsOf(window snapshots.Position, records []store.Record, next store.Position, whole bool) func(int) store.Position {
	return func(i int) store.Position {
		if whole && i == len(records)-1 {
			return next
		}
		return window.At(records[i].Seq)
	}
}

// learned is what the page says about the next one.
func (rd *reader) learned(whole bool) hint {
	pg := rd.page
	h := hint{
		skip:    !whole && len(pg.rows) == 0,
		bounded: max(rd.hint.bounded-1, 0),
		payload: len(pg.payload) + len(pg.payload)/8,
	}
	if len(pg.rows) == 0 {
		h.dry = rd.hint.dry + 1
	}
	if pg.omitted || pg.crossed && !rd.form.bounded {
		h.bounded = boundedPages
	}
	return h
}

// hint is what one page of a subscription says about the next. It saves work and
// decides nothing.
type hint struct {
	// skip: there may be a gap in the log.
	skip bool
	// bounded: payloads are large; for so many more pages the server shall count.
	bounded int
	// payload is how many bytes to make room for.
	payload int
	// dry is how many reads in a row found nothing.
	dry int
}

// boundedPages is for how many pages a large payload is remembered.
const boundedPages = 16

// hints remembers a hint a subscription.
type hints struct {
	mu  sync.Mutex
	all map[store.Ref]hint
}

func (h *hints) get(r store.Ref) hint {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[r]
}

func (h *hints) set(r store.Ref, v hint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[store.Ref]hint{}
	}
	h.all[r] = v
}

// allSlots says whether the ranges leave nothing out.
func allSlots(ranges []store.Slots) bool {
	if len(ranges) == 1 {
		return ranges[0] == store.AllSlots
	}
	for _, b := range mask(ranges) {
		if b != 0xff {
			return false
		}
	}
	return true
}

// mask has a bit for every slot, the lowest of each byte first.
func mask(ranges []store.Slots) []byte {
	m := make([]byte, store.SlotCount/8)
	for _, r := range ranges {
		for slot := max(r.Lo, 0); slot < min(r.Hi, store.SlotCount); slot++ {
			m[slot/8] |= 1 << (slot % 8)
		}
	}
	return m
}

var errNoFacts = errors.New("the server's answer has no facts")
