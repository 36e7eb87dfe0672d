package pgstore

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

//go:embed schema/box.sql
var boxScript string

//go:embed schema/number.sql
var numberScript string

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
	return s.CreateBoxBy(ctx, box, s.opts.Slots[box])
}

// CreateBoxBy implements store.SlotMigrator.
func (s *Store) CreateBoxBy(ctx context.Context, box string, by store.SlotRule) error {
	if err := errors.Join(postbag.ValidBox(box), by.Validate()); err != nil {
		return err
	}
	err := createBox(ctx, s.inDDL, box, by)
	s.catalog.Store(nil)
	return translateError("create box "+box, err)
}

// SlotRule implements store.SlotMigrator.
func (s *Store) SlotRule(ctx context.Context, box string) (store.SlotRule, error) {
	r, err := s.readCatalog(ctx)
	if err != nil {
		return "", translateError("look at box "+box, err)
	}
	if b := r.boxes[box]; b != nil {
		return b.slots, nil
	}
	return "", fmt.Errorf("pgstore: look at box %q: %w", box, store.ErrNoBox)
}

// createBox makes a box, unless it is there. A table that somebody dropped is made again.
func createBox(ctx context.Context, in inDDL, box string, by store.SlotRule) error {
	there, known, number := false, false, 0
	look := func(tx ddl) error {
		err := tx.one(ctx, `SELECT k.slots >= 0, k.slots >= 0 AND to_regclass('postbag.' || quote_ident($1)) IS NOT NULL, k.slots
FROM (SELECT coalesce((SELECT b.slots FROM postbag._boxes b WHERE b.name = $1), -1)::integer AS slots) k`, []any{box}, &known, &there, &number)
		if err != nil || !known {
			return schemaError(err)
		}
		return storekit.SameRule(box, storekit.RuleOf(number), by)
	}
	// Looking comes first by itself: a role without rights can do that.
	if err := in(ctx, look); err != nil {
		return err
	}
	if there {
		return makeHeadroom(ctx, in, box)
	}
	return in(ctx, func(tx ddl) error {
		if err := execAll(ctx, tx, lockTimeout, lockMigrations); err != nil {
			return err
		}
		if err := look(tx); err != nil || there {
			return err
		}
		scripts := boxScripts(box, by)
		if known {
			scripts = remakeScripts(box, storekit.RuleOf(number))
		}
		for _, text := range scripts {
			if err := script(ctx, tx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// boxScripts return all that makes a box: its tables, the partitions that it begins with, and its rows.
func boxScripts(box string, by store.SlotRule) []string {
	scripts := logScripts(box, boxScript, by)
	if by == store.SlotsByNumber {
		scripts = append(scripts, byNumber(box, box+"__scheduled"))
	}
	enter := strings.ReplaceAll(enterBox, "{rule}", strconv.Itoa(storekit.RuleNumber(by)))
	return append(scripts, filler(box).Replace(enter))
}

// byNumber returns what gives the rows of a table slots by number.
func byNumber(box, table string) string {
	return strings.NewReplacer("{box}", box, "{table}", table).Replace(numberScript)
}

// remakeScripts return what makes the log of a box again whose table somebody dropped. What was scheduled is still there,
// and Check finds the numbering begun again.
func remakeScripts(box string, by store.SlotRule) []string {
	log, _, _ := strings.Cut(boxScript, "\n-- Messages whose time has not come.\n")
	return append(logScripts(box, log, by), "UPDATE postbag._epoch SET n = n + 1;")
}

// logScripts return what makes a box's tables, and the partitions that it begins with.
func logScripts(box, tables string, by store.SlotRule) []string {
	scripts := []string{filler(box).Replace(tables)}
	if by == store.SlotsByNumber { // before there are partitions, which take it over
		scripts = append(scripts, byNumber(box, box))
	}
	for next := int64(1); next-1 < defaultHeadroom; {
		p := partition{box: box, from: next, to: next + partitionSpans*store.TallySpan}
		scripts, next = append(scripts, p.script()), p.to
	}
	return scripts
}

// filler puts what a box's scripts leave open.
func filler(box string) *strings.Replacer {
	return strings.NewReplacer("{box}", box, "{sound}", soundOf(box), "{pages}", strconv.Itoa(fillerPages),
		"{spans}", strconv.Itoa(partitionSpans), "{maintenance}", store.Maintenance, "{slots}", strconv.Itoa(store.SlotCount))
}

// Script returns all that Migrate and CreateBox would run in an empty database: the steps of the schema, then one step
// without a version for each box. slots are the rules of those boxes that are not by hash. It is for migration tools, and
// connects to nothing. Errors are those of the boxes' names and rules.
func Script(slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error) {
	all := steps()
	for _, box := range boxes {
		if err := errors.Join(postbag.ValidBox(box), slots[box].Validate()); err != nil {
			return nil, err
		}
		all = append(all, store.Step{Name: "box " + box, SQL: strings.Join(boxScripts(box, slots[box]), "")})
	}
	return all, nil
}

// enterBox makes the rows of a box, with the pseudo-subscription whose shard is
// the right to maintain it.
const enterBox = `-- The rows of box {box}.
WITH b AS (INSERT INTO postbag._boxes (name, spans, numbering, slots)
  VALUES ('{box}', {spans}, pg_relation_filenode('postbag.{box}__seq')::bigint, {rule}) RETURNING id),
u AS (INSERT INTO postbag._subscriptions (box, name, wanted) SELECT id, '{maintenance}', 1 FROM b RETURNING id)
INSERT INTO postbag._shards (sub, lo, hi) SELECT id, 0, {slots} FROM u;
UPDATE postbag._epoch SET n = n + 1;
`

//go:embed schema/partition.sql
var partitionScript string

const (
	// partitionSpans is how many spans of the ledger a partition covers:
	// 33.5 million messages.
	partitionSpans = 32
	// defaultHeadroom is for how many messages there are partitions ahead.
	defaultHeadroom = 500_000_000
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

// script makes the table and attaches it.
func (p partition) script() string {
	return strings.NewReplacer("{part}", p.name(), "{box}", p.box, "{sound}", soundOf(p.box),
		"{from}", strconv.FormatInt(p.from, 10), "{to}", strconv.FormatInt(p.to, 10), "{pages}", strconv.Itoa(fillerPages),
	).Replace(partitionScript)
}

// mostPartitions is how many partitions one call adds at most.
const mostPartitions = 1000

// makeHeadroom adds partitions to a box that is there and has hardly any ahead, as after its
// numbering jumped: the first relay would, but until then every INSERT fails. A role
// that may not leaves it be while there is room at all.
func makeHeadroom(ctx context.Context, in inDDL, box string) error {
	for added := 0; ; added++ {
		var last, room int64
		var spans int
		err := in(ctx, func(tx ddl) (err error) {
			err = tx.one(ctx, `SELECT CASE WHEN has_sequence_privilege(c.oid, 'SELECT') THEN coalesce(pg_sequence_last_value(c.oid::regclass), 0) ELSE 0 END, b.spans
FROM postbag._boxes b, pg_class c WHERE b.name = $1 AND c.oid = $2::text::regclass`, []any{box, schemaName + "." + box + "__seq"}, &last, &spans)
			var parts []partition
			if err == nil {
				parts, err = partitionsOf(ctx, tx, box)
			}
			if err != nil {
				return err
			}
			enough, size := int64(defaultHeadroom), int64(spans)*store.TallySpan
			if added == 0 {
				enough = size
			}
			var p partition
			if p, room = nextPartition(box, parts, last, spans); room >= enough {
				spans = 0
				return nil
			}
			if need := (defaultHeadroom - room) / size; need > mostPartitions {
				return fmt.Errorf("its numbers are %d partitions ahead of its tables; see who moved the sequence postbag.%s__seq, and put it back", need, box)
			}
			return errors.Join(tx.exec(ctx, lockTimeout), script(ctx, tx, p.script()))
		})
		switch {
		case sqlState(err) == codeNoRight && room > 0:
			return nil
		case err != nil || spans == 0:
			return err
		}
	}
}

// partitionsOf returns the ranges of a box's partitions, from the lowest up.
func partitionsOf(ctx context.Context, tx ddl, box string) (parts []partition, err error) {
	var lines string
	err = tx.one(ctx, `SELECT coalesce(string_agg(pg_get_expr(c.relpartbound, c.oid), E'\n'), '')
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::text::regclass`, []any{schemaName + "." + box}, &lines)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(lines) {
		p := partition{box: box}
		if _, err := fmt.Sscanf(line, "FOR VALUES FROM ('%d') TO ('%d')", &p.from, &p.to); err == nil {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, func(a, b partition) int { return cmp.Compare(a.from, b.from) })
	return parts, nil
}
