package testserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Exec runs SQL as the superuser in a database, through psql, each statement by itself, and returns the rows as text:
// one a line, columns separated by "|". It is for setting up and looking at a server, not for speed (20 ms).
func (p *Postgres) Exec(ctx context.Context, database, sql string) (string, error) {
	out, err := command{
		name: "psql", path: p.programs.path("psql"), input: sql,
		args: []string{"--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--set=ON_ERROR_STOP=1"},
		env:  append(p.clientEnv(), "PGDATABASE="+database),
	}.run(ctx)
	return strings.TrimRight(out, "\n"), err
}

// clientEnv lets PostgreSQL's own client programs find the server; a password in an argument could be seen by all.
func (p *Postgres) clientEnv() []string {
	return []string{
		"PGHOST=127.0.0.1", "PGPORT=" + strconv.Itoa(p.port), "PGUSER=postgres", "PGPASSWORD=" + p.password,
		"PGCONNECT_TIMEOUT=10",
	}
}

// CreateDatabase makes an empty database. Its name is quoted and may hold anything.
func (p *Postgres) CreateDatabase(ctx context.Context, name string) error {
	return p.CopyDatabase(ctx, name, "template1")
}

// CopyDatabase makes a database that begins as a copy of another, which must have no session.
func (p *Postgres) CopyDatabase(ctx context.Context, name, of string) error {
	sql := "CREATE DATABASE " + quoteIdentifier(name) + " TEMPLATE " + quoteIdentifier(of)
	if p.opts.NoSync && p.programs.major() >= 15 {
		sql += " STRATEGY file_copy" // a checkpoint and a copy of files, cheap without fsync; the other way writes each page to the WAL
	}
	_, err := p.Exec(ctx, "postgres", sql)
	return err
}

// DropDatabase removes a database and ends the sessions in it. One that does not exist is no error.
func (p *Postgres) DropDatabase(ctx context.Context, name string) error {
	_, err := p.Exec(ctx, "postgres", fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", quoteIdentifier(name)))
	return err
}

// Set changes one setting of the running server (ALTER SYSTEM) and reloads; those that need a restart wait for one.
func (p *Postgres) Set(ctx context.Context, name, value string) error {
	_, err := p.Exec(ctx, "postgres", fmt.Sprintf("ALTER SYSTEM SET %s = %s; SELECT pg_reload_conf()",
		quoteIdentifier(name), quoteLiteral(value)))
	return err
}

func quoteIdentifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteLiteral(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
