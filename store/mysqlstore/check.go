package mysqlstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
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
	tables, err := s.tables(ctx)
	if err == nil {
		err = otherRules(tables)
	}
	if err != nil {
		return store.Info{}, translateError("check", err)
	}
	s.known.forget()
	id, another, older, back, err := s.reconcile(ctx)
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
		MaxMessage: min(s.producer.most(), postbag.MaxPayload),
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
	for _, box := range s.loose(tables) {
		info.Warnings = append(info.Warnings, fmt.Sprintf("box %s has the looser constraints of an older version, and takes headers or "+
			"payloads that are refused elsewhere: tighten them with the ALTER TABLE in docs/reference/mysql.md, where the table may be copied", box))
	}
	switch {
	case len(back) > 0:
		return info, translateError("check", fmt.Errorf("the log is not the one that the positions of %v were written in, which begin again: %w",
			back, store.ErrMoved))
	case older:
		return info, translateError("check", fmt.Errorf("an older copy of the database was put back, and all leases end: %w", store.ErrMoved))
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
		err = sqlkit.CheckVersion(schemaVersion(), version, reader)
	}
	return translateError(doing, err)
}
