package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/postbag/postbag/console"
)

// startConsole serves the console of the shop's database on a free port of this machine.
func (s *scene) startConsole(ctx context.Context, shop *database) error {
	box, closeStore, err := openStore(ctx, shop.setting)
	if err != nil {
		return err
	}
	s.later(closeStore)
	h, err := console.New(console.Options{
		Databases: []console.Database{{Name: "shop", Store: box}},
		Payloads:  true, Commands: true, Who: "somebody at the demo",
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("demo: the console cannot listen: %w", err)
	}
	server := &http.Server{Handler: console.Loopback(h), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute}
	served, running := make(chan error, 1), make(chan error, 1)
	ctx, end := context.WithCancel(ctx)
	go func() { served <- server.Serve(listener) }()
	go func() { running <- h.Run(ctx) }()
	s.later(func() error {
		end()
		err := errors.Join(server.Close(), <-running)
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	})
	s.console = fmt.Sprintf("http://%s/", listener.Addr())
	s.screen.sayf("the console is at %s", s.console)
	return nil
}

// stay keeps what runs while somebody looks at the console.
func (s *scene) stay(ctx context.Context) {
	if s.console == "" {
		return
	}
	s.screen.sayf("relay and console go on, see %s; end with Ctrl-C", s.console)
	<-ctx.Done()
}
