package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/console/login"
	"github.com/postbag/postbag/console/login/oidc"
)

// login makes the login of the settings; nil: there is none.
func (f *consoleFlags) login(logger *slog.Logger) (*login.Login, error) {
	s := &f.settings
	if s.Access == "" {
		return nil, nil //nolint:nilnil // no login
	}
	access, err := login.Open(s.Access, logger)
	if err != nil {
		return nil, err
	}
	proxies, _ := s.Proxy.Proxies() // check has read them
	o := login.Options{
		Access: access, Headers: login.ProxyHeaders{User: s.Proxy.UserHeader, Groups: s.Proxy.GroupsHeader}, Proxies: proxies,
		OnlyProxies: len(proxies) > 0 && s.TLS.CertFile == "",
		Secure:      s.TLS.CertFile != "" || len(proxies) > 0, Idle: s.Idle, Absolute: s.Absolute, Logger: logger,
	}
	if s.OIDC.Issuer != "" {
		if o.Provider, err = provider(&s.OIDC); err != nil {
			return nil, err
		}
	}
	return login.New(o)
}

// provider makes the one that people log in at. It is asked at the first login.
func provider(s *config.ConsoleOIDC) (login.Provider, error) {
	o := oidc.Options{
		Issuer: s.Issuer, ClientID: s.ClientID, URL: s.URL, Scopes: s.Scopes, NameClaim: s.NameClaim, GroupsClaim: s.GroupsClaim,
	}
	if s.ClientSecretFile != "" {
		secret, err := config.FromEither("", s.ClientSecretFile)
		if err != nil {
			return nil, fmt.Errorf("console.oidc.client_secret_file: %w", err)
		}
		o.Secret = secret
	}
	return oidc.New(o)
}

// behind makes a console behind a login, if there is one; else it answers to loopback addresses alone. Run is what reads for it.
func behind(door *login.Login, o console.Options) (h http.Handler, run func(context.Context) error, err error) {
	if door != nil {
		o.Stranger = door.Stranger
	}
	c, err := console.New(o)
	if err != nil {
		return nil, nil, err
	}
	if door != nil {
		return door.Wrap(c), c.Run, nil
	}
	return console.Loopback(c), c.Run, nil
}

func newConsoleUserCommand(c *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "user NAME [GRANT...]",
		Short: "Print the line of a user for the access file of a console",
		Long: `Ask for a password, twice on a terminal, and print the line of the user for the access file of a
console. It has an argon2id hash of the password. A grant is viewer, operator, admin or payloads, and
where: viewer@shop/orders* is of the boxes of the database shop that begin with orders. Without a
place it is of all. Payloads is a right of its own, which no role has. Without a grant it is viewer.`,
		Example: `  postbag console user ann operator payloads@shop/orders >> access
  postbag console user ann admin < password-file >> access`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			grants, err := lineWords(args)
			if err != nil {
				return err
			}
			password, err := askPassword(c)
			if err != nil {
				return err
			}
			hash, err := login.Hash(password)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			line := "user " + args[0] + " " + hash + " " + strings.Join(grants, " ")
			if c.JSON {
				return c.Emit(map[string]string{"line": line})
			}
			c.Sayf("%s", line)
			return nil
		},
	}
}

// lineWords checks the name and the grants of a line for the access file, and returns the grants. Without one it is viewer.
func lineWords(args []string) (grants []string, err error) {
	if grants = args[1:]; len(grants) == 0 {
		grants = []string{"viewer"}
	}
	for _, text := range grants {
		if _, err := console.ParseGrant(text); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
	}
	if len(args[0]) > 256 || strings.Contains(args[0], "#") {
		return nil, exit.Usagef("the name has a #, or more than 256 bytes; choose another one")
	}
	for _, word := range args {
		if len(strings.Fields(word)) != 1 || strings.Fields(word)[0] != word || !utf8.ValidString(word) {
			return nil, exit.Usagef("%.80q is empty, has a space, or is no UTF-8; choose one without", word)
		}
	}
	return grants, nil
}

// askPassword reads a password: without echo and twice from a terminal, else the first line.
func askPassword(c *terminal.Terminal) (string, error) {
	in, isFile := c.In.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) {
		line, err := bufio.NewReader(c.In).ReadString('\n')
		if line == "" && err != nil {
			return "", exit.Usagef("there is no password; type it on a terminal, or give it on standard input")
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var typed [2]string
	for i, question := range []string{"Password: ", "Again: "} {
		_, _ = fmt.Fprint(c.Err, question)
		text, err := term.ReadPassword(int(in.Fd()))
		_, _ = fmt.Fprintln(c.Err)
		if err != nil {
			return "", exit.With(exit.Failed, fmt.Errorf("the password cannot be read: %w", err))
		}
		typed[i] = string(text)
	}
	if typed[0] != typed[1] {
		return "", exit.With(exit.Usage, errors.New("the two passwords are not the same; nothing was printed, try again"))
	}
	return typed[0], nil
}
