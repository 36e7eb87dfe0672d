package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
)

// consoleFlags say of which stores a console is served, and where.
type consoleFlags struct {
	store    storeFlags
	listen   string
	payloads bool
	log      config.Log // of the file
}

func newConsoleCommand(c *terminal.Terminal) *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve a page and a JSON API that show every box",
		Long: `Serve a page that shows every box, with what needs a look first, until told to stop. Below /api/v1 is
a JSON API that shows more; /api/v1/openapi.json describes it. Nothing is changed. With -c it shows
all stores of the file, or the one of --store-name. It needs the rights of a console (postbag grants --for console).

There is no login: every user of this machine can open it. So it listens on loopback addresses only.
From elsewhere use a tunnel, such as ssh -L 9292:127.0.0.1:9292 HOST. Payloads and headers of
messages are shown only with --payloads.`,
		Example: `  postbag console -c postbag.yaml
  postbag console --store-env DATABASE_URL --listen 8080`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			address, err := loopback(f.listen)
			if err != nil {
				return err
			}
			stores, err := f.stores()
			if err != nil {
				return err
			}
			o := f.options(c)
			for _, name := range slices.Sorted(maps.Keys(stores)) {
				where := stores[name]
				where.Create = false
				s, err := component.OpenStore(cmd.Context(), where, component.StoreOptions{})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, s.Close()) }()
				o.Databases = append(o.Databases, console.Database{Name: cmp.Or(name, "store"), Store: s.Store})
			}
			h, err := console.New(o)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return serveConsole(cmd.Context(), c, console.Loopback(h), address, newLogger(c, f.log))
		},
	}
	f.store.add(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:9292", "listen at this `address`, a loopback one; a bare port means 127.0.0.1")
	cmd.Flags().BoolVar(&f.payloads, "payloads", false, "show payloads and headers of messages to those who ask for them")
	return cmd
}

// loopback reads the address to listen at, and refuses one that other machines reach.
func loopback(listen string) (string, error) {
	address, mistake := config.ListenAddress(listen)
	if mistake != "" {
		return "", exit.Usagef("--listen %s", mistake)
	}
	if !console.LoopbackHost(address) {
		return "", exit.Usagef("--listen is no loopback address, and the console has no login; listen at 127.0.0.1, and open it from elsewhere through a tunnel, such as ssh -L")
	}
	return address, nil
}

// options are those of the console, without its databases.
func (f *consoleFlags) options(c *terminal.Terminal) console.Options {
	return console.Options{Payloads: f.payloads, Words: func(text string) string { return readable(c, text) }}
}

// stores returns those to show: all of the file, or the one that the flags name.
func (f *consoleFlags) stores() (map[string]config.Store, error) {
	if f.store.config.given() && f.store.count() == 1 && f.store.kind == "" {
		if err := f.store.config.check(); err != nil {
			return nil, err
		}
		file, err := f.store.config.read(false)
		if err != nil {
			return nil, err
		}
		f.log = file.Log
		if f.store.name == "" {
			return file.AllStores(), nil
		}
		one, err := f.store.pick(file)
		return map[string]config.Store{f.store.name: one}, err
	}
	one, err := f.store.where()
	return map[string]config.Store{f.store.name: one}, err
}

// serveConsole serves the console until ctx ends, and lets requests under way end for two seconds.
func serveConsole(ctx context.Context, c *terminal.Terminal, h http.Handler, address string, logger *slog.Logger) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return exit.With(exit.Failed, fmt.Errorf("the console cannot listen: %w; choose another address with --listen", err))
	}
	at := listener.Addr().String()
	if !console.LoopbackHost(at) { // a name that leads elsewhere
		return errors.Join(exit.Usagef("--listen leads to %s, which is no loopback address; listen at 127.0.0.1", at), listener.Close())
	}
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	c.Notef("the console is at http://%s/", at)
	select {
	case err := <-served:
		return exit.With(exit.Failed, err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close() // it ends what is under way
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return exit.With(exit.Failed, err)
	}
	return nil
}
