package pgstore

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

//go:embed schema/box.sql
var boxScript string

// sound is what every row of a log must be. It says that an id was not set by an
// object mapper to its zero, nor a topic, that nobody chose a transaction id or a seq, that no
// payload is larger than a reader can take, and that place is 1 + a slot where it is not
// left to the reader. One constraint costs an insert no more than four. Only an
// erasure, which says so to its transaction, changes a row of another.
const sound = `CHECK ((xid = pg_current_xact_id() AND seq = currval('postbag.{box}__seq') AND topic <> '' OR coalesce(current_setting('postbag.erasing', true), '') = 'on') AND id <> '00000000-0000-0000-0000-000000000000' AND octet_length(payload) <= 16777216 ` +
	`AND (place IS NULL OR place BETWEEN 0 AND 4096))`

func soundOf(box string) string { return strings.ReplaceAll(sound, "{box}", box) }

// CreateBox implements store.Migrator.
func (s *Store) CreateBox(ctx context.Context, box string) error {
	if err := postbag.ValidBox(box); err != nil {
		return err
	}
	err := createBox(ctx, s.inDDL, box)
	s.roster.Store(nil)
	return translateError("create box "+box, err)
}

// createBox makes a box, unless it is there.
func createBox(ctx context.Context, in inDDL, box string) error {
	there := false
	look := func(tx ddl) error {
		return schemaError(tx.one(ctx, `SELECT EXISTS (SELECT FROM postbag._boxes WHERE name = $1)`, []any{box}, &there))
	}
	// Looking comes first by itself: a role without rights can do that.
	if err := in(ctx, look); err != nil || there {
		return err
	}
	return in(ctx, func(tx ddl) error {
		if err := execAll(ctx, tx, lockTimeout, lockMigrations); err != nil {
			return err
		}
		if err := look(tx); err != nil || there {
			return err
		}
		text := strings.NewReplacer("{box}", box, "{sound}", soundOf(box), "{pages}", strconv.Itoa(fillerPages)).Replace(boxScript)
		if err := script(ctx, tx, text); err != nil {
			return err
		}
		if err := enterBox(ctx, tx, box); err != nil {
			return err
		}
		_, err := addRoom(ctx, tx, box, partitionSpans, 0, defaultRoom)
		return err
	})
}

// enterBox makes the rows of a box, with the pseudo-subscription whose shard is
// the right to maintain it.
func enterBox(ctx context.Context, tx ddl, box string) error {
	err := tx.exec(ctx, `WITH b AS (INSERT INTO postbag._boxes (name, spans, numbering)
VALUES ($1::text, $2::integer, pg_relation_filenode(to_regclass('postbag.' || $1::text || '__seq'))::bigint) RETURNING id),
u AS (INSERT INTO postbag._subscriptions (box, name, wanted) SELECT id, $3::text, 1 FROM b RETURNING id)
INSERT INTO postbag._shards (sub, lo, hi) SELECT id, 0, $4::integer FROM u`, box, partitionSpans, store.Maintenance, store.SlotCount)
	if err != nil {
		return err
	}
	return tx.exec(ctx, `UPDATE postbag._epoch SET n = n + 1`)
}

//go:embed schema/partition.sql
var partitionScript string

const (
	// partitionSpans is how many spans of the ledger a partition covers:
	// 33.5 million messages.
	partitionSpans = 32
	// defaultRoom is for how many messages there are partitions ahead.
	defaultRoom = 500_000_000
	// fillerPages is how many pages an empty table has, see partition.sql.
	fillerPages = 20
)

// partition is a table of a box's log.
type partition struct {
	box      string
	from, to int64 // seqs, half open
}

// name ends with the number of the first span.
func (p partition) name() string {
	return p.box + "__p" + strconv.FormatInt((p.from-1)/store.TallySpan, 10)
}

// add makes the table and attaches it.
func (p partition) add(ctx context.Context, tx ddl) error {
	return script(ctx, tx, strings.NewReplacer("{part}", p.name(), "{box}", p.box, "{sound}", soundOf(p.box),
		"{from}", strconv.FormatInt(p.from, 10), "{to}", strconv.FormatInt(p.to, 10), "{pages}", strconv.Itoa(fillerPages),
	).Replace(partitionScript))
}

// addRoom adds partitions until there is room for so many messages after last.
func addRoom(ctx context.Context, tx ddl, box string, spans int, last, room int64) (added int64, err error) {
	next, err := roomEnd(ctx, tx, box)
	for ; err == nil && next-1-last < room; added++ {
		p := partition{box: box, from: next, to: next + int64(spans)*store.TallySpan}
		next, err = p.to, p.add(ctx, tx)
	}
	return added, err
}

// roomEnd returns the first seq that no partition has.
func roomEnd(ctx context.Context, tx ddl, box string) (int64, error) {
	var bound string
	err := tx.one(ctx, `SELECT coalesce(max((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''?(\d+)''?\)'))[1]::bigint), 1)::text
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::text::regclass`, []any{schemaName + "." + box}, &bound)
	if err != nil {
		return 0, err
	}
	end, err := strconv.ParseInt(bound, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the bounds of the partitions of %s cannot be read: %w", box, err)
	}
	return end, nil
}
