package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// bulk is how a store is filled with many messages.
type bulk struct {
	// rows writes messages $1 to $2, of which the last was stored at $3, in milliseconds since 1970, and 3,000 a second before it.
	rows string
	// before and after are done once.
	before, after []string
}

// Each row is small: an id of version 7 drawn when it was stored, one of eight topics and types, one of a million keys, 14 bytes of
// payload. What PostgreSQL's VACUUM does, autovacuum would do by itself some minutes later.
var (
	bulkPostgres = bulk{
		rows: `INSERT INTO postbag.outbox (at, id, topic, key, type, payload)
SELECT to_timestamp(m.ms / 1000.0), encode(int8send((m.ms << 16) | 28672 | (m.n & 4095)) || int8send((-9223372036854775808) | (hashint8extended(m.n, 1) & 4611686018427387903)), 'hex')::uuid,
  's.' || m.n % 8, 'k' || m.n % 1000000, 'o.' || m.n % 8, convert_to('{"n":' || m.n || '}', 'UTF8')
FROM (SELECT n, $3::bigint - ($2::bigint - n) / 3 AS ms FROM generate_series($1::bigint, $2::bigint) n) m`,
		after: []string{"VACUUM (ANALYZE)", "CHECKPOINT"},
	}
	bulkMariaDB = bulk{
		rows: "INSERT INTO postbag_outbox (seq, at, id, topic, `key`, type, payload) " + `
SELECT m.seq, m.ms * 1000, UNHEX(CONCAT(LPAD(HEX(m.ms), 12, '0'), '7', LPAD(HEX(m.seq & 4095), 3, '0'), HEX(128 + (m.seq & 63)), LPAD(HEX(CRC32(m.seq)), 8, '0'), LPAD(HEX(m.seq & 16777215), 6, '0'))),
  CONCAT('s.', MOD(m.seq, 8)), CONCAT('k', MOD(m.seq, 1000000)), CONCAT('o.', MOD(m.seq, 8)), CONCAT('{"n":', m.seq, '}')
FROM (SELECT seq, %[3]d - (%[2]d - seq) DIV 3 AS ms FROM seq_%[1]d_to_%[2]d) m`,
		before: []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2"},
		after:  []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 1", "ANALYZE TABLE postbag_outbox"},
	}
	bulkSQLite = bulk{
		rows: `WITH RECURSIVE s(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM s WHERE n < ?2), m AS (SELECT n, ?3 - (?2 - n) / 3 AS ms FROM s)
INSERT INTO postbag_outbox (at, id, topic, key, type, payload)
SELECT ms * 1000, unhex(printf('%012x7%03x%02x%014x', ms, n & 4095, 128 + (n & 63), n * 2654435761 & 72057594037927935)),
  's.' || n % 8, 'k' || n % 1000000, 'o.' || n % 8, CAST('{"n":' || n || '}' AS BLOB) FROM m`,
	}
)

// filled is what the note beside a filled store says.
type filled struct {
	Messages int   `json:"messages"` // in bulk
	Done     bool  `json:"done"`     // and delivered, and beside them all else
	Until    int64 `json:"until_ms"` // when the last was stored
}

func (s *shown) filledWith() (f filled) {
	if text, err := os.ReadFile(s.note); err == nil {
		_ = json.Unmarshal(text, &f)
	}
	return f
}

func (s *shown) noteFilled(f filled) error {
	text, err := json.Marshal(f)
	return errors.Join(err, os.WriteFile(s.note, text, 0o644)) //nolint:gosec // for everyone to read
}

// fillPart is how many messages one transaction of a fill writes.
const fillPart = 200_000

