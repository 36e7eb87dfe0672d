package sqlkit

import (
	"database/sql"
	"math"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// logRow is a row of the log, as listings and single looks scan it.
type logRow struct {
	seq        int64
	at         Micros
	id         []byte
	topic, key string
	shardKey   string
	typ        string
	rule       int // for slots, of its box
	headers    sql.NullString
	payload    []byte
}

// dest is where to scan sqlColumns, headers and payload.
func (r *logRow) dest() []any { return append(r.listDest(), &r.headers, &r.payload) }

// listDest is where to scan sqlColumns.
func (r *logRow) listDest() []any {
	return []any{&r.seq, &r.id, &r.at, &r.topic, &r.key, &r.shardKey, &r.typ, &r.rule}
}

// place returns the slot of the row, and the hash of its key.
func (r *logRow) place() (slot int, hash uint64) {
	return storekit.Place(storekit.RuleOf(r.rule), r.id, r.key, r.shardKey)
}

// record returns the row as the seam has it, with what cannot be read of it in Err.
func (r *logRow) record() store.Record {
	rec := store.Record{Seq: r.seq, At: TimeOf(int64(r.at))}
	var whole bool
	rec.ID, whole = IDOf(r.id)
	rec.Slot, rec.Hash = storekit.Place(storekit.RuleOf(r.rule), rec.ID[:], r.key, r.shardKey)
	rec.Topic, rec.Key, rec.Type, rec.Payload = r.topic, r.key, r.typ, r.payload
	rec.ShardKey = storekit.ShownShardKey(r.shardKey)
	Inspect(&rec, r.headers.String)
	if !whole {
		rec.Err = errID
	}
	return rec
}

// One returns a message of a box as it is stored, even if it cannot be read whole, and
// whether it is there.
func (d *Dialect) One(query Querier, box string, seq int64) (store.Record, bool, error) {
	var row logRow
	found, err := Row(query, d.In(box, SQLRecord), []any{seq}, row.dest()...)
	return row.record(), found, err
}

// ParkedRow is how a parked row is scanned.
type ParkedRow struct {
	store.Park

	hash, due int64
	held      sql.NullString
}

// Dest returns where to scan slot, hash, state, whether it blocks, attempts, due, reason
// and the topic that does not work.
func (p *ParkedRow) Dest() []any {
	return []any{&p.Slot, &p.hash, &p.State, &p.Blocking, &p.Attempts, &p.due, &p.Reason, &p.held}
}

// At returns the row as package store has it. now is the database's clock.
func (p *ParkedRow) At(now int64) store.Park {
	p.Hash, p.Topic = uint64(p.hash), p.held.String
	if p.State == store.ParkRetrying {
		p.Delay = Until(p.due, now)
	}
	return p.Park
}

// Until returns the time from now to at, by the database's clock, or zero if at is over.
// Both are microseconds since 1970.
func Until(at, now int64) time.Duration { return max(0, Ahead(at, now)) }

// Ahead is like Until, and negative if at is over. A time too far away becomes the longest
// Duration.
func Ahead(at, now int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Microsecond)
	switch {
	case at > now && uint64(at)-uint64(now) > uint64(most):
		return math.MaxInt64
	case at < now && uint64(now)-uint64(at) > uint64(most):
		return math.MinInt64
	}
	return time.Duration(at-now) * time.Microsecond
}

// Wait returns a due time as a duration from now; negative: none.
func Wait(at sql.NullInt64, now int64) time.Duration {
	if !at.Valid {
		return -1
	}
	return Until(at.Int64, now)
}

// Placed is a row of the log without its bytes. ID is good until the next row.
type Placed struct {
	Seq  int64
	At   Micros
	ID   []byte
	Slot int

	raw           sql.RawBytes
	id            postbag.ID
	key, shardKey string
	rule          int
}

// Places calls each with some rows of a range of a box's log, by seq.
func (d *Dialect) Places(query Querier, box string, after, to int64, limit int, each func(*Placed) error) error {
	var row Placed
	text, dest := d.In(box, SQLPlaces), []any{&row.Seq, &row.raw, &row.At, &row.key, &row.shardKey, &row.rule}
	if d.Slots != "" {
		text, dest = d.In(box, d.Slots), []any{&row.Seq, &row.raw, &row.At, &row.Slot}
	}
	return query(text, []any{after, to, limit}, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		row.id, _ = IDOf(row.raw)
		row.ID = row.id[:]
		if d.Slots == "" {
			row.Slot, _ = storekit.Place(storekit.RuleOf(row.rule), row.ID, row.key, row.shardKey)
		}
		return each(&row)
	})
}
