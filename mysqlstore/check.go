package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag/internal/sqlstore"
	"github.com/postbag/postbag/store"
)

// Check verifies server, settings and schema, and that the server can be written,
// and warns of settings with which a crash can undo what was delivered. Where a
// log has lost messages that positions had passed, as when a box's table was
// replaced by another or emptied, it sets those positions back to the beginning
// and returns ErrMoved: messages may then come again, and none is lost.
func (s *Store) Check(ctx context.Context) (store.Info, error) {
	if err := s.recogniseServer(ctx); err != nil {
		return store.Info{}, err
	}
	if err := s.checkSchema(ctx); err != nil {
		return store.Info{}, err
	}
	s.known.forget()
	id, another, back, err := s.reconcile(ctx)
	if err != nil {
		return store.Info{}, err
	}
	if err := s.enterLife(ctx); err != nil {
		return store.Info{}, translateError("check", err)
	}
	undivided, err := s.undivided(ctx)
	if err != nil {
		return store.Info{}, translateError("check", err)
	}
	known := s.server.Load()
	info := store.Info{
		System:     known.system(),
		Identity:   id,
		Schema:     schemaVersion(),
		MaxMessage: s.producer.most(),
		Warnings:   known.warnings,
		Features:   Features(),
	}
	if step := s.life.Load().step; step > 1 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("auto_increment_increment is %d: boxes work as long as all producers "+
			"write through this server; set it to 1 unless several servers are written", step))
	}
	for _, box := range undivided {
		info.Warnings = append(info.Warnings, fmt.Sprintf("box %s has no partitions, although Options.Partition is set: "+
			"only boxes that are made with it are divided; rows of this one are deleted one by one", box))
	}
	switch {
	case len(back) > 0:
		return info, translateError("check", fmt.Errorf("the log is not the one that the positions of %v were written in, which begin anew: %w",
			back, store.ErrMoved))
	case another:
		return info, translateError("check", fmt.Errorf("the database is another one now, %s: %w", id, store.ErrMoved))
	}
	return info, nil
}

// system names the server for people.
func (v *server) system() string {
	if v.mariadb {
		return "mariadb " + v.version
	}
	return "mysql " + v.version
}

// checkSchema returns ErrSchema unless this program can work with what is there.
func (s *Store) checkSchema(ctx context.Context) error {
	const doing = "look at the schema"
	var version, reader int
	found, err := s.row(ctx, sqlVersion, nil, &version, &reader)
	switch {
	case codeOf(err) == codeNoTable:
		err = fmt.Errorf("there is none: %w", store.ErrSchema)
	case err != nil:
	case !found:
		err = fmt.Errorf("it is half made: %w", store.ErrSchema)
	default:
		err = sqlstore.CheckVersion(schemaVersion(), version, reader)
	}
	return translateError(doing, err)
}

// reconcile accepts the database, and sets back the subscriptions of boxes whose
// log is another one than their positions were written in. It returns the
// database's identity, whether it is another one than before, and what was set
// back.
func (s *Store) reconcile(ctx context.Context) (id string, another bool, back []store.Ref, err error) {
	err = s.retry(ctx, "check", func() error {
		return s.inOwnTx(ctx, "START TRANSACTION", func(t *transaction) error {
			if t.identity == "" {
				return store.ErrSchema
			}
			if t.readOnly {
				return store.ErrStandby
			}
			if _, err := t.Row(sqlLockMeta, nil, new(int)); err != nil {
				return err
			}
			if back, err = t.beyond(); err != nil {
				return err
			}
			for _, ref := range back {
				if err := t.SetBack(ref, "the log is not the one its positions were written in"); err != nil {
					return err
				}
				if _, err := t.Exec(sqlSetWitness, 0, nil, ref.Box); err != nil {
					return err
				}
			}
			id = t.identity
			return t.commit()
		})
	})
	if err != nil {
		return "", false, nil, err
	}
	old := s.server.Load()
	accepted := *old
	accepted.identity = id
	s.server.Store(&accepted)
	return id, old.identity != "" && old.identity != id, back, nil
}

// beyond returns the subscriptions with a position that their log does not reach,
// and those of boxes that have lost their witness.
func (t *transaction) beyond() ([]store.Ref, error) {
	ends, err := t.ends()
	if err != nil {
		return nil, err
	}
	var out []store.Ref
	err = t.Query(sqlPositions, nil, func(rows *sql.Rows) error {
		var ref store.Ref
		var text []byte
		if err := rows.Scan(&ref.Box, &ref.Subscription, &text); err != nil {
			return err
		}
		p, err := decodePosition(store.Position(text))
		if err != nil {
			return fmt.Errorf("a position of %s: %w", ref, err)
		}
		if end, ok := ends[ref.Box]; ok && p.high > end && (len(out) == 0 || out[len(out)-1] != ref) {
			out = append(out, ref)
		}
		return nil
	})
	return out, err
}

// ends returns the last seq of each box; -1 for one whose table is not the one it
// had.
func (t *transaction) ends() (map[string]int64, error) {
	type mark struct {
		seq int64
		id  []byte
	}
	marks := make(map[string]mark)
	err := t.Query(sqlWitnesses, nil, func(rows *sql.Rows) error {
		var box string
		var m mark
		err := rows.Scan(&box, &m.seq, &m.id)
		marks[box] = m
		return err
	})
	if err != nil {
		return nil, err
	}
	ends := make(map[string]int64, len(marks))
	for box, m := range marks {
		last, err := lastSeq(t.Query, box)
		if err != nil {
			return nil, err
		}
		ends[box] = last
		if m.seq == 0 {
			continue
		}
		var id []byte
		found, err := t.Row(fmt.Sprintf(sqlIDOf, tableOf(box)), []any{m.seq}, &id)
		if err != nil {
			return nil, err
		}
		if !found || string(id) != string(m.id) {
			ends[box] = -1
		}
	}
	return ends, nil
}
