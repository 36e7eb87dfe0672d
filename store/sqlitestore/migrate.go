package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strings"

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
INSERT INTO postbag__meta (one, identity, version, reader, epoch, token) VALUES (1,
	lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-a' ||
		substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), %d, 1, 1, 0)
ON CONFLICT (one) DO UPDATE SET version = excluded.version, epoch = epoch + 1;
`

// steps are the migrations, in order. A step is added, never changed.
func steps() []store.Step { return sqlkit.Steps(schemaFiles, recordStep) }

// schemaVersion is the version that this program makes and knows.
func schemaVersion() int { return sqlkit.Latest(steps()) }

// Migrate applies the steps that are missing, all in one transaction.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	var done []string
	err := s.exclusive(ctx, "migrate", func(t *transaction) error {
		done = nil
		_, missing, err := t.pending()
		if err != nil {
			return err
		}
		for _, step := range missing {
			if _, err := t.conn.ExecContext(t.Ctx, step.SQL); err != nil {
				return fmt.Errorf("step %s: %w", step.Name, err)
			}
			done = append(done, step.Name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// Pending returns the schema's version, zero if there is none, and what Migrate
// would do.
func (s *Store) Pending(ctx context.Context) (int, []store.Step, error) {
	var version int
	var missing []store.Step
	err := s.exclusive(ctx, "look at the schema", func(t *transaction) (err error) {
		version, missing, err = t.pending()
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	return version, missing, nil
}

// stepTight is the step that does something for each box of an older version.
const stepTight = "0005_tight"

// pending returns the schema's version and the steps that are missing.
func (t *transaction) pending() (int, []store.Step, error) {
	version, err := t.version()
	if err != nil {
		return 0, nil, err
	}
	missing := sqlkit.After(steps(), version)
	for i := range missing {
		if version == 0 || missing[i].Name != stepTight {
			continue
		}
		triggers, err := t.addConstraints()
		if err != nil {
			return 0, nil, err
		}
		missing[i].SQL = triggers + missing[i].SQL
	}
	return version, missing, nil
}

// addConstraints returns what holds the boxes of an older version to the constraints of new ones.
func (t *transaction) addConstraints() (string, error) {
	var text strings.Builder
	err := t.Query(sqlBoxesToConstrain, nil, func(rows *sql.Rows) error {
		var box string
		if err := rows.Scan(&box); err != nil {
			return err
		}
		one, err := template("tight", box)
		text.WriteString(one)
		return err
	})
	return text.String(), err
}

// CreateBox makes the table of a box, and its maintenance subscription.
// Its slots are made as Options.Slots says.
func (s *Store) CreateBox(ctx context.Context, box string) error {
	return s.CreateBoxBy(ctx, box, s.opts.Slots[box])
}

// CreateBoxBy is CreateBox by a rule for slots; see [store.SlotMigrator].
func (s *Store) CreateBoxBy(ctx context.Context, box string, by store.SlotRule) error {
	if err := errors.Join(postbag.ValidBox(box), by.Validate()); err != nil {
		return err
	}
	return s.write(ctx, "create box "+box, func(t *transaction) error {
		has, there, err := t.RuleOf(box)
		if err != nil {
			return err
		}
		by := by
		if there {
			if err := storekit.SameRule(box, has, by); err != nil {
				return err
			}
			by = has
		}
		table, err := boxTable(box, by)
		if err != nil {
			return err
		}
		if whole, err := t.Row(sqlHasTable, []any{"postbag_" + box}, new(int)); err != nil || there && whole {
			return err
		}
		if _, err := t.conn.ExecContext(t.Ctx, table); err != nil || there { // somebody dropped its table, which is made again
			return err
		}
		return t.Enter(box, by)
	})
}

// SlotRule returns the rule for the slots of a box; see [store.SlotMigrator].
func (s *Store) SlotRule(ctx context.Context, box string) (store.SlotRule, error) {
	return s.base.SlotRule(ctx, box)
}

// boxTable returns the statements that make the table of a box, whose slots are made by a rule.
func boxTable(box string, by store.SlotRule) (string, error) {
	text, err := template("box", box)
	number := ""
	if by == store.SlotsByNumber {
		number = numberConstraint
	}
	return strings.ReplaceAll(text, "$number", number), err
}

// numberConstraint refuses keys that are no numbers. It is no GLOB, which applications can
// replace.
const numberConstraint = `CONSTRAINT "` + numberName + `"
		CHECK (CASE WHEN shard_key <> '' THEN shard_key ELSE key END <> '-'
			AND ltrim(substr(CASE WHEN shard_key <> '' THEN shard_key ELSE key END,
				1 + (substr(CASE WHEN shard_key <> '' THEN shard_key ELSE key END, 1, 1) = '-')), '0123456789') = ''),`

const numberName = "shard_key, or else key, is a decimal integer"

// template returns the statements of a file of the schema for a box.
func template(name, box string) (string, error) {
	text, err := schemaFiles.ReadFile("schema/" + name + ".sql")
	if err != nil {
		return "", fmt.Errorf("sqlitestore: create box %s: %w; the program was built wrongly", box, err)
	}
	return strings.ReplaceAll(string(text), "$box", box), nil
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
		table, err := boxTable(box, slots[box])
		if err != nil {
			return nil, err
		}
		statements := append([]string{table}, sqlkit.EnterBox(box, sqlMicros, slots[box])...)
		all = append(all, sqlkit.BoxStep(box, append(statements, sqlEpoch)...))
	}
	return all, nil
}

// exclusive is write without a look at the schema, which may not be there.
func (s *Store) exclusive(ctx context.Context, doing string, fn func(*transaction) error) error {
	return s.locked(ctx, doing, s.deadline(), func(t *transaction) error {
		if err := fn(t); err != nil {
			return err
		}
		return t.commit()
	})
}

// version returns the schema's version, zero if there is none.
func (t *transaction) version() (version int, err error) {
	var there int
	if _, err := t.Row(sqlCountSchema, nil, &there); err != nil || there == 0 {
		return 0, err
	}
	_, err = t.Row(sqlVersion, nil, &version, new(int))
	return version, err
}

// checkSchema returns ErrSchema unless this program can work with what is there.
func (s *Store) checkSchema(ctx context.Context) error {
	const doing = "look at the schema"
	var there, version, reader int
	if err := s.first(ctx, sqlCountSchema, &there); err != nil {
		return translateError(doing, err)
	}
	if there == 0 {
		return translateError(doing, fmt.Errorf("there is none: %w", store.ErrSchema))
	}
	err := s.first(ctx, sqlVersion, &version, &reader)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return translateError(doing, fmt.Errorf("it is half made: %w", store.ErrSchema))
	case err != nil:
		return translateError(doing, err)
	}
	return translateError(doing, sqlkit.CheckVersion(schemaVersion(), version, reader))
}

// first scans the one row of a query that is not worth keeping prepared.
func (s *Store) first(ctx context.Context, text string, dest ...any) error {
	return retryBusy(ctx, s.deadline(), func() error {
		return s.pool().QueryRowContext(ctx, text+s.comments.Relay).Scan(dest...)
	})
}
