package sqlitestore

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// recordRow is a row of the log; pageRow is how it is scanned.
type recordRow struct {
	seq, at    int64
	id         bytesValue
	topic, key string
	shardKey   string
	typ        string
	headers    sql.NullString
	payload    bytesValue
	wanted     bool
}

// bytesValue takes a column's bytes as they come: modernc.org/sqlite makes them
// anew for each row, so that a copy would be one too many.
type bytesValue []byte

// Scan implements [sql.Scanner].
func (b *bytesValue) Scan(v any) error {
	switch v := v.(type) {
	case []byte:
		*b = v
	case string:
		*b = []byte(v)
	case nil:
		*b = nil
	default:
		return fmt.Errorf("a column of bytes holds a %T", v)
	}
	return nil
}

var errDamaged = sqlstore.ErrDamaged

// place returns the slot and the key hash of the row.
func (r *recordRow) place() (slot int, hash uint64, err error) {
	if len(r.id) != len(postbag.ID{}) {
		return 0, 0, fmt.Errorf("seq %d: the id has %d bytes: %w", r.seq, len(r.id), errDamaged)
	}
	slot, hash = storekit.Place(r.id, r.key, r.shardKey)
	return slot, hash, nil
}

// record returns the row as the seam has it. One that a filter refused has its
// place and its id, and nothing else.
func (r *recordRow) record(slot int, hash uint64) (store.Record, error) {
	rec := store.Record{Seq: r.seq, Slot: slot, Hash: hash, At: time.UnixMicro(r.at).UTC(), Filtered: !r.wanted}
	rec.ID = postbag.ID(r.id)
	if !r.wanted {
		return rec, nil
	}
	rec.Topic, rec.Key, rec.Type, rec.Payload = r.topic, r.key, r.typ, r.payload
	rec.ShardKey = storekit.ShownShardKey(r.shardKey)
	var err error
	if r.headers.Valid {
		rec.Headers, err = storekit.ParseHeaders(r.headers.String)
	}
	if err != nil {
		return rec, fmt.Errorf("seq %d: headers: %w", r.seq, errDamaged)
	}
	return rec, nil
}
