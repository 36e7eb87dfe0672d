package pgstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Append implements postbag.Appender.
func (s *Store) Append(ctx context.Context, tx pgx.Tx, box string, msgs []postbag.Message) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	commands, err := appendCommands(s.statements, box, msgs)
	if err != nil {
		return err
	}
	for _, q := range commands {
		if _, err := s.send(ctx, tx, q); err != nil {
			return appendError(box, err)
		}
	}
	return nil
}

// send sends a command in the mode that tx has, but not prepared once a pooler was noticed on whose sessions that does not
// last. The transaction in which that is noticed has failed; the next ones go through.
func (s *Store) send(ctx context.Context, tx pgx.Tx, q command) (pgconn.CommandTag, error) {
	tag, err := tx.Exec(ctx, q.sql, s.arguments(tx, q)...)
	if err != nil {
		s.withoutPrepared(err)
	}
	return tag, err
}

// arguments returns those of a command, with the mode that it is sent in.
func (s *Store) arguments(tx pgx.Tx, q command) []any {
	if s.unprepared.Load() && tx.Conn().Config().DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		return append([]any{pgx.QueryExecModeExec}, q.args...)
	}
	return q.args
}

// Lock implements postbag.Appender. The locks are advisory ones of the
// transaction, which every pooler keeps where they belong.
func (s *Store) Lock(ctx context.Context, tx pgx.Tx, box string, keys []string) error {
	if tx == nil {
		return postbag.ErrNoTx
	}
	q := lockCommand(s.statements, box, keys)
	_, err := s.send(ctx, tx, q)
	return translateError("lock keys of "+box, err)
}

// Cancel implements postbag.Appender.
func (s *Store) Cancel(ctx context.Context, tx pgx.Tx, box string, id postbag.ID) (bool, error) {
	if tx == nil {
		return false, postbag.ErrNoTx
	}
	q, err := cancelCommand(s.statements, box, id)
	if err != nil {
		return false, err
	}
	tag, err := s.send(ctx, tx, q)
	return tag.RowsAffected() > 0, appendError(box, err)
}

// command is a statement with texts and bytes for parameters, which every driver
// and every pooler can send.
type command struct {
	sql  string
	args []any
}

// appendError names a missing box for what it is.
func appendError(box string, err error) error {
	if code := sqlState(err); code == codeNoTable || code == codeNoSchema {
		return fmt.Errorf("pgstore: append to %q: %w", box, store.ErrNoBox)
	}
	if withoutID(err) {
		return encodingFault("append to " + box)
	}
	return translateError("append to "+box, err)
}

// withoutID says that a statement had no id to write, see query/append.sql. Drivers but pgx have the message alone.
func withoutID(err error) bool {
	if sqlState(err) != codeNotNull {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.ColumnName == "id"
	}
	return strings.Contains(err.Error(), `"id"`)
}

func encodingFault(doing string) error {
	return &fault{
		doing: doing, said: "the session's client_encoding is not UTF8, and texts would arrive as others",
		fix: "give the DSN client_encoding=UTF8, or ALTER ROLE ... RESET client_encoding",
	}
}

// maxLot is how many bytes of payload one statement carries. The server takes no
// parameter of a gigabyte.
const maxLot = 256 << 20

// appendCommands returns what writes msgs: one statement, unless their payloads
// are too large for one.
func appendCommands(c *statementSet, box string, msgs []postbag.Message) ([]command, error) {
	if err := postbag.ValidBox(box); err != nil {
		return nil, fmt.Errorf("pgstore: append to %q: %w: %w", box, store.ErrNoBox, err)
	}
	later := slices.ContainsFunc(msgs, func(m postbag.Message) bool { return !m.NotBefore.IsZero() })
	if len(msgs) == 1 && !later {
		q, err := appendOne(c, box, &msgs[0])
		return []command{q}, err
	}
	var out []command
	for i := 0; i < len(msgs); {
		w := lists{}
		for first := i; i < len(msgs) && (i == first || len(w.payload)+len(msgs[i].Payload) <= maxLot); i++ {
			if err := w.add(box, &msgs[i]); err != nil {
				return nil, fmt.Errorf("pgstore: append to %q: message %d: headers cannot be encoded; use valid UTF-8: %w", box, i, err)
			}
		}
		out = append(out, w.command(c, box, later))
	}
	return out, nil
}

