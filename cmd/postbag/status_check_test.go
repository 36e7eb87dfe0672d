package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

// A monitor goes by the code, and a person by the one line.
func TestStatusCheckSaysWhatIsWrongAndEndsWithItsCode(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		check := []string{"status", "--check", at.flag, at.where}
		cli(t, "publish", at.flag, at.where, "--payload", "1").ok()
		cli(t, check...).ends(exit.Unhealthy, "postbag: box outbox has messages and no subscription; start a relay")

		relay := start(t, "relay", at.flag, at.where, "--to", "nats://127.0.0.1:1")
		await(t, "the destination is said to be away", func() bool { return strings.Contains(cli(t, check...).err, "the destination") })
		for range 10 { // it is tried again and again meanwhile
			o := cli(t, check...).ends(exit.Unhealthy, "postbag: the destination of outbox/default takes no messages, now for ", "the server cannot be reached")
			if strings.Count(o.err, "; ") > 1 || strings.Contains(o.err, "no relay") {
				t.Errorf("it finds more than that: %s", o.err)
			}
		}
		var v operations.Status
		cli(t, append(check, "--json")...).ends(exit.Unhealthy, "takes no messages").json(&v)
		if len(v.Boxes) != 1 {
			t.Errorf("the status is %+v", v)
		}
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d", code)
		}
		if o := cli(t, check...).ends(exit.Unhealthy); o.err != "postbag: no relay works outbox/default; start one\n" {
			t.Errorf("without a relay it says %q", o.err)
		}

		start(t, "relay", at.flag, at.where, "--to", "stdout:")
		await(t, "all is well", func() bool { return cli(t, check...).code == exit.OK })
		if o := cli(t, check...).ok().says("works "); o.err != "" {
			t.Errorf("all is well, and it says %q", o.err)
		}
		pause := []string{"subscriptions", "pause", at.flag, at.where}
		cli(t, pause...).ends(exit.Usage, "--why is missing")
		cli(t, append(pause, "--why", "test", "--subscription", "none")...).ends(exit.NotFound, "has no subscription none")
		cli(t, append(pause, "--why", "test")...).ok().says("outbox/default is paused")
		cli(t, check...).ends(exit.Unhealthy, "postbag: outbox/default is paused by ")
		cli(t, "publish", at.flag, at.where, "--payload", "held").ok()
		cli(t, "subscriptions", "resume", at.flag, at.where, "--why", "test").ok().says("outbox/default goes on")
		await(t, "all is well again", func() bool { return cli(t, check...).code == exit.OK })
		cli(t, "audit", at.flag, at.where).ok().says("resume outbox/default").says("pause outbox/default")
	})
}

// Where there was no box there was no time either: status was of 1970.
func TestStatusTellsTheTimeBeforeThereIsABox(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(*testing.T) *place{
		"sqlite": emptyFile, "postgresql": emptyDatabase, "mariadb": emptyMariaDB,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := empty(t)
			cli(t, "migrate", "up", at.flag, at.where).ok()
			var v operations.Status
			cli(t, "status", at.flag, at.where, "--json").ok().json(&v)
			if d := time.Since(v.Now); len(v.Boxes) != 0 || d < -time.Hour || d > time.Hour || v.Now.Location() != time.UTC {
				t.Errorf("of %d boxes it is %v", len(v.Boxes), v.Now)
			}
			watch := start(t, "status", at.flag, at.where, "--watch", "--every", "100ms")
			await(t, "there was a look", func() bool { return strings.Contains(watch.out.String(), "there is no box") })
			if text := watch.out.String(); !strings.HasPrefix(text, fmt.Sprintf("%d-", time.Now().UTC().Year())) {
				t.Errorf("a look begins with %.30q", text)
			}
		})
	}
}
