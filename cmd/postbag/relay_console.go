package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
)

// consolePool is how many connections the console of a relay has to a database: it asks two questions at a time.
const consolePool = 2

// adminConsole makes the console that the admin listener of a relay serves. It shows the stores of the workers, over connections
// of its own, which are opened when somebody looks: no search takes one from the relay. Call closeAll when nobody is served any
// more. Without admin.console the handler is nil.
func adminConsole(c *terminal.Terminal, file *config.File, workers []*worker, logger *slog.Logger) (h http.Handler, closeAll func() error, err error) {
	var shown consoleStores
	if !file.Admin.Console {
		return nil, shown.close, nil
	}
	if setting, mistake := file.AdminConsoleMistake(); mistake != "" {
		return nil, shown.close, exit.Usagef("%s %s", setting, mistake)
	}
	f := consoleFlags{settings: file.Console}
	f.settings.TLS = config.ConsoleTLS{} // the listener has none
	door, err := f.login(logger)
	if err != nil {
		return nil, shown.close, exit.With(exit.Usage, err)
	}
	o, stores := f.options(c), file.AllStores()
	for _, w := range workers {
		o.Databases = append(o.Databases, shown.later(cmp.Or(w.name, "store"), stores[w.name]))
	}
	h, err = behind(door, o)
	if err != nil {
		return nil, shown.close, exit.With(exit.Usage, fmt.Errorf("admin.console: %w", err))
	}
	return h, shown.close, nil
}

// later is a store that is opened when somebody looks, with few connections.
func (s *consoleStores) later(name string, where config.Store) console.Database {
	where.Create, where.MaxConns = false, consolePool
	return console.Database{Name: name, Open: func(ctx context.Context) (store.Store, error) { return s.open(ctx, where) }}
}
