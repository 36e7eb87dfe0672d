package main

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// severalStores is a configuration of two databases that are there, and of one that is not.
func severalStores(t *testing.T, away string) string {
	t.Helper()
	dir := t.TempDir()
	third := fmt.Sprintf("  third: {dsn: %q, create: true}\n", filepath.Join(dir, "third.db"))
	if away != "" {
		third = fmt.Sprintf("  third: {dsn: 'postgres://%s/shop?connect_timeout=2'}\n", away)
	}
	return write(t, "postbag.yaml", fmt.Sprintf(`
stores:
  first: {dsn: %q, create: true}
  second: {dsn: %q, create: true}
%sdestinations: {out: {stdout: {}}}
subscriptions: [{store: first}, {store: second}, {store: third}]
admin: {listen: "0"}
`, filepath.Join(dir, "first.db"), filepath.Join(dir, "second.db"), third))
}

func TestOneRelayWorksSeveralStores(t *testing.T) {
	t.Parallel()
	path := severalStores(t, "")
	cli(t, "config", "check", "-c", path).ok().says("first: outbox/default goes to out", "second: outbox/default goes to out")
	relay := start(t, "relay", "-c", path)
	await(t, "all stores are opened", func() bool { return strings.Count(relay.err.String(), "begins to deliver") == 3 })
	for _, name := range []string{"first", "second", "third"} {
		cliWith(t, "hello from "+name, "publish", "-c", path, "--store-name", name, "--topic", "greetings").ok()
	}
	await(t, "the messages of all are delivered", func() bool { return strings.Count(relay.out.String(), "hello from ") == 3 })
	if code := relay.end(); code != exit.OK {
		t.Fatalf("the relay ended with %d:\n%s", code, relay.err.String())
	}
	cli(t, "status", "-c", path).ends(exit.Usage, "has several stores; name one with --store-name: first, second, third")
	cli(t, "status", "-c", path, "--store-name", "fourth").ends(exit.Usage, "name one with --store-name")
	cli(t, "status", "--store", "x.db", "--store-name", "first").ends(exit.Usage, "--store-name goes with -c")
}

func TestAStoreThatIsDownAtTheStartDelaysNoOther(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := severalStores(t, nobody)
	relay := start(t, "relay", "-c", path)
	await(t, "the others are opened", func() bool { return strings.Count(relay.err.String(), "begins to deliver") == 2 })
	cliWith(t, "hello from second", "publish", "-c", path, "--store-name", "second", "--topic", "greetings").ok()
	await(t, "a message is delivered", func() bool { return strings.Contains(relay.out.String(), "hello from second") })
	address := adminAddress(t, relay)
	defer http.DefaultClient.CloseIdleConnections()
	code, body := fetch(t, "http://"+address+"/readyz")
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "the store third does not answer") {
		t.Errorf("/readyz says %d %q", code, body)
	}
	_, body = fetch(t, "http://"+address+"/metrics")
	for _, want := range []string{`postbag_store_up{store="third"} 0`, `postbag_store_up{store="second"} 1`} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics has no line %s:\n%s", want, body)
		}
	}
	if code := relay.end(); code != exit.OK {
		t.Fatalf("the relay ended with %d:\n%s", code, relay.err.String())
	}
}
