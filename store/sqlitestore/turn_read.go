package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// read answers one request. What is wrong with the request alone goes into the
// batch; an error of the database is returned.
func (s *Store) read(ctx context.Context, about subscribed, r *store.Request) (store.Batch, error) {
	p, err := pageOf(about, r)
	if err != nil {
		return store.Batch{Err: translateError("read "+r.String(), err)}, nil
	}
	switch {
	case p.from.seq > p.until:
		return store.Batch{Next: r.From, Whole: true, Ahead: true}, nil
	case p.limit <= 0 || r.Subscription == store.Maintenance:
		return store.Batch{Next: r.From, Whole: true}, nil
	}
	err = p.fill(ctx, s)
	if err == nil {
		err = p.readOdd(ctx, s)
	}
	if err != nil {
		return store.Batch{}, translateError("read "+r.String(), err)
	}
	return p.batch(r), nil
}

// page is one read of a range of the log.
type page struct {
	about subscribed
	slots storekit.SlotSet
	from  place
	until int64
	limit int // rows to return
	scan  int // rows to look at
	bytes int

	records []store.Record
	looked  int
	odd     []int // records that are still to be read, column by column
	last    passedRow
	full    bool // a limit ended it
}

// passedRow is a row that a page has passed.
type passedRow struct {
	seq int64
	id  postbag.ID
}

// position returns the position behind the row.
func (s *passedRow) position() store.Position {
	return place{seq: s.seq, mark: markOf(s.id[:])}.encode()
}

func pageOf(about subscribed, r *store.Request) (*page, error) {
	p := &page{about: about, slots: storekit.SlotsOf(r.Slots), limit: r.Limit, bytes: r.Bytes, until: math.MaxInt64}
	if about.id == 0 {
		return nil, store.ErrNoSubscription
	}
	if about.fault != nil {
		return nil, about.fault
	}
	if r.Limit < 0 || r.Limit > 0 && r.Bytes <= 0 {
		return nil, fmt.Errorf("limit %d and bytes %d; use positive ones, or a limit of zero to read nothing", r.Limit, r.Bytes)
	}
	var err error
	if p.from, err = placeOf(r.From); err != nil {
		return nil, err
	}
	if r.Until != "" {
		var end place
		end, err = placeOf(r.Until)
		p.until = end.seq
	}
	p.last.seq, p.scan = p.from.seq, p.limit
	if !p.slots.All {
		p.scan = 8*p.limit + 1024
	}
	return p, err
}

// fill reads rows until there are none, or a limit is reached.
func (p *page) fill(ctx context.Context, s *Store) error {
	f := filterOf(&p.about.asks)
	text := f.statement(quoted(p.about.Box))
	args := append([]any{max(p.from.seq, p.about.swept), p.until, p.scan}, f.args...)
	var row pageRow
	dest := row.dest(f.any)
	err := s.query(ctx, text, args, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		return p.take(&row)
	})
	p.full = p.full || p.looked >= p.scan
	return err
}

// take adds a scanned row to the page.
func (p *page) take(row *pageRow) error {
	p.looked++
	whole := row.split()
	p.last.seq = row.seq
	if !whole {
		p.odd = append(p.odd, len(p.records))
		p.last.id = postbag.ID{} // readOdd finds it
		return p.add(store.Record{Seq: row.seq, Filtered: !row.wanted}, len(row.head)+len(row.payload))
	}
	copy(p.last.id[:], row.id)
	slot, hash := storekit.Place(p.about.slots, row.id, row.key, row.shardKey)
	if !p.slots.Contains(slot) {
		return nil
	}
	record := row.record(slot, hash)
	p.about.filter.Judge(&record)
	return p.add(record, len(row.head)+len(row.payload))
}

