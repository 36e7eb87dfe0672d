package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// onEachEditor runs a test on each kind of store whose messages can be changed.
func onEachEditor(t *testing.T, f func(t *testing.T, at *place)) {
	t.Helper()
	onEachStore(t, func(t *testing.T, at *place) {
		flags := storeFlags{}
		*map[string]*string{"--store": &flags.dsn, "--store-file": &flags.file}[at.flag] = at.where
		s, err := flags.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		edits := s.Editor != nil
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if edits {
			f(t, at)
			return
		}
		cli(t, "messages", "erase", noID, at.flag, at.where, "--why", "x").ends(exit.Usage, "cannot do that yet")
		cli(t, "messages", "discard", "--state", "pending", "--all", at.flag, at.where, "--why", "x").ends(exit.Usage, "parked messages only")
	})
}

const noID = "01900000-0000-7000-8000-000000000001"

func TestPendingAndScheduledMessagesAreDiscarded(t *testing.T) {
	t.Parallel()
	onEachEditor(t, func(t *testing.T, at *place) {
		arrived(t, at)
		cliWith(t, `{"key":"a","type":"one","payload":1}
{"key":"a","type":"two","payload":2}
{"key":"a","type":"three","payload":3}
`, "publish", at.flag, at.where, "--ndjson").ok()
		for range 2 {
			cli(t, "publish", at.flag, at.where, "--type", "later", "--payload", "x", "--not-before", "1h").ok()
		}
		cli(t, "messages", "discard", "--type", "two", "--state", "pending", at.flag, at.where, "--why", "by mistake").ok().
			says("queued 1 of 1", "relays carry it out")
		cli(t, "messages", "list", at.flag, at.where, "--type", "two").ok().says("pending, discard queued")
		cli(t, "audit", at.flag, at.where).ok().says("discard outbox/default", `--state "pending" --type "two"`)
		cli(t, "messages", "retry", "--type", "one", "--state", "pending", at.flag, at.where, "--why", "x").ends(exit.Usage, "postbag: --state pending: a pending message has nothing to retry: it goes out in its turn")
		later := cli(t, "messages", "list", at.flag, at.where, "--state", "scheduled", "--json").ok().items()
		if len(later) != 2 {
			t.Fatalf("%d messages are scheduled, want 2", len(later))
		}
		cli(t, "messages", "discard", later[0].ID.String(), at.flag, at.where, "--why", "x").ok().says("discarded 1 scheduled message")
		cli(t, "messages", "publish-now", "--all", "--state", "dead", at.flag, at.where, "--why", "now").ends(exit.Usage, "--state is not for this command")
		cli(t, "messages", "delete", later[1].ID.String(), at.flag, at.where, "--why", "x").ends(exit.NotFound, "is scheduled, and this command is for dead messages")
		cli(t, "messages", "publish-now", "--all", at.flag, at.where, "--why", "now").ok().says("retried 1 scheduled message")
		var types []string
		await(t, "all that is left arrives", func() bool {
			for _, l := range arrived(t, at) {
				types = append(types, l.Type)
			}
			return len(types) >= 3
		})
		slices.SortStableFunc(types, func(a, b string) int { // the scheduled one has no key, and may overtake
			return cmp.Compare(strings.Index("later", a), strings.Index("later", b))
		})
		if got := strings.Join(types, " "); got != "one three later" {
			t.Errorf("arrived are %q", got)
		}
		cli(t, "messages", "list", at.flag, at.where, "--type", "two").ok().says("discarded")
		cli(t, "messages", "discard", "--type", "one", "--state", "pending", at.flag, at.where, "--why", "x").ends(exit.NotFound, "no pending message of outbox/default matches")
	})
}

