package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/crowd"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/protodecode"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
)

// consoleFlags say of which stores a console is served, where, and to whom.
type consoleFlags struct {
	store storeFlags
	flags *pflag.FlagSet
	// said are the settings that flags give; settings are those with what the file says of the others.
	said, settings config.Console
	log            config.Log // of the file
}

func newConsoleCommand(c *terminal.Terminal) *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve pages and a JSON API that show every box",
		Long: `Serve pages that show every box, with what needs a look first, until told to stop. Below /api/v1 is
the same as JSON; /api/v1/openapi.json describes it. With -c it shows all stores of the file, or the one
of --store-name. It changes nothing, and needs the rights of a console (postbag grants --for console). With
--commands operators can retry or discard a message, and pause or resume a subscription. Then it needs the
rights of an operator (postbag grants --for console --role operator).

Without --access there is no login: every user of this machine can open it. Then it listens on loopback
addresses only, and you use a tunnel from elsewhere, such as ssh -L 9292:127.0.0.1:9292 HOST.

--access names the file that says who has which rights. Another address than loopback needs it, and a
certificate, or --behind-proxy with the addresses of a proxy that browsers reach by https. A proxy's
header, and a provider of OpenID Connect, are set in the file (console:, see guides/console.md).
Payloads and headers of messages are shown only with --payloads.`,
		Example: `  postbag console -c postbag.yaml
  postbag console --store-env DATABASE_URL --listen 8080
  postbag console -c postbag.yaml --listen 0.0.0.0:9292 --access access --tls-cert cert.pem --tls-key key.pem`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			stores, err := f.stores()
			if err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			logger := newLogger(c, f.log)
			door, err := f.login(logger)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			o, err := f.options(c)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			var shown consoleStores
			defer func() { err = errors.Join(err, shown.close()) }()
			for _, name := range slices.Sorted(maps.Keys(stores)) {
				d, err := shown.database(cmd.Context(), c, cmp.Or(name, "store"), stores[name])
				if err != nil {
					return err
				}
				d.Named = name != ""
				o.Databases = append(o.Databases, d)
			}
			h, run, err := behind(door, o)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return beside(cmd.Context(), run, func(ctx context.Context) error { return f.serve(ctx, c, h, logger) })
		},
	}
	f.store.add(cmd)
	f.add(cmd.Flags())
	cmd.AddCommand(newConsoleUserCommand(c), newConsoleTokenCommand(c))
	return cmd
}

// beside does something while another thing runs, which it ends afterwards.
func beside(ctx context.Context, run, do func(context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	running := make(chan error, 1)
	go func() { running <- run(ctx) }()
	err := do(ctx)
	end()
	return errors.Join(err, <-running)
}

func (f *consoleFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.said.Listen, "listen", "", "listen at this `address`, a loopback one unless there is a login; a bare port means 127.0.0.1 (default 127.0.0.1:9292)")
	flags.BoolVar(&f.said.Payloads, "payloads", false, "show payloads and headers of messages to those who ask for them, and may see them")
	flags.BoolVar(&f.said.Commands, "commands", false, "take commands: retry or discard a message, pause or resume a subscription")
	flags.StringVar(&f.said.Access, "access", "", "the `file` that says who has which rights; everybody logs in")
	flags.StringVar(&f.said.TLS.CertFile, "tls-cert", "", "the `file` with the certificate, in PEM")
	flags.StringVar(&f.said.TLS.KeyFile, "tls-key", "", "the `file` with its key, in PEM")
	flags.StringSliceVar(&f.said.Proxy.Addresses, "behind-proxy", nil, "the `addresses` of the proxy that browsers reach by https, such as 10.1.2.3 or 10.1.0.0/16")
}

// join puts what flags say before what the file says.
func (f *consoleFlags) join(file config.Console) {
	said := &f.said
	file.Listen = cmp.Or(said.Listen, file.Listen, defaultConsole)
	if f.flags != nil && f.flags.Changed("payloads") {
		file.Payloads = said.Payloads
	}
	if f.flags != nil && f.flags.Changed("commands") {
		file.Commands = said.Commands
	}
	file.Access = cmp.Or(said.Access, file.Access)
	file.TLS.CertFile, file.TLS.KeyFile = cmp.Or(said.TLS.CertFile, file.TLS.CertFile), cmp.Or(said.TLS.KeyFile, file.TLS.KeyFile)
	if len(said.Proxy.Addresses) > 0 {
		file.Proxy.Addresses = said.Proxy.Addresses
	}
	f.settings = file
}

