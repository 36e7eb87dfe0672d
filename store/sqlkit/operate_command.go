package sqlkit

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Command queues a command for messages; see [store.Operator].
func (s *Base) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	name, err := storekit.CommandName(kind)
	if err != nil {
		return 0, s.dialect.Translate("command", err)
	}
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	queued := 0
	err = s.order(ctx, a, name, r, func(t *Tx, id int64) (string, error) {
		o := ordering{t: t, ref: r, id: id, kind: kind}
		err := o.queue(seqs)
		if queued = len(o.queued); err != nil || queued == 0 {
			return "", err
		}
		names, err := t.names(r.Box, o.queued)
		return fmt.Sprintf("%s %s %s", name, r, names), err
	})
	if err != nil {
		return 0, err
	}
	s.hooks.Wake(r.Box)
	return queued, nil
}

// ordering is one Command at work.
type ordering struct {
	t      *Tx
	ref    store.Ref
	id     int64
	kind   store.CommandKind
	queued []int64

	reader *listed // once a message was asked for that is not parked
}

// queue queues the command for those that can have it.
func (o *ordering) queue(seqs []int64) error {
	pending := 0
	for _, seq := range seqs {
		n, err := o.t.Exec(o.t.Command, int(o.kind), o.id, seq)
		if err != nil {
			return err
		}
		if n == 0 && o.kind == store.Discard {
			if n, err = o.pending(seq); err != nil {
				return err
			}
			pending += int(n)
		}
		if pending > store.MaxPendingCommands {
			return store.ErrTooManyCommands
		}
		if n > 0 {
			o.queued = append(o.queued, seq)
		}
	}
	if pending == 0 {
		return nil
	}
	var waiting int64
	if _, err := o.t.Row(o.t.CountPending, []any{o.id}, &waiting); err != nil {
		return err
	}
	if waiting > store.MaxPendingCommands {
		return store.ErrTooManyCommands
	}
	return nil
}

// pending queues the command for a message that is not parked, if it is still to be
// delivered, and says whether it did.
func (o *ordering) pending(seq int64) (int64, error) {
	if err := o.find(); err != nil {
		return 0, err
	}
	row, there, err := o.t.place(o.ref.Box, seq)
	if err != nil || !there {
		return 0, err
	}
	slot, _ := row.place()
	if o.reader.unreadable() || o.reader.Passed(seq, slot) { // nobody knows whether it takes the message
		return 0, nil
	}
	if o.reader.filter.AsksHeaders() {
		text := o.t.In(o.ref.Box, sqlLetter)
		if _, err := o.t.Row(text, []any{seq}, append(row.listDest(), &row.headers)...); err != nil {
			return 0, err
		}
	}
	if record := row.record(); !o.reader.filter.Take(&record) {
		return 0, nil
	}
	return o.t.Exec(o.t.CommandPending, o.id, seq, int(o.kind), o.id, seq)
}

// find reads where the subscription is.
func (o *ordering) find() error {
	if o.reader != nil {
		return nil
	}
	readers, err := o.t.Readers(o.t.Query, o.ref.Box)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(readers, func(r Reader) bool { return r.ID == o.id })
	if i < 0 {
		return store.ErrNoSubscription
	}
	o.reader, err = newListed(o.t, &readers[i])
	return err
}

// place returns a row of the log without its bytes.
func (t *Tx) place(box string, seq int64) (row logRow, there bool, err error) {
	there, err = t.Row(t.In(box, SQLListUp), []any{seq, seq, 1}, row.listDest()...)
	return row, there, err
}

// namedMost is how many messages an entry of the audit log names.
const namedMost = 20

// names is how the audit log calls messages: by seq, topic and id, the first of them.
func (t *Tx) names(box string, seqs []int64) (string, error) {
	out := make([]string, 0, namedMost)
	for _, seq := range seqs[:min(len(seqs), namedMost)] {
		row, there, err := t.place(box, seq)
		if err != nil {
			return "", err
		}
		if !there || len(row.id) != len(postbag.ID{}) {
			out = append(out, strconv.FormatInt(seq, 10))
			continue
		}
		out = append(out, fmt.Sprintf("%d (%s, %s)", seq, row.topic, idOf(row.id)))
	}
	text := strings.Join(out, " ")
	if more := len(seqs) - len(out); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text, nil
}

