package component

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/pgstore"
)

// defaultConns is how many connections a relay has: a turn, a heartbeat, the
// parking lot and housekeeping can be under way at a time.
const defaultConns = 4

// wrongPart names the part of a DSN that cannot be read. pgx's own error may quote
// the DSN, and with it a password.
func wrongPart(err error) string {
	_, text, _ := strings.Cut(err.Error(), "`: ") // behind the DSN
	for _, part := range []struct{ says, name string }{
		{"invalid port", "port is no number of a port"},
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

// serverOf names the servers of a configuration by host and port, for errors.
func serverOf(c *pgx.ConnConfig) string {
	names := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, other := range c.Fallbacks {
		if name := net.JoinHostPort(other.Host, strconv.Itoa(int(other.Port))); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return "server " + strings.Join(names, " or ")
}

func openPostgres(ctx context.Context, dsn string, o StoreOptions) (*Store, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, exit.Usagef("store: the PostgreSQL DSN cannot be read%s; write it as host=... port=5432 dbname=... user=..., "+
			"or as a URL that begins with postgres://", wrongPart(err))
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "postbag"
	}
	c.MaxConns = defaultConns
	if o.MaxConns > 0 {
		c.MaxConns = int32(o.MaxConns)
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, exit.Usagef("store: the PostgreSQL DSN cannot be used; see that host, port and database are right")
	}
	po := pgstore.Options{Create: o.Create && !o.Unmigrated, Unmigrated: o.Unmigrated, Listen: o.Listen, OnFault: o.OnFault}
	if po.Create {
		po.Boxes = append([]string{}, o.Boxes...)
	}
	s, err := pgstore.Open(ctx, pool, po)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("%s: %w", serverOf(c.ConnConfig), err)
	}
	return &Store{
		Store: s, Inspector: s, Operator: s, Migrator: s, Publish: publisherOf(s),
		Adopt: &adopt.Postgres{Pool: pool, Store: s},
		Close: func() error {
			err := s.Close()
			pool.Close()
			return errors.Join(err)
		},
	}, nil
}
