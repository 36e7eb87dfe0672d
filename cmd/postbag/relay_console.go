package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
)

// consolePool is how many connections the console of a relay has to a database: it asks two questions at a time.
const consolePool = 2

// adminPages are the console that the admin listener of a relay serves.
type adminPages struct {
	http.Handler // nil: it serves none

	shown   consoleStores
	cancel  context.CancelFunc
	running chan error
}

// adminConsole makes and runs the console of a relay. It shows the stores of the workers, over connections of its own, which are
// opened when somebody looks: no search takes one from the relay. It takes samples only if they are asked for: there may be many relays.
func adminConsole(ctx context.Context, c *terminal.Terminal, file *config.File, workers []*worker, logger *slog.Logger) (*adminPages, error) {
	p := &adminPages{}
	if !file.Admin.Console {
		return p, nil
	}
	if setting, mistake := file.AdminConsoleMistake(); mistake != "" {
		return nil, exit.Usagef("%s %s", setting, mistake)
	}
	f := consoleFlags{settings: file.Console}
	f.settings.TLS = config.ConsoleTLS{} // the listener has none
	f.settings.Sample = cmp.Or(f.settings.Sample, "off")
	door, err := f.login(logger)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	o, err := f.options(c)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	stores := file.AllStores()
	for _, w := range workers {
		d := p.shown.later(cmp.Or(w.name, "store"), stores[w.name])
		d.Named = w.name != "" // the others may be another relay's
		o.Databases = append(o.Databases, d)
	}
	h, run, err := behind(door, o)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("admin.console: %w", err))
	}
	ctx, cancel := context.WithCancel(ctx)
	p.Handler, p.cancel, p.running = h, cancel, make(chan error, 1)
	go func() { p.running <- run(ctx) }()
	return p, nil
}

// consoleMayBeAt says of the address at which the admin listener is why the console must not be served there.
func consoleMayBeAt(file *config.File) func(net.Addr) error {
	return func(bound net.Addr) error {
		if setting, mistake := file.AdminConsoleMistakeAt(bound.String()); mistake != "" {
			return exit.Usagef("%s %s; admin.listen leads to %s", setting, mistake, bound)
		}
		return nil
	}
}

// end ends the streams of open pages, so that the listener can close.
func (p *adminPages) end() error {
	if p.cancel == nil {
		return nil
	}
	p.cancel()
	p.cancel = nil
	return <-p.running
}

// close closes the stores. Call it when nobody is served any more.
func (p *adminPages) close() error { return errors.Join(p.end(), p.shown.close()) }

// later is a store that is opened when somebody looks, with few connections.
func (s *consoleStores) later(name string, where config.Store) console.Database {
	where.Create, where.MaxConns = false, consolePool
	d := s.withReplica(name, where)
	d.Open = func(ctx context.Context) (store.Store, error) { return s.open(ctx, where) }
	return d
}
