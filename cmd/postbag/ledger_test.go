package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// Somebody deletes a row of the log that was delivered. Retention keeps what it cannot account for, and says so, until
// somebody accepts it knowingly.
func TestADeletedRowStopsRetentionUntilTheDifferenceIsAccepted(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := write(t, "postbag.yaml", "store: "+at.yaml+"\nkeep: 1s\ndestinations: {out: {stdout: {}}}\n")
		cliWith(t, strings.Repeat(`{"key":"a","payload":1}`+"\n", 5), "publish", "-c", config, "--ndjson").ok()
		arrived(t, at)
		items := cli(t, "messages", "list", "-c", config, "--state", "delivered", "--oldest", "--json").ok().items()
		if len(items) != 5 {
			t.Fatalf("%d messages are delivered", len(items))
		}
		accept := []string{"ledger", "accept", "-c", config, "--why", "request 4711", "--who", "ops"}
		cli(t, accept...).ok().says("the ledger of box outbox agrees with its log; there is nothing to accept")
		where := fmt.Sprintf(" WHERE seq = %d", items[2].Seq)
		asOwner(t, at, "DELETE FROM postbag_outbox"+where, "DELETE FROM postbag.outbox"+where)

		cli(t, "ledger", "accept", "-c", config).ends(exit.Usage, "--why")
		cli(t, "ledger", "accept", "-c", config, "--why", "x", "--box", "other").ends(exit.NotFound, "there is no box other")
		const difference = "4 messages passed, 5 accounted for"
		o := cli(t, accept...).ok().says("accepted: outbox/default, seqs ", difference)
		if strings.Count(o.out, "\n") != 1 {
			t.Errorf("it accepts more than that:\n%s", o.out)
		}
		cli(t, "audit", "-c", config).ok().says("ops", "accept ledger outbox: outbox/default", difference, "request 4711")
		var again struct {
			Box      string
			Accepted []string
		}
		if cli(t, append(accept, "--json")...).ok().json(&again); again.Box != "outbox" || again.Accepted == nil || len(again.Accepted) > 0 {
			t.Errorf("given again it accepts %+v", again)
		}
		relay := start(t, "relay", "-c", config)
		first := items[0].ID.String()
		await(t, "retention goes on", func() bool { return cli(t, "messages", "show", first, "-c", config).code == exit.NotFound })
		if log := relay.err.String(); strings.Contains(log, "does not agree") {
			t.Errorf("the relay finds fault with what was accepted:\n%s", log)
		}
	})
}
