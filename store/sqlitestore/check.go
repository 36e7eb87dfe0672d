package sqlitestore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// features are what the store declares.
var features = store.Features{Savepoints: true, OneGroup: true, Conditions: true, Editing: true, HeldTopics: true, DeadLetters: true, SlotRules: true}

// Check verifies settings, schema and that the file can be written, and warns of
// a file system or a write-ahead log that looks dangerous. If a log is not
// the one that positions in it were written in, as when a box's table was emptied and
// numbered again or replaced by an older copy, it sets those positions back to the beginning and returns ErrMoved:
// messages may then come again, and none is lost.
func (s *Store) Check(ctx context.Context) (store.Info, error) {
	replaced, err := s.reopenReplaced(ctx)
	if err != nil {
		return store.Info{}, translateError("check", err)
	}
	settings, err := s.settings(ctx)
	if err != nil {
		return store.Info{}, err
	}
	if err := settings.refuse(); err != nil {
		return store.Info{}, err
	}
	if err := s.checkSchema(ctx); err != nil {
		return store.Info{}, err
	}
	id, another, back, err := s.reconcile(ctx)
	if err != nil {
		return store.Info{}, err
	}
	info := store.Info{
		System:     "sqlite " + settings.library,
		Identity:   id,
		Schema:     schemaVersion(),
		MaxMessage: postbag.MaxPayload,
		Warnings:   s.warnings(),
		Features:   features,
	}
	switch {
	case len(back) > 0:
		return info, translateError("check", fmt.Errorf("the log is not the one that the positions of %v were written in, which begin again: %w",
			back, store.ErrMoved))
	case replaced:
		return info, translateError("check", fmt.Errorf("the file %s was replaced by another: %w", s.file, store.ErrMoved))
	case another:
		return info, translateError("check", fmt.Errorf("the file is another database now, %s: %w", id, store.ErrMoved))
	}
	return info, nil
}

// warnings are what weakens a promise and can be seen from here.
func (s *Store) warnings() []string {
	var w []string
	if kind := remoteFileSystem(s.file); kind != "" {
		w = append(w, "the file lies on "+kind+", where SQLite's locks do not work between machines; move it to a local disk")
	}
	if size := s.walSize(); size > 8*s.opts.LargeWAL {
		w = append(w, fmt.Sprintf("the write-ahead log has %d MiB, since a reader keeps it from being emptied; "+
			"end the read transaction that is open", size>>20))
	}
	return w
}
