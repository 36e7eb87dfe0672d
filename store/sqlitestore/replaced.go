package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/postbag/postbag/store"
)

// openedFile is what the store's connections have open.
type openedFile struct{ main, log os.FileInfo }

// pool returns the connections.
func (s *Store) pool() *sql.DB { return s.db.Load() }

// noteFile notes which file the connections have open.
func (s *Store) noteFile() {
	main, err := os.Stat(s.file)
	if err != nil {
		return // in memory, which start refuses
	}
	opened := &openedFile{main: main}
	opened.log, _ = os.Stat(s.walFile()) // none yet is nothing to mistake
	s.opened.Store(opened)
}

// inPlace returns ErrMoved if the database's path is no longer that of the file that
// the connections have open: it was moved away, deleted or replaced, and what is
// written to it would be lost. It costs a stat(2).
func (s *Store) inPlace() error {
	opened := s.opened.Load()
	if opened == nil {
		return nil
	}
	now, err := os.Stat(s.file)
	switch {
	case err != nil:
		return fmt.Errorf("the file %s that is open is no longer there; put it back: %w", s.file, store.ErrMoved)
	case !os.SameFile(now, opened.main):
		return fmt.Errorf("the file %s that is open was replaced by another: %w", s.file, store.ErrMoved)
	}
	return nil
}

// reopenReplaced opens the file that is there now, if it is another one than the
// connections have open, and says whether it was.
func (s *Store) reopenReplaced(ctx context.Context) (replaced bool, err error) {
	if s.inPlace() == nil {
		if old := s.opened.Load(); old != nil {
			log, _ := os.Stat(s.walFile())
			s.opened.Store(&openedFile{main: old.main, log: log})
		}
		return false, nil
	}
	if _, err := os.Stat(s.file); err != nil {
		return false, fmt.Errorf("the file %s is no longer there; put it back, or stop: %w", s.file, err)
	}
	if !s.owned {
		return false, fmt.Errorf("the file %s was replaced under the application's connections; close the *sql.DB and the store, and open them again", s.file)
	}
	if now, err := os.Stat(s.walFile()); err == nil && now.Size() > 0 && s.opened.Load().log != nil && os.SameFile(now, s.opened.Load().log) {
		return false, fmt.Errorf("the file %s was replaced beside the write-ahead log of the old one, which would damage it; "+
			"stop every program that has it open, remove %s and %s-shm, and start them again", s.file, s.walFile(), s.file)
	}
	if err := s.writer.enter(ctx, s.deadline()); err != nil {
		return false, err
	}
	defer s.writer.leave()
	db, err := sql.Open("sqlite", dsn(s.file, shortBusy)+"&mode=rw")
	if err != nil {
		return false, err
	}
	most := s.pool().Stats().MaxOpenConnections
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	s.poll.close()
	// The old ones have nothing more to say: their file is nobody's.
	_ = errors.Join(s.pinned.close(), s.statements.forget(), s.db.Swap(db).Close())
	s.noteFile()
	return true, nil
}
