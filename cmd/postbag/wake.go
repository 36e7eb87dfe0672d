package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// wakeFlags say which relays are woken, and for what.
type wakeFlags struct {
	config configFlags
	admin  []string
	box    string
	store  string
}

// wakeTimeout bounds the call of one relay.
const wakeTimeout = 5 * time.Second

func newWakeCommand(c *terminal.Terminal) *cobra.Command {
	var f wakeFlags
	cmd := &cobra.Command{
		Use:   "wake",
		Short: "Have relays look for new messages now",
		Long: `Let relays look for new messages now, through their admin listeners. Use it for programs
whose INSERTs no relay hears of: an idle relay looks every second, or as seldom as poll
says. Run it after the commit, and for each relay: any of them may own the message's shard.
A program can also call the listener itself: POST /wake?box=NAME. If a wake is lost, the
message waits for the next poll. Many wakes cost the database no more than a busy box.`,
		Example: `  postbag wake -c postbag.yaml
  postbag wake --admin relay-1:9090 --admin relay-2:9090 --box orders`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			addresses, err := f.addresses()
			if err != nil {
				return err
			}
			return f.wakeAll(cmd.Context(), c, addresses)
		},
	}
	f.config.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.admin, "admin", nil, "the `address` of a relay's admin listener, once for each; a bare port means loopback")
	flags.StringVar(&f.box, "box", "", "the `box` that has new messages; all of them when left out")
	flags.StringVar(&f.store, "store-name", "", "which of a relay's stores, if it has several: its `name`")
	return cmd
}

// addresses returns where the relays listen.
func (f *wakeFlags) addresses() ([]string, error) {
	if f.box != "" {
		if err := boxName(f.box); err != nil {
			return nil, err
		}
	}
	if err := f.config.check(); err != nil {
		return nil, err
	}
	switch {
	case !f.config.given() && len(f.admin) == 0:
		return nil, exit.Usagef("no relay is named; pass -c FILE, which has its admin.listen, or --admin ADDRESS")
	case f.config.given() && len(f.admin) > 0:
		return nil, exit.Usagef("-c and --admin are both given; keep one")
	}
	if f.config.given() {
		file, err := f.config.read(false)
		if err != nil {
			return nil, err
		}
		if file.Admin.Listen == "" {
			return nil, exit.Usagef("%s has no admin.listen, so its relay cannot be called; set it and restart the relay", &f.config)
		}
		return []string{file.Admin.Listen}, nil
	}
	var all []string
	for _, text := range f.admin {
		address, mistake := config.ListenAddress(text)
		if mistake != "" {
			return nil, exit.Usagef("--admin %s", mistake)
		}
		all = append(all, address)
	}
	return all, nil
}

// wakeAll wakes every relay that it can, and says which it could not.
func (f *wakeFlags) wakeAll(ctx context.Context, c *terminal.Terminal, addresses []string) error {
	client := &http.Client{
		Timeout: wakeTimeout, Transport: &http.Transport{}, // no proxy: relays are near
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	var errs []error
	woken := []string{}
	for _, address := range addresses {
		if err := f.wake(ctx, client, address); err != nil {
			errs = append(errs, err)
			continue
		}
		woken = append(woken, address)
	}
	if c.JSON {
		errs = append(errs, c.Emit(map[string][]string{"woken": woken}))
	} else if len(woken) > 0 {
		c.Sayf("woken: %s", strings.Join(woken, ", "))
	}
	return errors.Join(errs...)
}

// wake wakes the relay at one address.
func (f *wakeFlags) wake(ctx context.Context, client *http.Client, address string) error {
	query := url.Values{}
	if f.box != "" {
		query.Set("box", f.box)
	}
	if f.store != "" {
		query.Set("store", f.store)
	}
	where := url.URL{Scheme: "http", Host: address, Path: "/wake", RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, where.String(), http.NoBody)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return exit.With(exit.Unavailable, fmt.Errorf("no relay answers at %s: %w; name the address of its admin.listen or --admin", address, err))
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<10))
	switch response.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusNotFound:
		return exit.With(exit.NotFound, fmt.Errorf("the relay at %s has no subscription of that box, or does not know wakes; name a box that it reads, or leave --box out", address))
	default:
		return exit.With(exit.Failed, fmt.Errorf("what listens at %s answered %s; name the address of a relay's admin.listen or --admin", address, response.Status))
	}
}
