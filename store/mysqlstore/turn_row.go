package mysqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

// tombstoneSlot is the slot of a row that is no message.
const tombstoneSlot = 65535

// arena keeps the bytes of a page's payloads together.
type arena struct{ free []byte }

// arenaBytes is the size of a piece of an arena.
const arenaBytes = 64 << 10

// keep copies b. A large one gets a piece of its own.
func (a *arena) keep(b []byte) []byte {
	if len(b) > arenaBytes/4 {
		return append([]byte(nil), b...)
	}
	if len(b) > len(a.free) {
		a.free = make([]byte, arenaBytes)
	}
	out := a.free[:len(b):len(b)]
	copy(out, b)
	a.free = a.free[len(b):]
	return out
}

// takeStatus takes the one row of sqlStatus, or of sqlTurnStatus.
func (w *reading) takeStatus(rows driver.Rows) error {
	var ready sql.NullInt64
	dest := append(w.seen.dest(), &w.swept, &w.there.row, &w.there.witnessed)
	if w.recentStatus == nil {
		dest = append(dest, &w.last, &ready, &w.commands)
	} else {
		w.last, ready = max(w.recentStatus.last, w.from.high), w.recentStatus.ready
	}
	values := make([]driver.Value, len(dest))
	if err := rows.Next(values); errors.Is(err, io.EOF) {
		return fmt.Errorf("the schema is half made: %w", store.ErrSchema)
	} else if err != nil {
		return err
	}
	for i := range dest {
		if err := assign(dest[i], values[i]); err != nil {
			return err
		}
	}
	w.ready = ready
	if err := rows.Next(values); !errors.Is(err, io.EOF) {
		return errors.Join(err, errors.New("the status has several rows"))
	}
	return nil
}

// assign is what Scan of database/sql does, for the few types of a status.
func assign(dest any, v driver.Value) error {
	var err error
	switch dest := dest.(type) {
	case *int64:
		*dest, err = number(v)
	case *bool:
		var n int64
		n, err = number(v)
		*dest = n != 0
	case *string:
		b, _ := v.([]byte)
		*dest = string(b)
	case *sql.NullInt64:
		if v != nil {
			dest.Valid = true
			dest.Int64, err = number(v)
		}
	}
	return err
}

func number(v driver.Value) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case uint64:
		return int64(v), nil
	case []byte:
		return strconv.ParseInt(string(v), 10, 64)
	}
	return 0, fmt.Errorf("a column of numbers holds a %T", v)
}

// taken are rows of the log as a read has taken them.
type taken struct {
	rows    []rowRef
	records []store.Record
	odd     []int // records that are still to be read, column by column
}

// rowRef is a row: its seq, and whether it has a record, the next in order. One
// that has none is a tombstone or of other slots.
type rowRef struct {
	seq    int64
	size   int // of all that came of it, in bytes
	mark   uint32
	wanted bool
}

// takeRows takes rows until the budget of bytes is used up: it then says that the
// result was cut.
func (w *reading) takeRows(rows driver.Rows, most int) (out taken, cut bool, err error) {
	values := make([]driver.Value, len(rows.Columns()))
	size := 0
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			w.learn(size, len(out.records))
			return out, false, nil
		}
		if err != nil {
			return out, false, err
		}
		seq, err := number(values[0])
		if err != nil {
			return out, false, err
		}
		if out.rows == nil {
			n := min(most, w.request.Limit+64)
			out.rows, out.records = make([]rowRef, 0, n), make([]store.Record, 0, n)
		}
		packed, _ := values[1].([]byte)
		payload, _ := values[2].([]byte)
		out.records = append(out.records, store.Record{Seq: seq})
		row := rowRef{seq: seq, size: len(packed) + len(payload)}
		var whole bool
		if row.wanted, row.mark, whole = w.unpack(&out.records[len(out.records)-1], packed, payload, values[2] == nil); !whole {
			out.odd = append(out.odd, len(out.records)-1)
		}
		if out.rows = append(out.rows, row); !row.wanted {
			out.records = out.records[:len(out.records)-1]
		}
		size += row.size
		if size >= w.request.Bytes && len(out.rows) < most {
			w.learn(size, len(out.records))
			return out, true, nil
		}
	}
}

