package component

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store/sqlitestore"
)

func openSQLite(ctx context.Context, dsn string, o StoreOptions) (*Store, error) {
	path := sqlitePath(dsn)
	switch {
	case path == "":
		return nil, exit.Usagef("the DSN names no file; write sqlite:shop.db, or the path alone")
	case path == dsn && config.Foreign(dsn), path != dsn && config.Confided(path): // it may hold a password
		return nil, exit.Usagef("the DSN looks like no path of a sqlite file; correct it, or write sqlite:./ before a path that is one")
	case strings.ContainsAny(path, "?\x00"):
		return nil, exit.Usagef("the path of a sqlite file has no options behind a question mark; leave them out")
	}
	if err := sqliteFile(path, o.Create); err != nil {
		return nil, err
	}
	so := sqlitestore.Options{Create: o.Create, Unmigrated: o.Unmigrated, SQLComments: o.Comments, Slots: o.Slots}
	if o.Create && !o.Unmigrated {
		so.Boxes = append([]string{}, o.Boxes...)
	}
	s, err := sqlitestore.Open(ctx, path, so)
	if err != nil {
		return nil, err
	}
	return &Store{
		Store: s, Inspector: s, Operator: s, Migrator: s, Publish: publisherOf(s), Receive: receiverOf(s), Positions: positionsOf(s),
		Close: s.Close,
	}, nil
}

// sqliteFile refuses a path at which no database can be: SQLite's own words for
// it help nobody.
func sqliteFile(path string, create bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return exit.Usagef("there is no file %s; correct the path, or make it with postbag migrate up", path)
	case err == nil && info.IsDir():
		return exit.Usagef("%s is a folder; name a file", path)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return exit.Usagef("there is no folder %s for the file; make it, or correct the path", filepath.Dir(path))
	}
	return nil
}

// Absent says that a store is a sqlite file that is not there yet, and could be made. It returns its kind.
func Absent(s config.Store) (string, bool) {
	dsn, err := DSN(s)
	if err != nil {
		return "", false
	}
	kind, mistake := Kinds().StoreKind(s.Kind, dsn)
	path := sqlitePath(dsn)
	if mistake != "" || kind != "sqlite" || path == "" || strings.ContainsAny(path, "?\x00") || path == dsn && config.Foreign(dsn) || path != dsn && config.Confided(path) {
		return "", false
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil || !dir.IsDir() {
		return "", false
	}
	_, err = os.Stat(path)
	return kind, errors.Is(err, fs.ErrNotExist)
}

// sqlitePath returns the path in sqlite:path, sqlite:///path or file:path.
func sqlitePath(dsn string) string {
	for _, scheme := range []string{"sqlite:", "file:"} {
		if len(dsn) >= len(scheme) && strings.EqualFold(dsn[:len(scheme)], scheme) {
			return strings.TrimPrefix(dsn[len(scheme):], "//")
		}
	}
	return dsn
}