func appendOne(c *statementSet, box string, m *postbag.Message) (command, error) {
	headers, err := storekit.HeadersText(m.Headers)
	if err != nil {
		return command{}, fmt.Errorf("pgstore: append to %q: headers cannot be encoded; use valid UTF-8: %w", box, err)
	}
	payload := m.Payload
	if payload == nil {
		payload = []byte{}
	}
	return command{c.get("append_one", box).sql, []any{
		m.ID.String(), strconv.Itoa(store.SlotOf(m) + 1), cmp.Or(m.Topic, box), m.Key, m.ShardKey, m.Type, headers, payload,
	}}, nil
}

// lists are the columns of several messages.
type lists struct {
	ids, places, topics, keys, shardKeys, types, headers, begins, sizes, dues list
	payload                                                                   []byte
}

func (w *lists) command(c *statementSet, box string, later bool) command {
	name := "append_many"
	args := []any{
		w.ids.close(), w.places.close(), w.topics.close(), w.keys.close(), w.shardKeys.close(), w.types.close(), w.headers.close(),
		w.begins.close(), w.sizes.close(), w.payload,
	}
	if w.payload == nil {
		args[len(args)-1] = []byte{}
	}
	if later {
		name = "append_scheduled"
		args = append(args, w.dues.close())
	}
	return command{c.get(name, box).sql, args}
}

func (w *lists) add(box string, m *postbag.Message) error {
	headers, err := storekit.HeadersText(m.Headers)
	if err != nil {
		return err
	}
	w.ids.plain(m.ID.String())
	w.places.number(int64(store.SlotOf(m) + 1))
	w.topics.quoted(cmp.Or(m.Topic, box))
	w.keys.quoted(m.Key)
	w.shardKeys.quoted(m.ShardKey)
	w.types.quoted(m.Type)
	w.headers.quoted(headers)
	w.begins.number(int64(len(w.payload) + 1))
	w.sizes.number(int64(len(m.Payload)))
	w.payload = append(w.payload, m.Payload...)
	due := int64(0)
	if !m.NotBefore.IsZero() {
		due = max(m.NotBefore.UnixMicro(), 1)
	}
	w.dues.number(due)
	return nil
}

// list is the text of an array (PostgreSQL manual, section 8.15.6).
type list struct{ b []byte }

func (l *list) next() {
	if len(l.b) == 0 {
		l.b = append(l.b, '{')
		return
	}
	l.b = append(l.b, ',')
}

func (l *list) plain(s string) {
	l.next()
	l.b = append(l.b, s...)
}

func (l *list) number(n int64) {
	l.next()
	l.b = strconv.AppendInt(l.b, n, 10)
}

func (l *list) quoted(s string) {
	l.next()
	l.b = append(l.b, '"')
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			break
		}
		l.b = append(append(l.b, s[:i]...), '\\', s[i])
		s = s[i+1:]
	}
	l.b = append(append(l.b, s...), '"')
}

func (l *list) bytes(b []byte) {
	l.next()
	l.b = hex.AppendEncode(append(l.b, `\\x`...), b)
}

func (l *list) close() string { return string(append(l.b, '}')) }

// lockCommand takes the locks in the order of their numbers, which is the same
// for everybody.
func lockCommand(c *statementSet, box string, keys []string) command {
	hashes := make([]int64, len(keys))
	for i, key := range keys {
		sum := sha256.Sum256([]byte("postbag\x00" + box + "\x00" + key))
		hashes[i] = int64(binary.BigEndian.Uint64(sum[:]))
	}
	slices.SortFunc(hashes, cmp.Compare[int64])
	var l list
	for _, h := range slices.Compact(hashes) {
		l.number(h)
	}
	if len(keys) == 0 {
		l.b = append(l.b, '{')
	}
	return command{c.get("lock_keys", "").sql, []any{l.close()}}
}

func cancelCommand(c *statementSet, box string, id postbag.ID) (command, error) {
	if err := postbag.ValidBox(box); err != nil {
		return command{}, fmt.Errorf("pgstore: cancel in %q: %w: %w", box, store.ErrNoBox, err)
	}
	return command{c.get("cancel", box).sql, []any{id.String()}}, nil
}