// defaultConsole is where a console listens if nobody says it: what the tag of the setting says.
const defaultConsole = "127.0.0.1:9292"

// check refuses settings that would open the console to everybody.
func (f *consoleFlags) check() error {
	s := &f.settings
	address, mistake := config.ListenAddress(s.Listen)
	if mistake != "" {
		return exit.Usagef("--listen %s", mistake)
	}
	s.Listen = address
	if setting, mistake := s.Mistake(); mistake != "" {
		return exit.Usagef("console.%s %s", setting, mistake)
	}
	return f.mayBeAt(address)
}

// mayBeAt refuses an address at which the console would be open to others, or passwords would.
func (f *consoleFlags) mayBeAt(address string) error {
	s := &f.settings
	if console.LoopbackHost(address) {
		return nil
	}
	if s.Access == "" {
		return exit.Usagef("--listen is no loopback address, and the console has no login; listen at 127.0.0.1 and open it from elsewhere through a tunnel, such as ssh -L, or give it a login with --access")
	}
	if s.TLS.CertFile == "" && len(s.Proxy.Addresses) == 0 {
		return exit.Usagef("--listen is no loopback address, and passwords would go there in the open; give --tls-cert and --tls-key, or --behind-proxy with the addresses of a proxy that browsers reach by https")
	}
	return nil
}

// options are those of the console, without its databases.
func (f *consoleFlags) options(c *terminal.Terminal) (console.Options, error) {
	sample, _ := f.settings.Sampling() // check has read it
	r := &f.settings.Redact
	o := console.Options{
		Sample: sample, Streams: crowd.Default().Streams(), TraceLink: f.settings.TraceLink,
		Payloads: f.settings.Payloads, Redact: console.Redact{Headers: r.Headers, JSON: r.JSON, ShowOther: r.Other == "show"},
		AuditPayloads: f.settings.AuditPayloads, Edits: f.settings.Edits,
		Commands: f.settings.Commands, Who: systemUser(), Words: func(text string) string { return readable(c, text) },
	}
	if p := f.settings.Prometheus; p.URL != "" {
		o.Prometheus = &console.Prometheus{URL: p.URL, Labels: p.Labels}
	}
	if f.settings.Descriptors == "" {
		return o, nil
	}
	d, err := protodecode.Open(f.settings.Descriptors, f.settings.MessageTypes)
	if err == nil {
		o.Decode = d.Decode
	}
	return o, err
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
		f.join(file.Console)
		if f.store.name == "" {
			return file.AllStores(), nil
		}
		one, err := f.store.pick(file)
		return map[string]config.Store{f.store.name: one}, err
	}
	f.join(config.Console{})
	one, err := f.store.where()
	return map[string]config.Store{f.store.name: one}, err
}

// serve serves the console until ctx ends, and lets requests under way end for two seconds.
func (f *consoleFlags) serve(ctx context.Context, c *terminal.Terminal, h http.Handler, logger *slog.Logger) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	scheme, serve := "http", server.Serve
	if f.settings.TLS.CertFile != "" {
		certificate, err := component.ServerCertificate(f.settings.TLS.CertFile, f.settings.TLS.KeyFile, func(err error) {
			logger.Error("the changed certificate of the console cannot be read; the one before stays", "error", err)
		})
		if err != nil {
			return exit.With(exit.Usage, fmt.Errorf("the certificate of the console cannot be read: %w", err))
		}
		server.TLSConfig = &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12}
		scheme, serve = "https", func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	listener, err := f.listen()
	if err != nil {
		return err
	}
	bounded := crowd.Default().Listen(server, listener)
	served := make(chan error, 1)
	go func() { served <- serve(bounded) }()
	c.Notef("the console is at %s://%s/", scheme, listener.Addr())
	return stop(ctx, server, served)
}

func (f *consoleFlags) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", f.settings.Listen)
	if err != nil {
		return nil, exit.With(exit.Failed, fmt.Errorf("the console cannot listen: %w; choose another address with --listen", err))
	}
	if err := f.mayBeAt(listener.Addr().String()); err != nil { // a name that leads elsewhere
		return nil, errors.Join(exit.Usagef("--listen leads to %s: %v", listener.Addr(), err), listener.Close())
	}
	return listener, nil
}

// stop waits until ctx ends, or serving does.
func stop(ctx context.Context, server *http.Server, served <-chan error) error {
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
