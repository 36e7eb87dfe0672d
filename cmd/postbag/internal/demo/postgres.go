package demo

import (
	"context"
	"errors"

	"github.com/postbag/postbag/store"
)

var errNoPostgres = errors.New("demo: this build holds no PostgreSQL store; run it without --postgres")

func openPostgres(context.Context, string) (*database, error) { return nil, errNoPostgres }

func openPostgresStore(context.Context, string) (store.Store, func() error, error) {
	return nil, nil, errNoPostgres
}
