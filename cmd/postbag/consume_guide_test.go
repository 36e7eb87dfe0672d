package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// What the guide of bridges says is done word by word, with the addresses of servers that run here.
func TestTheGuideOfBridgesDoesWhatItSays(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "bridge.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, yaml, _ := strings.Cut(string(page), "```yaml\n")
	yaml, _, found := strings.Cut(yaml, "```\n")
	if !found {
		t.Fatal("the guide has no configuration")
	}
	s, redis, at := twoStreams(t), servertest.Redis(t, testserver.RedisOptions{}), emptyDatabase(t)
	t.Setenv("DATABASE_URL", dsnOf(t, at).String())
	for said, is := range map[string]string{
		"nats://127.0.0.1:4222": s.server.URL(), "stream: ORDERS": "stream: in", "127.0.0.1:6379": redis.Addr(), "127.0.0.1:9090": "127.0.0.1:0",
	} {
		if !strings.Contains(yaml, said) {
			t.Fatalf("the guide does not say %s", said)
		}
		yaml = strings.ReplaceAll(yaml, said, is)
	}
	file := write(t, "postbag.yaml", strings.ReplaceAll("\n"+yaml, "\n   ", "\n"))
	cli(t, "migrate", "up", "--store-env", "DATABASE_URL", "--box", "inbox").ok()
	cli(t, "config", "check", "-c", file).ok().says("source orders (nats) goes into inbox", "inbox/default goes to events")
	s.publish(0, 50)
	bridge := start(t, "relay", "-c", file)
	await(t, "all are delivered", func() bool {
		return strings.Contains(scrape(t, bridge, "/metrics"), `postbag_messages_delivered_total{box="inbox",subscription="default"} 50`)
	})
	if n, err := redis.Do(t.Context(), "XLEN", "in.orders"); err != nil || n != "50" {
		t.Errorf("Redis holds %s messages (%v), want 50", n, err)
	}
	if text := scrape(t, bridge, "/readyz"); text != "ready\n" {
		t.Errorf("/readyz says %q", text)
	}
	cli(t, "status", "-c", file).ok().says("inbox")
	if code := bridge.end(); code != exit.OK {
		t.Errorf("the bridge ended with %d", code)
	}
}
