package sqlstore

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// logRow is a row of the log, as listings and single looks scan it.
type logRow struct {
	seq, at    int64
	id         []byte
	topic, key string
	shardKey   string
	typ        string
	headers    sql.NullString
	payload    []byte
}

// dest is where to scan sqlColumns, headers and payload.
func (r *logRow) dest() []any { return append(r.listDest(), &r.headers, &r.payload) }

// listDest is where to scan sqlColumns.
func (r *logRow) listDest() []any {
	return []any{&r.seq, &r.id, &r.at, &r.topic, &r.key, &r.shardKey, &r.typ}
}

// record returns the row as the seam has it.
func (r *logRow) record() (store.Record, error) {
	rec := store.Record{Seq: r.seq, At: time.UnixMicro(r.at).UTC()}
	if err := wholeID(r.seq, r.id); err != nil {
		return rec, err
	}
	rec.ID = postbag.ID(r.id)
	rec.Slot, rec.Hash = storekit.Place(r.id, r.key, r.shardKey)
	rec.Topic, rec.Key, rec.Type, rec.Payload = r.topic, r.key, r.typ, r.payload
	rec.ShardKey = storekit.ShownShardKey(r.shardKey)
	if r.headers.String == "" {
		return rec, nil
	}
	var err error
	if rec.Headers, err = storekit.ParseHeaders(r.headers.String); err != nil {
		return rec, fmt.Errorf("seq %d: headers: %w", r.seq, ErrDamaged)
	}
	return rec, nil
}

func wholeID(seq int64, id []byte) error {
	if len(id) != len(postbag.ID{}) {
		return fmt.Errorf("seq %d: the id has %d bytes: %w", seq, len(id), ErrDamaged)
	}
	return nil
}

// ParkedRow is how a parked row is scanned.
type ParkedRow struct {
	store.Park

	hash, due int64
	held      sql.NullString
}

// Dest is where to scan slot, hash, state, whether it blocks, attempts, due, reason
// and the topic that does not work.
func (p *ParkedRow) Dest() []any {
	return []any{&p.Slot, &p.hash, &p.State, &p.Blocking, &p.Attempts, &p.due, &p.Reason, &p.held}
}

// At returns the row as the seam has it; now is the database's clock.
func (p *ParkedRow) At(now int64) store.Park {
	p.Hash, p.Topic = uint64(p.hash), p.held.String
	if p.State == store.Waiting {
		p.Delay = Until(p.due, now)
	}
	return p.Park
}

// Until returns how long it is until at, by the database's clock; zero if it is
// over. Both are microseconds since 1970.
func Until(at, now int64) time.Duration { return max(0, time.Duration(at-now)*time.Microsecond) }

// Wait returns a due time as a duration from now; negative: none.
func Wait(at sql.NullInt64, now int64) time.Duration {
	if !at.Valid {
		return -1
	}
	return Until(at.Int64, now)
}

// Placed is a row of the log without its bytes. ID is good until the next row.
type Placed struct {
	Seq, At int64
	ID      sql.RawBytes
	Slot    int

	key, shardKey string
}

// Places calls each with some rows of a range of a box's log, in order.
func (d *Dialect) Places(query Querier, box string, after, to int64, limit int, each func(*Placed) error) error {
	var row Placed
	text, dest := d.In(box, SQLPlaces), []any{&row.Seq, &row.ID, &row.At, &row.key, &row.shardKey}
	if d.Slots != "" {
		text, dest = d.In(box, d.Slots), []any{&row.Seq, &row.ID, &row.At, &row.Slot}
	}
	return query(text, []any{after, to, limit}, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := wholeID(row.Seq, row.ID); err != nil {
			return err
		}
		if d.Slots == "" {
			row.Slot, _ = storekit.Place(row.ID, row.key, row.shardKey)
		}
		return each(&row)
	})
}
