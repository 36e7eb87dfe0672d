package main

import (
	"context"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestAReplicaThatCannotBeIsAMistake(t *testing.T) {
	t.Parallel()
	for want, settings := range map[string]string{
		"store.replica is not for sqlite":            "{dsn: a.db, replica: {dsn: b.db}}",
		"store.replica names no place":               "{dsn: 'postgres://a/b', replica: {max_lag: 1m}}",
		"store.replica names 2 places":               "{dsn: 'postgres://a/b', replica: {dsn_env: A, dsn_file: /run/b}}",
		"store.replica.dsn holds a password":         "{dsn: 'postgres://a/b', replica: {dsn: 'postgres://a:b@c/d'}}",
		"store.replica.max_lag is 1s":                "{dsn: 'postgres://a/b', replica: {dsn: 'postgres://c/b', max_lag: 1s}}",
		`there is no setting "lag" in store.replica`: "{dsn: 'postgres://a/b', replica: {dsn: 'postgres://c/b', lag: 1s}}",
		"store.replica.dsn_env is no name of an ":    "{dsn: 'postgres://a/b', replica: {dsn_env: 'postgres://c'}}",
	} {
		path := write(t, "postbag.yaml", "store: "+settings+"\ndestinations: {out: {stdout: {}}}\n")
		cli(t, "config", "check", "-c", path).ends(exit.Usage, want)
	}
}

// A console with the rights that are printed for it reads from a standby, and from the primary while that is away. It
// begins without one, too.
func TestAConsoleReadsFromAReplica(t *testing.T) {
	t.Parallel()
	primary := servertest.Postgres(t, testserver.PostgresOptions{NoSync: true})
	standby := servertest.Standby(t, primary, testserver.StandbyOptions{Postgres: testserver.PostgresOptions{NoSync: true}})
	owner := write(t, "owner", primary.DSN("postgres"))
	cli(t, "migrate", "up", "--store-file", owner, "--box", "outbox").ok()
	cliWith(t, "the payload", "publish", "--store-file", owner, "--topic", "one").ok()
	cli(t, "status", "--store-file", owner).ok() // as a relay does, it begins a life of the database, which a console cannot
	grants := cli(t, "grants", "watcher", "--store-kind", "postgresql", "--for", "console").ok().out
	for _, sql := range []string{"CREATE ROLE watcher LOGIN PASSWORD '" + canary + "'", grants} {
		if _, err := primary.Exec(context.Background(), "postgres", sql); err != nil {
			t.Fatal(err)
		}
	}
	store := func(replica string) string {
		return write(t, "postbag.yaml", "store: {dsn_file: "+write(t, "dsn", primary.DSNAs("watcher", canary, "postgres"))+", replica: {dsn_file: "+write(t, "replica", replica)+"}}\ndestinations: {out: {stdout: {}}}\n")
	}
	path := store(standby.DSNAs("watcher", canary, "postgres"))
	served := start(t, "console", "-c", path, "--listen", "0")
	root := consoleAddress(t, served)
	read := func() *console.ReadFrom {
		return consoleAnswer[console.Overview](t, root+"/api/v1/overview").Databases[0].Read
	}
	await(t, "the replica is read", func() bool {
		from := read()
		return from != nil && from.From == "replica"
	})
	await(t, "the box is shown", func() bool {
		_, page := fetch(t, root+"/databases/store/boxes/outbox")
		o := consoleAnswer[console.Overview](t, root+"/api/v1/overview")
		return strings.Contains(page, "ago, from the replica.") && len(o.Databases[0].Boxes) == 1 && o.Databases[0].Boxes[0].Messages == 1
	})
	if err := standby.Kill(context.Background()); err != nil {
		t.Fatal(err)
	}
	await(t, "the primary is read", func() bool {
		from := read()
		return from != nil && from.From == "primary" && from.Why == "the replica does not answer"
	})
	if code := served.end(); code != exit.OK {
		t.Errorf("the console ended with %d", code)
	}
	again := start(t, "console", "-c", path, "--listen", "0")
	root = consoleAddress(t, again)
	if from := read(); from == nil || from.From != "primary" {
		t.Errorf("without a replica it reads from %+v", from)
	}
	if text := again.err.String(); !strings.Contains(text, "store store: its replica is not read: ") || strings.Contains(text, canary) {
		t.Errorf("it says %s", text)
	}
	// One that is none: the primary itself.
	other := start(t, "console", "-c", store(primary.DSNAs("watcher", canary, "postgres")), "--listen", "0")
	root = consoleAddress(t, other)
	if from := read(); from == nil || from.Why != "what is named as the replica is none, or was promoted" {
		t.Errorf("of a primary it says %+v", from)
	}
	cli(t, "console", "-c", store("host=127.0.0.1 port=99999 dbname=a"), "--listen", "0").ends(exit.Usage, "store.replica.dsn_file")
}