// A message waits in its turn, or for its time. Only the second is for an operator to end.
func TestARetryBringsAScheduledMessageForwardAndRefusesAPendingOne(t *testing.T) {
	t.Parallel()
	onEachEditor(t, func(t *testing.T, at *place) {
		arrived(t, at)
		cli(t, "publish", at.flag, at.where, "--type", "soon", "--payload", "x").ok()
		cli(t, "publish", at.flag, at.where, "--type", "later", "--payload", "x", "--not-before", "1h").ok()
		relay := start(t, "relay", at.flag, at.where, "--to", "nats://127.0.0.1:1") // its destination is away
		await(t, "it is read", func() bool { return strings.Contains(relay.err.String(), "does not take messages") })
		pending := cli(t, "messages", "list", at.flag, at.where, "--state", "pending", "--json").ok().items()
		later := cli(t, "messages", "list", at.flag, at.where, "--state", "scheduled", "--json").ok().items()
		if len(pending) != 1 || len(later) != 1 {
			t.Fatalf("%d messages are pending and %d scheduled", len(pending), len(later))
		}
		id := pending[0].ID.String()
		o := cli(t, "messages", "retry", id, later[0].ID.String(), at.flag, at.where, "--why", "x", "--yes").ends(exit.Usage,
			"message "+id+" of outbox/default is pending; a pending message has nothing to retry: it goes out in its turn, "+
				"as soon as its destination takes messages; postbag status says what it waits for; nothing was done")
		if o.out != "" || strings.Contains(cli(t, "audit", at.flag, at.where).ok().out, "retry") {
			t.Errorf("something was done: %s", o.out)
		}
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d", code)
		}
		cli(t, "messages", "retry", later[0].ID.String(), at.flag, at.where, "--why", "now").ok().says("retried 1 scheduled message")
		var types []string
		await(t, "both arrive", func() bool {
			for _, l := range arrived(t, at) {
				types = append(types, l.Type)
			}
			return len(types) >= 2
		})
		if got := strings.Join(types, " "); got != "soon later" {
			t.Errorf("arrived are %q", got)
		}
	})
}

func TestDeliveredMessagesAreErased(t *testing.T) {
	t.Parallel()
	onEachEditor(t, func(t *testing.T, at *place) {
		cliWith(t, `{"key":"secret","payload":"secret","headers":{"h":"secret"}}`+"\n", "publish", at.flag, at.where, "--ndjson").ok()
		id := arrived(t, at)[0].ID
		cli(t, "messages", "erase", at.flag, at.where, "--why", "x").ends(exit.Usage, "name 1 to 1000")
		cli(t, "messages", "erase", id, at.flag, at.where).ends(exit.Usage, "--why")
		cli(t, "messages", "erase", noID, at.flag, at.where, "--why", "x").ends(exit.NotFound, "1 of 1 are not in box outbox")
		cli(t, "messages", "erase", id, at.flag, at.where, "--why", "request 4711").ok().says("erased 1 message of box outbox")
		if o := cli(t, "messages", "show", id, at.flag, at.where, "--json").ok(); strings.Contains(o.out, "secret") {
			t.Errorf("an erased message is shown as %s", o.out)
		}
		cli(t, "audit", at.flag, at.where).ok().says("erase outbox "+id, "request 4711")
		cliWith(t, `{"key":"a","payload":"p"}`+"\n", "publish", at.flag, at.where, "--ndjson").ok()
		pending := cli(t, "messages", "list", at.flag, at.where, "--state", "pending", "--json").ok().items()[0].ID.String()
		cli(t, "messages", "erase", pending, at.flag, at.where, "--why", "x").ends(exit.Failed, "still to be delivered", "discard them first", pending)
		cli(t, "ledger", "accept", at.flag, at.where, "--why", "x").ok().says("there is nothing to accept")
	})
}

func TestAMissingSubscriptionIsNamed(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "a.db")
	cli(t, "migrate", "up", "--box", "outbox", "--store", db).ok()
	for _, args := range []string{
		"messages list --subscription nope", "messages retry --all --why x --subscription nope", "messages discard --all --why x --subscription nope", "shards set 2 --why x --subscription nope",
	} {
		cli(t, append(strings.Fields(args), "--store", db)...).ends(exit.NotFound, "box outbox has no subscription nope; postbag subscriptions list has those there are")
	}
}

// At most 500 discards of pending messages can be queued.
func TestADiscardOfManyPendingMessagesWaitsForRelays(t *testing.T) {
	t.Parallel()
	onEachEditor(t, func(t *testing.T, at *place) {
		arrived(t, at)
		cliWith(t, strings.Repeat(`{"type":"many","payload":1}`+"\n", 700), "publish", at.flag, at.where, "--ndjson").ok()
		discard := []string{"messages", "discard", "--state", "pending", "--all", "--yes", at.flag, at.where, "--why", "by mistake"}
		cli(t, append(discard, "--rate", "0")...).ends(exit.Usage, "--rate is 0; say how many messages a second")
		d := start(t, append(discard, "--rate", "5000")...)
		await(t, "the discard waits", func() bool {
			return strings.Contains(d.err.String(), "500 messages have the command; it waits for relays to carry that out")
		})
		went := len(arrived(t, at))
		if code := d.finish(); code != exit.OK {
			t.Fatalf("it ended with %d", code)
		}
		if went > 200 {
			t.Errorf("%d of 700 messages went out, though 500 were discarded", went)
		}
	})
}
