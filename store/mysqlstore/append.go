package mysqlstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// producer writes messages in an application's transactions: what Store and DB
// share. Its statements hold their values themselves, as hexadecimal literals.
// That is one round trip with every driver's settings (with placeholders,
// go-sql-driver makes two, or three, unless interpolateParams is set), is the same
// under every sql_mode and character set, and cannot be misread by wrappers that
// rewrite placeholders. It costs twice the bytes on the wire.
type producer struct {
	// packet is the server's max_allowed_packet.
	packet atomic.Int64
	// ahead is how many microseconds the database's clock is ahead of this
	// process's.
	ahead atomic.Int64
	// comments follow its statements.
	comments storekit.Comments
	rules    rules
}

// clock notes what time it was by the database when it was local here.
func (p *producer) clock(micros int64, local time.Time) { p.ahead.Store(micros - local.UnixMicro()) }

// now returns the database's time, as far as is known.
func (p *producer) now() int64 { return time.Now().UnixMicro() + p.ahead.Load() }

// Bounds of a statement, in bytes: the most whatever the server takes, which is
// a little less than drivers do by default, and what is kept free of it.
const (
	largestStatement = 60 << 20
	statementRoom    = 1 << 10
	largestHeaders   = 1<<20 + 8<<10
)

func (p *producer) statement() int {
	return int(min(p.packet.Load()-statementRoom, largestStatement)) - len(p.comments.Publisher)
}

// most is the largest payload that fits with whatever else a message may have.
func (p *producer) most() int {
	all := p.statement()
	return max(all/2-largestHeaders, all/4)
}

// append writes msgs to box in tx.
func (p *producer) append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	doing := "append to box " + box
	if tx == nil {
		return postbag.ErrNoTx
	}
	if err := postbag.ValidBox(box); err != nil {
		return translateError(doing, store.ErrNoBox)
	}
	if err := p.fit(ctx, tx, box, msgs); err != nil {
		return translateError(doing, err)
	}
	now := p.now()
	texts, err := p.texts(box, now, msgs)
	if err != nil {
		return translateError(doing, err)
	}
	for _, text := range texts {
		if err := insert(ctx, tx, text+p.comments.Publisher); err != nil {
			return translateError(doing, err)
		}
	}
	return nil
}

// repeats is how often a statement is repeated that was given a seq under which
// there is a tombstone.
const repeats = 100

// insert runs a statement. One that met a tombstone has written nothing, and
// leaves the transaction as it was: again, it is given other seqs.
func insert(ctx context.Context, tx postbag.SQLTx, text string) error {
	for n := 0; ; n++ {
		if _, err := tx.ExecContext(ctx, text); codeOf(err) != codeDuplicate || n >= repeats {
			return err
		}
	}
}

// texts makes the statements for msgs: one for the log and one for the schedule,
// or more where the server would not take them so large.
func (p *producer) texts(box string, now int64, msgs []postbag.Message) ([]string, error) {
	log := inserting{most: p.statement(), head: fmt.Sprintf(sqlAppend, tableOf(box)), between: ", ", open: "(", end: ")"}
	later := inserting{most: p.statement(), between: " UNION ALL ", open: "SELECT ", names: true, wrap: func(rows string) string {
		return fmt.Sprintf(sqlSchedule, rows, box, tableOf(box))
	}}
	for i := range msgs {
		m := &msgs[i]
		headers, err := storekit.HeadersText(m.Headers)
		if err != nil {
			return nil, err
		}
		into, prefix := &log, ""
		if due := m.NotBefore.UnixMicro(); !m.NotBefore.IsZero() && due > now {
			into, prefix = &later, fmt.Sprintf("%d, %d, ", due, now)
			if len(later.text) == 0 {
				prefix = fmt.Sprintf("%d AS due, %d AS at, ", due, now)
			}
		}
		if !into.add(box, m, headers, prefix) {
			return nil, &postbag.MessageError{
				Index: i, Field: "Payload", Reason: fmt.Sprintf("holds %d bytes: %v", len(m.Payload), errTooLarge),
				Got: len(m.Payload), Allowed: p.most(), Err: errTooLarge,
			}
		}
	}
	return append(log.done(), later.done()...), nil
}

