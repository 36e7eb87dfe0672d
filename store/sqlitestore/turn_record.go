package sqlitestore

import (
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// recordRow is a row of the log; pageRow is how it is scanned.
type recordRow struct {
	seq        int64
	at         sqlkit.Micros
	id         []byte
	topic, key string
	shardKey   string
	typ        string
	headers    string
	payload    bytesValue
	wanted     bool
}

// bytesValue takes a column's bytes as they come: modernc.org/sqlite makes them
// again for each row, so that a copy would be one too many.
type bytesValue []byte

// Scan implements [sql.Scanner]. A number, which no payload is, becomes its text.
func (b *bytesValue) Scan(v any) error {
	switch v := v.(type) {
	case []byte:
		*b = v
	case string:
		*b = []byte(v)
	case nil:
		*b = nil
	default:
		*b = fmt.Append(nil, v)
	}
	return nil
}

// record returns the row as the seam has it. One that a filter refused has its
// place and its id, and nothing else.
func (r *recordRow) record(slot int, hash uint64) store.Record {
	rec := store.Record{Seq: r.seq, Slot: slot, Hash: hash, At: sqlkit.TimeOf(int64(r.at)), Filtered: !r.wanted}
	rec.ID = postbag.ID(r.id)
	if !r.wanted {
		return rec
	}
	rec.Topic, rec.Key, rec.Type, rec.Payload = r.topic, r.key, r.typ, r.payload
	rec.ShardKey = storekit.ShownShardKey(r.shardKey)
	sqlkit.Inspect(&rec, r.headers)
	return rec
}