// learn moves the average size of a box's messages on.
func (w *reading) learn(bytes, rows int) {
	if rows == 0 {
		return
	}
	now := int64(bytes/rows) + 1
	if old := w.s.average.Of(w.about.Box); old > 0 {
		now = (3*old + now) / 4
	}
	w.s.average.Set(w.about.Box, now)
}

// packedFields are those of sqlPacked behind the id: slot, at, topic, key,
// shard_key, type and headers.
const packedFields = 7

// unpack takes one row apart, and says whether it is a message for this reader, and
// what its mark is. A row with a zero byte in a text, which no program writes but
// with its checks off, is not whole. The driver's bytes are good until the next row.
func (w *reading) unpack(rec *store.Record, packed, payload []byte, filtered bool) (wanted bool, mark uint32, whole bool) {
	if len(packed) < len(rec.ID) {
		return true, 0, false
	}
	rec.ID = postbag.ID(packed[:len(rec.ID)])
	if rest := packed[len(rec.ID):]; bytes.IndexByte(rest, 0) < 0 { // of other slots
		at, _ := strconv.ParseInt(string(rest), 10, 64)
		return false, markOf(rec.ID[:], at), true
	}
	text := w.texts.keep(packed[len(rec.ID):])
	var field [packedFields]string
	for i := range packedFields - 1 {
		field[i], text, _ = strings.Cut(text, "\x00")
	}
	field[packedFields-1] = text
	at, _ := strconv.ParseInt(field[1], 10, 64)
	rec.Slot, _ = strconv.Atoi(field[0])
	if mark = markOf(rec.ID[:], at); rec.Slot == tombstoneSlot {
		return false, mark, true
	}
	rec.Hash, rec.Filtered = store.KeyHash(field[3]), filtered
	if strings.IndexByte(field[packedFields-1], 0) >= 0 {
		return true, mark, false
	}
	if filtered {
		return true, mark, true
	}
	rec.At = sqlkit.TimeOf(at)
	rec.Topic, rec.Key, rec.ShardKey, rec.Type = field[2], field[3], storekit.ShownShardKey(field[4]), field[5]
	sqlkit.Inspect(rec, field[packedFields-1])
	if w.about.filter.Judge(rec); !rec.Filtered {
		rec.Payload = w.arena.keep(payload)
	}
	return true, mark, true
}

// readOdd reads the rows that could not be taken apart.
func (w *reading) readOdd(ctx context.Context, rows taken) error {
	for _, i := range rows.odd {
		was := rows.records[i]
		r, _, err := dialect.One(w.s.query(ctx), w.about.Box, was.Seq)
		if err != nil {
			return err
		}
		r.ID, r.Slot = was.ID, was.Slot
		if rows.records[i] = r; was.Filtered {
			rows.records[i] = store.Record{Message: postbag.Message{ID: was.ID}, Seq: was.Seq, Slot: was.Slot, Hash: r.Hash, Filtered: true}
		}
		w.about.filter.Judge(&rows.records[i])
	}
	return nil
}

// texts keeps the text of a page together.
type texts struct{ piece *strings.Builder }

// keep returns b as a string. A large one gets memory of its own.
func (t *texts) keep(b []byte) string {
	if len(b) > arenaBytes/4 {
		return string(b)
	}
	if t.piece == nil || t.piece.Cap()-t.piece.Len() < len(b) {
		t.piece = new(strings.Builder)
		t.piece.Grow(arenaBytes)
	}
	begin := t.piece.Len()
	t.piece.Write(b)
	return t.piece.String()[begin:]
}