// maxCommands is the most commands about parked messages that a Turn brings.
const maxCommands = 1000

// AppendCommands appends the commands that wait for some slots of a subscription: all
// that are about messages that are not parked, and the oldest of the others. It closes a
// command about a message that the subscription has passed, or that is gone. now is the
// database's clock.
//
// It reads the positions of the shards first. A message that was passed then, and is not
// parked after that, is settled.
func (s *Base) AppendCommands(ctx context.Context, all []store.Command, r store.Ref, id int64, slots storekit.SlotSet, now int64,
) ([]store.Command, error) {
	query := s.hooks.Query(ctx)
	shards, err := s.dialect.readerOf(query, r)
	if err != nil {
		return all, err
	}
	var over []Order
	all, over, err = s.dialect.pendingCommands(query, all, r, id, slots, shards, now)
	if err == nil {
		all, err = s.dialect.parkedCommands(query, all, r, id, slots, now)
	}
	if err != nil || len(over) == 0 {
		return all, err
	}
	return all, s.hooks.Write(ctx, "close commands of "+r.String(), func(t *Tx) error {
		_, err := t.All(over)
		return err
	})
}

// readerOf returns where a subscription is, without its scan.
func (d *Dialect) readerOf(query Querier, r store.Ref) (*Reader, error) {
	out := &Reader{Ref: r}
	err := query(sqlShards, []any{r.Box, r.Subscription}, func(rows *sql.Rows) error {
		var h store.ShardState
		var position []byte
		err := rows.Scan(&out.ID, new(int), new(bool), new([]byte), new([]byte), new(string), new([]byte), &h.Lo, &h.Hi, &h.Owner, &h.Token, &h.Version, &position)
		if err != nil {
			return err
		}
		at, err := d.Position(store.Position(position))
		out.Shards = append(out.Shards, Standing{Slots: h.Slots, At: at})
		return err
	})
	return out, err
}

// pendingCommands appends the commands about messages that were not parked when they
// were given, and returns what closes those that are over.
func (d *Dialect) pendingCommands(query Querier, all []store.Command, r store.Ref, id int64, slots storekit.SlotSet, at *Reader, now int64,
) ([]store.Command, []Order, error) {
	var over []Order
	err := query(d.In(r.Box, d.Pending), []any{id}, func(rows *sql.Rows) error {
		c := store.Command{Ref: r}
		var p ParkedRow
		var message []byte
		var key, shardKey string
		var rule int
		if err := rows.Scan(append([]any{&c.ID, &c.Kind, &p.Seq}, append(p.Dest(), &message, &key, &shardKey, &c.Topic, &rule)...)...); err != nil {
			return err
		}
		there := len(message) == len(c.Message)
		switch {
		case there && p.State != 0:
			c.Park = p.At(now)
		case there:
			c.Park = store.Park{Seq: p.Seq}
			c.Park.Slot, c.Park.Hash = storekit.Place(storekit.RuleOf(rule), message, key, shardKey)
		}
		if !there || c.Park.State == 0 && at.Passed(p.Seq, c.Park.Slot) {
			over = append(over, Order{Text: SQLDone, Args: []any{int64(c.ID), id, int(c.Kind), p.Seq}})
			return nil
		}
		if slots.Contains(c.Park.Slot) {
			c.Message = idOf(message)
			all = append(all, c)
		}
		return nil
	})
	return all, over, err
}

// parkedCommands appends the oldest commands about messages that were parked when they
// were given.
func (d *Dialect) parkedCommands(query Querier, all []store.Command, r store.Ref, id int64, slots storekit.SlotSet, now int64,
) ([]store.Command, error) {
	found := 0
	err := query(d.In(r.Box, d.Commands), []any{id}, func(rows *sql.Rows) error {
		if found >= maxCommands {
			return ErrEnough
		}
		c := store.Command{Ref: r}
		var p ParkedRow
		var message []byte
		if err := rows.Scan(append([]any{&c.ID, &c.Kind, &p.Seq}, append(p.Dest(), &message, &c.Topic)...)...); err != nil {
			return err
		}
		if !slots.Contains(p.Slot) || len(message) != len(c.Message) {
			return nil
		}
		c.Park, c.Message = p.At(now), idOf(message)
		all = append(all, c)
		found++
		return nil
	})
	return all, err
}
