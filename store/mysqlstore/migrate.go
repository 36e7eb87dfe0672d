package mysqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
	"github.com/postbag/postbag/store/storekit"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// recordStep ends a step: a process that runs its SQL has taken it. One row, whose
// identity is a UUID of version 4.
const recordStep = `
-- This step was taken.
INSERT INTO postbag__meta (one, identity, version, reader, epoch, token)
VALUES (1, LOWER(CONCAT_WS('-', HEX(RANDOM_BYTES(4)), HEX(RANDOM_BYTES(2)), CONCAT('4', LEFT(HEX(RANDOM_BYTES(2)), 3)),
	CONCAT('a', LEFT(HEX(RANDOM_BYTES(2)), 3)), HEX(RANDOM_BYTES(6)))), %[1]d, 1, 1, 0)
ON DUPLICATE KEY UPDATE epoch = epoch + 1, version = GREATEST(version, %[1]d);
`

// steps are the migrations, in order. A step is added, never changed.
func steps() []store.Step { return sqlkit.Steps(schemaFiles, recordStep) }

// schemaVersion is the version that this program makes and knows.
func schemaVersion() int { return sqlkit.Latest(steps()) }

// stepsCancel are the steps that make a procedure, which are done without it where the
// right to make one is missing.
var stepsCancel = []string{"0004_cancel", "0009_cancel"}

// endOfCancel is where the statements of the procedure end, in both steps.
const endOfCancel = "UTC_TIMESTAMP(6));"

// Migrate applies the steps that are missing, and gives small boxes of older versions the constraints of new ones. A change of a table commits by
// itself in MySQL, so that a step that was cut off is simply taken again. Several
// may migrate at once: the names are then told by more than one.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	_, missing, err := s.Pending(ctx)
	if err != nil {
		return nil, err
	}
	var done []string
	for _, step := range missing {
		name := step.Name
		err := s.define(ctx, step.SQL, s.opts.DDLWait, defineTimes)
		if code := codeOf(err); slices.Contains(stepsCancel, name) && (code == codeDatabaseDenied || code == codeRoutineDenied || code == codeSpecialDenied) {
			_, rest, _ := strings.Cut(step.SQL, endOfCancel)
			err = s.define(ctx, rest, s.opts.DDLWait, defineTimes)
			name += " (without its procedure, since the right CREATE ROUTINE or ALTER ROUTINE is missing: see docs/reference/mysql.md)"
		}
		if err != nil {
			return done, translateError("migrate: step "+step.Name, err)
		}
		done = append(done, name)
	}
	boxes, err := s.addConstraints(ctx)
	for _, box := range boxes {
		done = append(done, "constraints of box "+box)
	}
	return done, translateError("migrate: tighten boxes", err)
}

// Pending returns the schema's version, zero if there is none, and what Migrate
// would do.
func (s *Store) Pending(ctx context.Context) (int, []store.Step, error) {
	const doing = "look at the schema"
	var there, version int
	_, err := s.row(ctx, sqlCountSchema, nil, &there)
	if err == nil && there > 0 {
		_, err = s.row(ctx, sqlVersion, nil, &version, new(int))
	}
	if err != nil {
		return 0, nil, translateError(doing, err)
	}
	return version, sqlkit.After(steps(), version), nil
}

// CreateBox makes the table of a box, and its maintenance subscription. Of a box
// that is there and divided into partitions it changes how long one is about, if
// Options.Partition says so; one that is not divided stays as it is. Its slots are made as
// Options.Slots says.
func (s *Store) CreateBox(ctx context.Context, box string) error {
	return s.CreateBoxBy(ctx, box, s.opts.Slots[box])
}

// CreateBoxBy is CreateBox by a rule for slots; see [store.SlotMigrator].
func (s *Store) CreateBoxBy(ctx context.Context, box string, by store.SlotRule) error {
	if err := errors.Join(postbag.ValidBox(box), by.Validate()); err != nil {
		return err
	}
	doing := "create box " + box
	has, there, err := sqlkit.RuleOf(s.query(ctx), box)
	if err == nil && there {
		if err = storekit.SameRule(box, has, by); by == "" {
			by = has
		}
	}
	if err == nil && there { // with its table, unless somebody dropped that: then it is made again
		there, err = s.row(ctx, sqlHasTable, []any{"postbag_" + box}, new(int))
	}
	switch {
	case err != nil:
		return translateError(doing, err)
	case there:
		return s.redivide(ctx, box)
	}
	text, err := boxTable(box, s.opts.Partition, by)
	if err != nil {
		return err
	}
	if err := s.define(ctx, text, s.opts.DDLWait, defineTimes); err != nil {
		return translateError(doing, err)
	}
	if by, err = s.ruleMade(ctx, box, by); err != nil {
		return translateError(doing, err)
	}
	return s.change(ctx, doing, func(t *transaction) error {
		has, there, err := t.RuleOf(box)
		if err != nil {
			return err
		}
		if there { // its table was made again, or somebody else has just made it
			return storekit.SameRule(box, has, by)
		}
		if s.opts.Partition > 0 {
			if _, err := t.Exec(sqlInsertPartition, box, s.opts.Partition.Microseconds()); err != nil {
				return err
			}
		}
		return t.Enter(box, by)
	})
}