// add adds a record of so many bytes, as they are stored.
func (p *page) add(r store.Record, size int) error {
	if p.records == nil {
		p.records = make([]store.Record, 0, min(p.limit, 1024))
	}
	p.records = append(p.records, r)
	if p.bytes -= size; p.bytes <= 0 || len(p.records) >= p.limit {
		p.full = true
		return sqlkit.ErrEnough
	}
	return nil
}

// readOdd reads the rows that could not be taken apart. It comes after the page: an
// application's pool may have one connection.
func (p *page) readOdd(ctx context.Context, s *Store) error {
	gone := make(map[int64]bool)
	for _, i := range p.odd {
		was := p.records[i]
		r, found, err := dialect.One(s.querier(ctx), p.about.Box, was.Seq)
		if err != nil {
			return err
		}
		if p.last.seq == was.Seq {
			p.last.id = r.ID
		}
		if !found || !p.slots.Contains(r.Slot) {
			gone[was.Seq] = true
		}
		if p.records[i] = r; was.Filtered {
			p.records[i] = store.Record{Message: postbag.Message{ID: r.ID}, Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, At: r.At, Filtered: true}
		}
		p.about.filter.Judge(&p.records[i])
	}
	if len(gone) > 0 {
		p.records = slices.DeleteFunc(p.records, func(r store.Record) bool { return gone[r.Seq] })
	}
	return nil
}

// batch makes the answer of a page.
func (p *page) batch(r *store.Request) store.Batch {
	b := store.Batch{Records: p.records, Next: r.From, More: p.full, Whole: true}
	switch {
	case r.Until != "" && (!p.full || p.last.seq == p.until):
		b.Next, b.More = r.Until, false
	case p.last.seq != p.from.seq:
		b.Next = p.last.position()
	}
	if len(p.records) > 0 {
		rows := make([]passedRow, len(p.records))
		for i := range p.records {
			rows[i] = passedRow{p.records[i].Seq, p.records[i].ID}
		}
		b.At = func(i int) store.Position { return rows[i].position() }
	}
	b.Records = slices.Clip(b.Records)
	return b
}

// filter is the types and topics of a subscription as a condition on these columns. What
// else it asks for is judged in Go, of what this takes.
type filter struct {
	any       bool // there is a filter
	condition string
	args      []any
}

// firstFilterArg is the number of the first parameter of a filter.
const firstFilterArg = 4

func filterOf(asks *store.Filter) filter {
	var f filter
	f.add("type", asks.Types)
	f.add("topic", asks.Topics)
	return f
}

// add compares exact names, and a prefix as a range: BINARY, the collation
// of the columns, compares bytes, and '/' comes next after '.'.
func (f *filter) add(column string, names []string) {
	terms := make([]string, 0, len(names))
	for _, name := range names {
		n := firstFilterArg + len(f.args)
		if prefix, ok := storekit.TypePrefix(name); ok {
			terms = append(terms, fmt.Sprintf("(%s >= ?%d AND %s < ?%d)", column, n, column, n+1))
			f.args = append(f.args, prefix, prefix[:len(prefix)-1]+"/")
			continue
		}
		terms = append(terms, fmt.Sprintf("%s = ?%d", column, n))
		f.args = append(f.args, name)
	}
	switch all := anyOf(terms); {
	case len(terms) == 0:
		return
	case f.any:
		f.condition = "(" + f.condition + ") AND (" + all + ")"
	default:
		f.any, f.condition = true, all
	}
}

// anyOf joins terms by OR as a balanced tree. A chain would be as deep as it is long, and SQLite
// takes no expression that is deeper than 1000.
func anyOf(terms []string) string {
	if len(terms) <= 2 {
		return strings.Join(terms, " OR ")
	}
	half := len(terms) / 2
	return "(" + anyOf(terms[:half]) + ") OR (" + anyOf(terms[half:]) + ")"
}

func (f *filter) statement(table string) string {
	if !f.any {
		return fmt.Sprintf(sqlPage, table)
	}
	return fmt.Sprintf(sqlFilteredPage, table, "("+f.condition+")")
}
