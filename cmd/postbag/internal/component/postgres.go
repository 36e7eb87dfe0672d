package component

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store/pgstore"
)

// wrongPart names the part of a DSN that cannot be read. pgx's own error may quote
// the DSN, and with it a password.
func wrongPart(dsn string, err error) string {
	if fault := urlFault(dsn); fault != "" {
		return ": " + fault
	}
	_, text, _ := strings.Cut(err.Error(), "`: ") // behind the DSN
	for _, part := range []struct{ says, name string }{
		{"invalid port", "its port is no number between 1 and 65535"},
		{"unterminated quoted string", "a quotation mark is not closed; write one inside a value as \\'"},
		{"invalid keyword/value", "it is not made of keyword=value pairs"},
		{"invalid backslash", "it ends in a backslash"},
		{"invalid connect_timeout", "connect_timeout is no number of seconds"},
		{"sslmode is invalid", "sslmode is none of disable, allow, prefer, require, verify-ca and verify-full"},
		{"unable to read CA file", "the file of sslrootcert cannot be read"},
		{"unable to read", "a file that it names cannot be read"},
		{"configure TLS", "one of sslmode, sslrootcert, sslcert and sslkey is wrong"},
		{"failed to read service", "its service is not in the service file"},
		{"pool_", "a setting that begins with pool_ is wrong"},
	} {
		if strings.Contains(text, part.says) {
			return ": " + part.name
		}
	}
	return ""
}

// serverOf names the servers of a configuration by host and port, or by socket, for errors.
func serverOf(dsn string, c *pgx.ConnConfig) string {
	names := []string{addressOf(c.Host, c.Port)}
	for _, other := range c.Fallbacks {
		if name := addressOf(other.Host, other.Port); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	text := "server " + strings.Join(names, " or ")
	if namesHost(dsn) {
		return text
	}
	if os.Getenv("PGHOST") != "" {
		return text + ", which is that of PGHOST, since the DSN names no host"
	}
	return text + ", which is the default, since the DSN names no host"
}

// addressOf is where a server listens: at a port, or at a socket in a folder.
func addressOf(host string, port uint16) string {
	if network, address := pgconn.NetworkAddress(host, port); network == "unix" {
		return "at the socket " + address
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// hostKeyword finds what says where the server is, in the form of keywords and in a URL's query.
var hostKeyword = regexp.MustCompile(`(?i)(^|[\s?&])(host|service)\s*=\s*[^\s&]`)

// hostlessURL is the beginning of a URL with nothing between user and path.
var hostlessURL = regexp.MustCompile(`^[A-Za-z]+://([^/?#@]*@)?(:[0-9]*)?([/?#]|$)`)

// namesHost says whether a DSN, or the service that it or the environment names, says where the server is.
func namesHost(dsn string) bool {
	if strings.Contains(dsn, "://") && !hostlessURL.MatchString(dsn) {
		return true
	}
	return hostKeyword.MatchString(dsn) || os.Getenv("PGSERVICE") != ""
}

// badParameter says that the server began no session for a parameter of the DSN, which it
// does not know, whose value it does not take, or which no session may set. A store's error
// does not tell: it hides what a driver says.
func badParameter(err error) bool {
	var session *pgconn.ConnectError
	var refused *pgconn.PgError
	return errors.As(err, &session) && errors.As(err, &refused) &&
		slices.Contains([]string{"42704", "22023", "55P02"}, refused.Code)
}

const postgresForms = "host=... port=5432 dbname=... user=..., or as a URL that begins with postgres://"

// postgresPool is a pool of connections, and how its servers are named in errors.
func postgresPool(ctx context.Context, dsn string, o StoreOptions) (pool *pgxpool.Pool, server string, err error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, "", exit.Usagef("the PostgreSQL DSN cannot be read%s; write it as %s", wrongPart(dsn, err), postgresForms)
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "postbag"
	}
	if strings.Contains(c.ConnConfig.Host, "@") { // pgx ends the password at the first, and takes the rest for the host
		return nil, "", exit.Usagef("the PostgreSQL DSN cannot be read: %s; write it as %s", mustEncode, postgresForms)
	}
	c.MaxConns = int32(o.MaxConns)
	if pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, "", exit.Usagef("the PostgreSQL DSN cannot be used; see that host, port and database are right")
	}
	return pool, serverOf(dsn, c.ConnConfig), nil
}

// postgresError is that of a server which was not opened. It closes the pool.
func postgresError(ctx context.Context, pool *pgxpool.Pool, server string, err error) error {
	defer pool.Close()
	err = fmt.Errorf("%s: %w", server, err)
	if badParameter(pool.Ping(ctx)) {
		return exit.With(exit.Usage, err)
	}
	return err
}

// readPostgres opens a hot standby.
func readPostgres(ctx context.Context, dsn string, o StoreOptions) (*Reader, error) {
	pool, server, err := postgresPool(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	r, err := pgstore.OpenReader(ctx, pool, pgstore.Options{SQLComments: o.Comments, OnFault: o.OnFault})
	if err != nil {
		return nil, postgresError(ctx, pool, server, err)
	}
	return &Reader{r, func() error {
		pool.Close()
		return nil
	}}, nil
}

func openPostgres(ctx context.Context, dsn string, o StoreOptions) (*Store, error) {
	pool, server, err := postgresPool(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	po := pgstore.Options{Create: o.Create && !o.Unmigrated, Unmigrated: o.Unmigrated, Listen: o.Listen, SQLComments: o.Comments, Slots: o.Slots, OnFault: o.OnFault}
	if po.Create {
		po.Boxes = append([]string{}, o.Boxes...)
	}
	s, err := pgstore.Open(ctx, pool, po)
	if err != nil {
		return nil, postgresError(ctx, pool, server, err)
	}
	return &Store{
		Store: s, Inspector: s, Operator: s, Migrator: s, Publish: publisherOf(s), Receive: receiverOf(s), Positions: positionsOf(s),
		Adopt: &adopt.Postgres{Pool: pool, Store: s},
		Close: func() error {
			err := s.Close()
			pool.Close()
			return errors.Join(err)
		},
	}, nil
}
