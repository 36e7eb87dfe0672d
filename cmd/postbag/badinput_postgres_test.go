package main

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// dsnOf reads the DSN of a database.
func dsnOf(t *testing.T, at *place) *url.URL {
	t.Helper()
	text, err := os.ReadFile(at.where)
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

func TestBadDSNsOfPostgreSQLAreRefused(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	dsn := func(change func(*url.URL)) string {
		u := dsnOf(t, at)
		change(u)
		return "status --store-file " + write(t, "dsn", u.String())
	}
	option := func(name, value string) string {
		return dsn(func(u *url.URL) {
			q := u.Query()
			q.Set(name, value)
			u.RawQuery = q.Encode()
		})
	}
	text := func(dsn string) string { return "status --store-file " + write(t, "dsn", dsn) }
	port := dsnOf(t, at).Port()
	refuseAt(t, at, []badInput{
		{"a password", dsn(func(u *url.URL) { u.User = url.UserPassword("app", "wrong"+canary) }), "", exit.Usage, "correct user and password"},
		{"no password", dsn(func(u *url.URL) { u.User = url.User("app") }), "", exit.Usage, "correct user and password"},
		{"a user", dsn(func(u *url.URL) { u.User = url.UserPassword("nobody", canary) }), "", exit.Usage, "correct user and password"},
		{"a database", dsn(func(u *url.URL) { u.Path = "/nosuch" }), "", exit.Usage, "correct its name"},
		{"a host", dsn(func(u *url.URL) { u.Host = "no.such.host.invalid:" + port }), "", exit.Unavailable, "correct the host in the DSN"},
		{"a port", dsn(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "", exit.Unavailable, "look whether the server runs"},
		{"an invalid port", text("postgres://app:" + canary + "@127.0.0.1:99999/shop"), "", exit.Usage, "its port is no number between 1 and 65535"},
		{"TLS where there is none", option("sslmode", "verify-full"), "", exit.Failed, "choose another sslmode"},
		{"a mode of TLS", option("sslmode", canary), "", exit.Usage, "sslmode is none of disable"},
		{"an authority", text("postgres://app:" + canary + "@h/d?sslmode=verify-ca&sslrootcert=/no/such"), "", exit.Usage, "the file of sslrootcert cannot be read"},
		{"a certificate", text("postgres://app:" + canary + "@h/d?sslmode=require&sslcert=/no/such&sslkey=/no/such"), "", exit.Usage, "a file that it names cannot be read"},
		{"a parameter", option("no_such_parameter", canary), "", exit.Usage, "\"no_such_parameter\" (SQLSTATE 42704); correct the parameters in the DSN"},
		{"a parameter that only the server sets", option("shared_buffers", "1MB"), "", exit.Usage, "\"shared_buffers\" cannot be changed without restarting the server (SQLSTATE 55P02); correct the parameters in the DSN"},
		{"a value of a parameter", option("default_transaction_read_only", "maybe"), "", exit.Usage, "(SQLSTATE 22023); correct the parameters in the DSN"},
		{"a time-out", option("connect_timeout", canary), "", exit.Usage, "connect_timeout is no number"},
		{"a service", option("service", canary), "", exit.Usage, "its service"},
		{"a size of the pool", option("pool_max_conns", canary), "", exit.Usage, "a setting that begins with pool_"},
		{"a broken escape", text("postgres://app:%zz" + canary + "@h/d"), "", exit.Usage, "write it in percent-encoding"},
		{"a space", text("postgres://app:x " + canary + "@h/d"), "", exit.Usage, "write it in percent-encoding"},
		{"a broken keyword form", text("host=h password='" + canary), "", exit.Usage, "a quotation mark is not closed"},
		{"a quoted DSN", text(`"postgres://app:` + canary + `@h/d"`), "", exit.Usage, "does not tell the kind of store"},
		{"JDBC's form", text("jdbc:postgresql://h/d?user=app&password=" + canary), "", exit.Usage, "does not tell the kind of store"},
	})
}

func TestDatabasesThatCannotHoldABoxAreRefused(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	server := postgres.Server(t)
	name := strings.TrimPrefix(dsnOf(t, at).Path, "/")
	if _, err := server.Exec(t.Context(), name, `CREATE DATABASE "`+name+`_latin" ENCODING 'LATIN1' TEMPLATE template0`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.DropDatabase(context.Background(), name+"_latin"); err != nil {
			t.Error(err)
		}
	})
	latin := dsnOf(t, at)
	latin.Path += "_latin"
	cli(t, "migrate", "up", "--store-file", write(t, "dsn", latin.String())).
		ends(exit.Failed, "its encoding is LATIN1; make one with ENCODING 'UTF8'")
}

// A role that may only log in is told what it lacks by every command.
func TestRoleWithoutRightsIsToldWhatItLacks(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	dsn := dsnOf(t, at)
	role := strings.TrimPrefix(dsn.Path, "/") + "_guest"
	server := postgres.Server(t)
	if _, err := server.Exec(t.Context(), "postgres", `CREATE ROLE "`+role+`" LOGIN PASSWORD '`+canary+`'`); err != nil {
		t.Fatal(err)
	}
	dsn.User = url.UserPassword(role, canary)
	guest := write(t, "dsn", dsn.String())
	for _, args := range [][]string{
		{"status"},
		{"audit"},
		{"publish", "--payload", canary},
		{"messages", "list"},
		{"messages", "discard", "--all", "--why", "test"},
		{"shards", "set", "8", "--why", "test"},
		{"relay", "--to", "stdout:", "--drain"},
		{"migrate", "up", "--box", "orders"},
		{"migrate", "status"},
	} {
		cli(t, append(args, "--store-file", guest)...).ends(exit.Failed, "permission denied", "grant the role its rights")
	}
}

func TestADSNOfMariaDBWithAnUnknownParameterNamesIt(t *testing.T) {
	t.Parallel()
	at := emptyMariaDB(t)
	dsn := dsnOf(t, at)
	dsn.RawQuery = "no_such_parameter=" + canary
	cli(t, "status", "--store-file", write(t, "dsn", dsn.String())).
		ends(exit.Failed, "Unknown system variable 'no_such_parameter'; correct the parameters in the DSN")
}
