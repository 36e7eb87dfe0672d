package main

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
)

// A box's table that is renamed away, and the loss of a right, end no relay. The log said
// when they began; that they were over it said of some only.
func TestTheLogSaysWhenADroppedTableExistsAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ away, back string }{
		"log":    {`ALTER TABLE postbag.outbox RENAME TO gone`, `ALTER TABLE postbag.gone RENAME TO outbox`},
		"parked": {`ALTER TABLE postbag._parked RENAME TO gone`, `ALTER TABLE postbag.gone RENAME TO _parked`},
		"rights": {`REVOKE SELECT ON postbag.outbox FROM app`, `GRANT SELECT ON postbag.outbox TO app`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := emptyDatabase(t)
			cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
			dsn, err := os.ReadFile(at.where)
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(strings.TrimSpace(string(dsn)))
			if err != nil {
				t.Fatal(err)
			}
			exec := func(text string) {
				t.Helper()
				if _, err := postgres.Server(t).Exec(context.Background(), strings.TrimPrefix(u.Path, "/"), text); err != nil {
					t.Fatal(err)
				}
			}
			publish := func(payload string) {
				t.Helper()
				cliWith(t, `{"topic":"t","key":"k","payload":"`+payload+`"}`, "publish", at.flag, at.where, "--ndjson").ok()
			}
			relay := start(t, "relay", at.flag, at.where, "--to", "stdout:")
			count := func(words ...string) (n int) {
				for _, w := range words {
					n += strings.Count(relay.err.String(), w)
				}
				return n
			}
			begins := []string{"does not answer; trying again", `msg="relay: reading failed`, "housekeeping of box outbox failed"}
			ends := []string{"answers again", "reading works again", "housekeeping works again"}
			publish("first")
			await(t, "the first is delivered", func() bool { return strings.Contains(relay.out.String(), "first") })
			exec(c.away)
			await(t, "the log says that something does not work", func() bool { return count(begins...) > 0 })
			exec(c.back)
			publish("second")
			await(t, "the second is delivered", func() bool { return strings.Contains(relay.out.String(), "second") })
			await(t, "each state that began is over", func() bool {
				for i := range begins {
					if count(begins[i]) != count(ends[i]) {
						return false
					}
				}
				return true
			})
			if n := count(begins...); n == 0 || n > len(begins) {
				t.Errorf("%d states are said to have begun", n)
			}
			relay.end()
		})
	}
}