// fill has the store hold at least n messages that were delivered, and beside them what needs a look. A fill that was cut off goes
// on where it was.
func (s *shown) fill(ctx context.Context, n int) error {
	f := s.filledWith()
	if f.Done {
		if f.Messages < n {
			return fmt.Errorf("the store of %s is filled with %d messages, and %d are wanted; name another folder with -data, or fewer with -messages", s.note, f.Messages, n)
		}
		return nil
	}
	if f.Until == 0 {
		f.Until = time.Now().UnixMilli()
	}
	if err := s.each(ctx, s.bulk.before); err != nil {
		return err
	}
	begun, at := time.Now(), f.Messages
	for f.Messages < n {
		to := min(f.Messages+fillPart, n)
		if err := s.part(ctx, f.Messages+1, to, f.Until-int64(n-to)/3); err != nil {
			return err
		}
		f.Messages = to
		if err := s.noteFilled(f); err != nil {
			return err
		}
		if to%2_000_000 == 0 || to == n {
			fmt.Printf("  %s: %d messages written, %.0f/s\n", s.kind, to, float64(to-at)/time.Since(begun).Seconds())
		}
	}
	if err := s.deliver(ctx, n); err != nil {
		return err
	}
	if err := s.trouble(ctx); err != nil {
		return err
	}
	if err := s.each(ctx, s.bulk.after); err != nil {
		return err
	}
	f.Done = true
	return s.noteFilled(f)
}

// part writes a part of the messages in a transaction.
func (s *shown) part(ctx context.Context, from, to int, until int64) error {
	if s.kind == "mysql" { // a table of numbers has its bounds in its name
		return s.exec(ctx, fmt.Sprintf(s.bulk.rows, from, to, until))
	}
	return s.exec(ctx, s.bulk.rows, from, to, until)
}

func (s *shown) each(ctx context.Context, texts []string) error {
	for _, text := range texts {
		if err := s.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// shownReaders are the subscriptions of the box. The first has read it from the beginning; the others begin with what comes after.
var shownReaders = []string{"billing", "search", "audit"}

// shownSubscriptions are the subscriptions as relays have them. What fails there is not tried again while anybody looks.
func shownSubscriptions(to broker.Destination, names ...string) (subs []relay.Subscription) {
	for _, name := range names {
		subs = append(subs, relay.Subscription{
			To: to, Box: shownBox, Name: name, From: relay.Start{Now: name != shownReaders[0]},
			Retry: relay.Retry{Pauses: []time.Duration{30 * 24 * time.Hour}}, OnReject: relay.Block,
		})
	}
	return subs
}

// relay begins a relay of subscriptions; stop ends it.
func (s *shown) relay(ctx context.Context, subs []relay.Subscription) (stop func() error, err error) {
	r, err := relay.New(s.store, relay.Options{Subscriptions: subs, Logger: quiet, Keep: keptFor})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() error { cancel(); return <-ended }, nil
}

// deliver has the first subscription deliver what was written, into nothing.
func (s *shown) deliver(ctx context.Context, n int) error {
	begun := time.Now()
	counted := newCounter(n)
	stop, err := s.relay(ctx, shownSubscriptions(counted.before(membroker.Null()), shownReaders[0]))
	if err != nil {
		return err
	}
	if err := s.passed(ctx, shownReaders[:1]); err != nil {
		return errors.Join(err, stop())
	}
	fmt.Printf("  %s: %d messages delivered, %.0f/s\n", s.kind, counted.count(), float64(counted.count())/time.Since(begun).Seconds())
	return stop()
}

// passed waits until subscriptions have nothing left to read.
func (s *shown) passed(ctx context.Context, names []string) error {
	look, ok := s.store.(store.Inspector)
	if !ok {
		return errors.New("the store shows nothing")
	}
	for {
		o, err := look.Overview(ctx)
		if err != nil {
			return err
		}
		left, there := int64(0), 0
		for i := range o.Boxes {
			for k := range o.Boxes[i].Subscriptions {
				v := &o.Boxes[i].Subscriptions[k]
				left, there = left+v.Backlog, there+1
			}
		}
		if left == 0 && there >= len(names) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// loaded counts what a destination has got of what is written while somebody measures.
type loaded struct {
	n atomic.Int64
}

func (d *loaded) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		report(i, broker.Result{Outcome: broker.Accepted})
	}
	d.n.Add(int64(len(msgs)))
}

func (d *loaded) Features() broker.Features   { return broker.Features{Ordered: true} }
func (d *loaded) Close(context.Context) error { return nil }
