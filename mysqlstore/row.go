package mysqlstore

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// tombstoneSlot is the slot of a row that is no message.
const tombstoneSlot = 65535

// logRow is a row of the log: the columns of sqlPage.
type logRow struct {
	seq, at             int64
	slot                int
	id                  []byte
	topic, key          string
	shardKey, typ, head string
	payload             []byte
	// refused is why it comes without its bytes: it is of other slots, or filtered.
	foreign, filtered bool
}

// wanted says whether the row is a message for this reader.
func (r *logRow) wanted() bool { return !r.foreign && r.slot != tombstoneSlot }

// record returns the row as the seam has it. One that a filter refused has its
// place and its id, and nothing else.
func (r *logRow) record() (store.Record, error) {
	rec := store.Record{Seq: r.seq, Slot: r.slot, Hash: store.KeyHash(r.key), Filtered: r.filtered}
	if len(r.id) != len(rec.ID) {
		return rec, fmt.Errorf("seq %d: the id has %d bytes: %w", r.seq, len(r.id), errDamaged)
	}
	rec.ID = postbag.ID(r.id)
	if r.filtered {
		return rec, nil
	}
	rec.At = time.UnixMicro(r.at).UTC()
	rec.Topic, rec.Key, rec.ShardKey, rec.Type, rec.Payload = r.topic, r.key, r.shardKey, r.typ, r.payload
	if r.head == "" {
		return rec, nil
	}
	var err error
	if rec.Headers, err = storekit.ParseHeaders(r.head); err != nil {
		return rec, fmt.Errorf("seq %d: headers: %w", r.seq, errDamaged)
	}
	return rec, nil
}

// dest is where to scan the columns through database/sql.
func (r *logRow) dest() []any {
	return append(r.listDest(), (*text)(&r.head), &r.payload)
}

// listDest is where to scan a row without headers and payload.
func (r *logRow) listDest() []any {
	return []any{&r.seq, &r.slot, &r.id, &r.at, &r.topic, &r.key, &r.shardKey, &r.typ}
}

// text is a column of text that may be null.
type text string

// Scan implements [sql.Scanner].
func (t *text) Scan(v any) error {
	var s sql.NullString
	err := s.Scan(v)
	*t = text(s.String)
	return err
}

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

// takeStatus takes the one row of sqlStatus.
func (w *reading) takeStatus(rows driver.Rows) error {
	var ready sql.NullInt64
	dest := append(w.seen.dest(), &w.swept, &w.last, &ready, &w.commands)
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

// takeRows takes rows until the budget of bytes is used up: it then says that the
// result was cut.
func (w *reading) takeRows(rows driver.Rows, most int) (out []logRow, cut bool, err error) {
	out = make([]logRow, 0, min(most, 1024))
	values := make([]driver.Value, len(rows.Columns()))
	var words words
	wanted, bytes := 0, 0
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			w.learn(bytes, wanted)
			return out, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		out = append(out, logRow{})
		r := &out[len(out)-1]
		if err := w.takeRow(r, values, &words); err != nil {
			return nil, false, err
		}
		if r.wanted() {
			wanted++
			bytes += len(r.payload)
		}
		if bytes >= w.request.Bytes && len(out) < most {
			w.learn(bytes, wanted)
			return out, true, nil
		}
	}
}

// learn moves the average size of a box's payloads on.
func (w *reading) learn(bytes, rows int) {
	if rows == 0 {
		return
	}
	now := int64(bytes/rows) + 1
	if old := w.s.average.of(w.about.Box); old > 0 {
		now = (3*old + now) / 4
	}
	w.s.average.set(w.about.Box, now)
}

// takeRow takes one row. The driver's bytes are good until the next one.
func (w *reading) takeRow(r *logRow, v []driver.Value, words *words) (err error) {
	if r.seq, err = number(v[0]); err != nil {
		return err
	}
	slot, err := number(v[1])
	if err != nil {
		return err
	}
	r.slot = int(slot)
	if len(v) > 10 {
		fate, err := number(v[10])
		if err != nil {
			return err
		}
		r.foreign, r.filtered = fate == 0, fate == 2
	}
	if !r.wanted() {
		return nil
	}
	if r.at, err = number(v[3]); err != nil {
		return err
	}
	column := func(i int) []byte {
		b, _ := v[i].([]byte)
		return b
	}
	r.id = w.arena.keep(column(2))
	r.topic, r.typ = words.of(column(4)), words.of(column(7))
	// One string for what differs from row to row.
	key, shardKey, head := column(5), column(6), column(8)
	all := string(append(append(append(words.scratch[:0], key...), shardKey...), head...))
	r.key, r.shardKey, r.head = all[:len(key)], all[len(key):len(key)+len(shardKey)], all[len(key)+len(shardKey):]
	r.payload = w.arena.keep(column(9))
	return nil
}

// words keeps one copy of strings that come again and again.
type words struct {
	known   map[string]string
	scratch [512]byte
}

// maxWords bounds how many are kept.
const maxWords = 64

func (k *words) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := k.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if k.known == nil {
		k.known = make(map[string]string)
	}
	if len(k.known) < maxWords {
		k.known[s] = s
	}
	return s
}
