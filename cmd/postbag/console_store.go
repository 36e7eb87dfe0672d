package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
)

// consoleStores are the stores and replicas that a console has opened. It is safe for concurrent use.
type consoleStores struct {
	mu     sync.Mutex
	opened []io.Closer
}

// database opens a store to be shown. One that does not answer is opened when somebody looks
// at it. All else that keeps it from being opened is an error.
func (s *consoleStores) database(ctx context.Context, c *terminal.Terminal, name string, where config.Store) (console.Database, error) {
	where.Create = false
	d := s.withReplica(name, where)
	if err := s.tryReplica(ctx, c, &d); err != nil {
		return d, err
	}
	opened, err := s.open(ctx, where)
	switch {
	case err == nil:
		d.Store = opened
		return d, nil
	case exit.Of(err) != exit.Unavailable || ctx.Err() != nil:
		return console.Database{}, err
	}
	c.Notef("store %s: %s; it is tried again when somebody looks", name, readable(c, err.Error()))
	d.Open = func(ctx context.Context) (store.Store, error) { return s.open(ctx, where) }
	return d, nil
}

// withReplica is a database that has nothing yet but the name and the replica that is named for it.
func (s *consoleStores) withReplica(name string, where config.Store) console.Database {
	d := console.Database{Name: name}
	if where.Replica.Given() {
		d.ReplicaLag = where.Replica.MaxLag
		d.Replica = func(ctx context.Context) (store.Reader, error) { return s.openReplica(ctx, where) }
	}
	return d
}

// tryReplica opens the replica, if there is one, and keeps it. Only a setting that is wrong is an error: what is away, or promoted,
// is tried again when somebody looks.
func (s *consoleStores) tryReplica(ctx context.Context, c *terminal.Terminal, d *console.Database) error {
	if d.Replica == nil {
		return nil
	}
	r, err := d.Replica(ctx)
	switch {
	case err == nil:
		d.Replica = func(context.Context) (store.Reader, error) { return r, nil }
	case exit.Of(err) == exit.Usage || ctx.Err() != nil:
		return err
	default:
		c.Notef("store %s: its replica is not read: %s; it is tried again when somebody looks", d.Name, readable(c, err.Error()))
	}
	return nil
}

func (s *consoleStores) openReplica(ctx context.Context, where config.Store) (store.Reader, error) {
	r, err := component.OpenReplica(ctx, where)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, r)
	return r, nil
}

func (s *consoleStores) open(ctx context.Context, where config.Store) (store.Store, error) {
	opened, err := component.OpenStore(ctx, where, component.StoreOptions{})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, closing(opened.Close))
	return opened.Store, nil
}

// closing is an io.Closer of a function.
type closing func() error

// Close calls it.
func (c closing) Close() error { return c() }

func (s *consoleStores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, opened := range s.opened {
		errs = append(errs, opened.Close())
	}
	return errors.Join(errs...)
}