// inserting makes INSERTs of rows.
type inserting struct {
	most                     int
	head, open, end, between string
	// names gives the columns of the first row their names.
	names bool
	wrap  func(rows string) string
	text  []byte
	made  []string
}

// add adds a row. One that would make the statement too large begins another. False: no
// statement may be so large.
func (w *inserting) add(box string, m *postbag.Message, headers, prefix string) bool {
	size := 2*(len(m.Topic)+len(box)+len(m.Key)+len(m.ShardKey)+len(m.Type)+len(headers)+len(m.Payload)) + 256
	if size > w.most {
		return false
	}
	switch {
	case len(w.text) == 0:
	case len(w.text)+size > w.most:
		w.cut()
	default:
		w.text = append(w.text, w.between...)
	}
	named := w.names && len(w.text) == 0
	w.text = slices.Grow(w.text, size)
	w.text = append(append(w.text, w.open...), prefix...)
	topic := m.Topic
	if topic == "" {
		topic = box
	}
	w.column(m.ID[:], named, " AS id, ")
	w.column([]byte(topic), named, " AS topic, ")
	w.column([]byte(m.Key), named, " AS k, ")
	w.column([]byte(m.ShardKey), named, " AS shard_key, ")
	w.column([]byte(m.Type), named, " AS type, ")
	if headers == "" {
		w.text = append(w.text, "NULL"...)
		w.name(named, " AS headers, ")
	} else {
		w.column([]byte(headers), named, " AS headers, ")
	}
	w.column(m.Payload, named, " AS payload")
	w.text = append(w.text, w.end...)
	return true
}

// column appends a literal of bytes and, where columns are named, its name.
func (w *inserting) column(b []byte, named bool, name string) {
	w.text = literal(w.text, b)
	w.name(named, name)
}

// name appends a name, or of it the comma alone.
func (w *inserting) name(named bool, name string) {
	switch {
	case named:
		w.text = append(w.text, name...)
	case strings.HasSuffix(name, ", "):
		w.text = append(w.text, ", "...)
	}
}

// literal appends a literal of bytes.
func literal(text, b []byte) []byte {
	if len(b) == 0 {
		return append(text, "''"...)
	}
	return hex.AppendEncode(append(text, "0x"...), b)
}

func (w *inserting) cut() {
	if len(w.text) > 0 {
		w.made = append(w.made, string(w.text))
		w.text = w.text[:0]
	}
}

// done returns the statements.
func (w *inserting) done() []string {
	w.cut()
	for i, rows := range w.made {
		if w.made[i] = w.head + rows; w.wrap != nil {
			w.made[i] = w.wrap(rows)
		}
	}
	return w.made
}

// locks is how many rows postbag__lock has.
const locks = 4096

// lock locks keys of a box until tx ends: their rows in the table of locks. Two
// keys may share a row, which makes one wait for the other, no more.
func (p *producer) lock(ctx context.Context, tx postbag.SQLTx, box string, keys []string) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	rows := make([]int64, len(keys))
	for i, key := range keys {
		rows[i] = int64(store.KeyHash(box+"\x00"+key) % locks)
	}
	slices.Sort(rows)
	_, err := tx.ExecContext(ctx, fmt.Sprintf(sqlLockKeys, list(slices.Compact(rows)))+p.comments.Publisher)
	return translateError("lock keys of box "+box, err)
}

// cancel removes a scheduled message that is not yet due.
func (p *producer) cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	doing := "cancel in box " + box
	if tx == nil {
		return false, postbag.ErrNoTx
	}
	if err := postbag.ValidBox(box); err != nil {
		return false, translateError(doing, store.ErrNoBox)
	}
	result, err := tx.ExecContext(ctx, fmt.Sprintf(sqlCancel, box, id[:])+p.comments.Publisher)
	if code := codeOf(err); code == codeNoRoutine || code == codeRoutineDenied {
		result, err = tx.ExecContext(ctx, fmt.Sprintf(sqlCancelPlain, box, id[:], p.now())+p.comments.Publisher)
	}
	if err != nil {
		return false, translateError(doing, err)
	}
	gone, err := result.RowsAffected()
	return gone > 0, translateError(doing, err)
}
