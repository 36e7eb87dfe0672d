package main

import (
	"context"
	"errors"
	"sync"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
)

// consoleStores are the stores that a console has opened. It is safe for concurrent use.
type consoleStores struct {
	mu     sync.Mutex
	opened []*component.Store
}

// database opens a store to be shown. One that does not answer is opened when somebody looks
// at it. All else that keeps it from being opened is an error.
func (s *consoleStores) database(ctx context.Context, c *terminal.Terminal, name string, where config.Store) (console.Database, error) {
	where.Create = false
	opened, err := s.open(ctx, where)
	switch {
	case err == nil:
		return console.Database{Name: name, Store: opened}, nil
	case exit.Of(err) != exit.Unavailable || ctx.Err() != nil:
		return console.Database{}, err
	}
	c.Notef("store %s: %s; it is tried again when somebody looks", name, readable(c, err.Error()))
	return console.Database{Name: name, Open: func(ctx context.Context) (store.Store, error) { return s.open(ctx, where) }}, nil
}

func (s *consoleStores) open(ctx context.Context, where config.Store) (store.Store, error) {
	opened, err := component.OpenStore(ctx, where, component.StoreOptions{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, opened)
	return opened.Store, nil
}

func (s *consoleStores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, opened := range s.opened {
		errs = append(errs, opened.Close())
	}
	return errors.Join(errs...)
}