// ruleMade returns the rule of a box whose table is there now, or an error if the table was
// there before and makes slots by another one. Nothing asked for ("") is the table's.
func (s *Store) ruleMade(ctx context.Context, box string, by store.SlotRule) (store.SlotRule, error) {
	text, err := s.tableText(ctx, box)
	if err != nil {
		return "", err
	}
	made := ruleOfTable(box, text)
	if by == "" {
		return made, nil
	}
	return by, sameTable(box, by, made)
}

// boxTable returns the statement that makes the table of a box, divided into partitions
// of about so long; zero: not at all. Slots are made by a rule.
func boxTable(box string, partition time.Duration, by store.SlotRule) (string, error) {
	template, err := schemaFiles.ReadFile("schema/box.sql")
	if err != nil {
		return "", fmt.Errorf("mysqlstore: create box %s: %w; the program was built wrongly", box, err)
	}
	rule, number := slotRule(by)
	text := strings.NewReplacer("$rule", rule, "$number", number).Replace(string(template))
	return strings.NewReplacer("$box", box, "$partitions", firstPartitions(partition)).Replace(text), nil
}

// Script returns all that Migrate and CreateBox would run in an empty database, with Options.Partition: the steps of the
// schema, then one step without a version for each box. It is for migration tools, and connects to nothing. A step wants
// one session from its beginning to its end. slots are the rules of those boxes that are not by hash. Errors are those of the
// boxes' names and rules.
func Script(partition time.Duration, slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error) {
	all := steps()
	for _, box := range boxes {
		if err := errors.Join(postbag.ValidBox(box), slots[box].Validate()); err != nil {
			return nil, err
		}
		table, err := boxTable(box, partition, slots[box])
		if err != nil {
			return nil, err
		}
		statements := []string{table}
		if partition > 0 {
			statements = append(statements, fmt.Sprintf(sqlEnterPartition, box, partition.Microseconds()))
		}
		statements = append(statements, sqlkit.EnterBox(box, sqlMicros, slots[box])...)
		all = append(all, sqlkit.BoxStep(box, append(statements, sqlEpoch)...))
	}
	return all, nil
}

// defineTimes is how often a change of a table is tried whose lock was not to be
// had: between the tries producers go on.
const defineTimes = 30

// defineAgain says whether statements that failed so are run again: their lock was not
// to be had, or somebody else has just made what they looked for.
func defineAgain(err error) bool {
	switch codeOf(err) {
	case codeLockWait, codeDeadlock, codeColumnThere, codeKeyThere, codeCheckThere, codeForeignThere:
		return true
	}
	return false
}

// define runs statements that change tables, so many times at most until their locks
// were to be had. Each waits for its lock for so long at most, since a session that writes the
// table waits behind it.
func (s *Store) define(ctx context.Context, text string, wait time.Duration, times int) error {
	return s.session(ctx, wait, func(conn *sql.Conn) error {
		for n := 1; ; n++ {
			if _, err := conn.ExecContext(ctx, text); err == nil || !defineAgain(err) || n >= times {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait / 2):
			}
		}
	})
}

// session has fn work on a connection whose statements wait at most so long for a table, and for a row: a statement that changes a
// table keeps its writers out while it waits for the rows of a prepared transaction whose session is gone.
func (s *Store) session(ctx context.Context, wait time.Duration, fn func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	set := fmt.Sprintf("SET SESSION lock_wait_timeout = %[1]d, SESSION innodb_lock_wait_timeout = %[1]d", int(wait/time.Second))
	if _, err = conn.ExecContext(ctx, set); err == nil {
		err = fn(conn)
	}
	_, reset := conn.ExecContext(context.WithoutCancel(ctx),
		fmt.Sprintf("SET SESSION lock_wait_timeout = DEFAULT, SESSION innodb_lock_wait_timeout = %d", rowWait))
	if errors.Is(reset, sql.ErrConnDone) {
		reset = nil
	}
	return errors.Join(err, reset, conn.Close())
}
