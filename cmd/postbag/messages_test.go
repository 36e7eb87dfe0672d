package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

// orders publishes three messages of one key, of which a relay finds the first
// dead, and returns the configuration.
func ordersBehindADeadOne(t *testing.T, at *place) (config string, h *hook, relay *running) {
	t.Helper()
	h = startHook(t, "bad")
	config = hookConfig(t, at, h.url)
	cliWith(t, `{"key":"a","type":"bad","payload":"first","headers":{"h":"v"}}
{"key":"a","type":"good","payload":"second"}
{"key":"b","type":"other","payload":{"n":3}}
`, "publish", "-c", config, "--ndjson").ok()
	relay = start(t, "relay", "-c", config)
	await(t, "the first message is dead and the third arrived", func() bool {
		return h.types() == "other " && strings.Contains(cli(t, "messages", "list", "-c", config, "--state", "dead", "--json").ok().out, "bad")
	})
	return config, h, relay
}

func TestDeadMessageShowsWhyAndGoesOutInOrderAfterRetry(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config, h, _ := ordersBehindADeadOne(t, at)
		dead := cli(t, "messages", "list", "-c", config, "--state", "dead", "--json", "--payload").ok().items()
		if len(dead) != 1 || dead[0].Type != "bad" || dead[0].Attempts != 1 || !strings.Contains(dead[0].Error, "422") ||
			string(dead[0].Payload) != `"first"` || dead[0].Headers["h"] != "v" {
			t.Fatalf("dead are %+v", dead)
		}
		cli(t, "messages", "list", "-c", config, "--state", "blocked").ok().says("good", "blocked")
		cli(t, "messages", "list", "-c", config, "--error", "422").ok().says("bad")
		id := dead[0].ID.String()
		cli(t, "messages", "show", id, "-c", config).ok().says(id, "header h", "dead", "422", "PAYLOAD  5 bytes, as text", "first")
		cli(t, "messages", "show", id, "-c", config, "--format", "hex").ok().says("66 69 72 73 74")
		if o := cli(t, "messages", "show", id, "-c", config, "--format", "raw").ok(); o.out != "first" {
			t.Errorf("the raw payload is %q", o.out)
		}
		cli(t, "status", "-c", config).ok().says("1 relay")

		h.accept()
		cli(t, "messages", "retry", id, "-c", config, "--why", "fixed", "--dry-run").ok().says("nothing was done")
		cli(t, "messages", "retry", id, "-c", config, "--why", "fixed", "--who", "ops").ok().says("queued 1 of 1")
		await(t, "the key goes on in order", func() bool { return h.types() == "other bad good " })
		await(t, "all are delivered", func() bool {
			return len(cli(t, "messages", "list", "-c", config, "--state", "delivered", "--json").ok().items()) == 3
		})
		cli(t, "audit", "-c", config).ok().says("ops", "retry outbox/default", "fixed")
		cli(t, "messages", "retry", id, "-c", config, "--why", "again").ends(exit.NotFound, "is delivered")
	})
}

func TestADiscardedMessageUnblocksItsKey(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config, h, _ := ordersBehindADeadOne(t, at)
		cli(t, "messages", "discard", "--type", "bad", "-c", config, "--why", "nonsense", "--json").ok().says(`"queued":1`)
		await(t, "the key goes on without it", func() bool { return h.types() == "other good " })
		await(t, "it shows as discarded", func() bool {
			return len(cli(t, "messages", "list", "-c", config, "--state", "discarded", "--json").ok().items()) == 1
		})
		var v operations.Status
		cli(t, "status", "-c", config, "--json").ok().json(&v)
		if s := v.Boxes[0].Subscriptions[0]; s.Discarded != 1 || s.Parked["dead"] != 0 {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestACommandForManyMessagesAsksForConfirmation(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		h := startHook(t, "bad")
		config := hookConfig(t, at, h.url)
		const n = 620
		cliWith(t, strings.Repeat(`{"type":"bad","payload":1}`+"\n", n), "publish", "-c", config, "--ndjson").ok()
		relay := start(t, "relay", "-c", config)
		await(t, "all are dead", func() bool {
			var v operations.Status
			cli(t, "status", "-c", config, "--json").ok().json(&v)
			return len(v.Boxes[0].Subscriptions) == 1 && v.Boxes[0].Subscriptions[0].Parked["dead"] == n
		})
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d", code)
		}
		discard := []string{"messages", "discard", "--all", "-c", config, "--why", "test"}
		cli(t, discard...).ends(exit.Usage, "discard 620 messages of outbox/default?", "--yes", "nothing was done")
		cliWith(t, "n\n", discard...).ends(exit.Usage, "not yes")
		cli(t, append(discard, "--dry-run")...).ok().says("and 600 more", "for 620 messages", "nothing was done")
		if v := queuedCommands(t, config); v != 0 {
			t.Fatalf("%d commands are queued before one was given", v)
		}
		cliWith(t, "yes\n", discard...).ok().says("queued 620 of 620")
		cli(t, append(discard, "--yes")...).ok().says("queued 0 of 620", "had it queued already")
		cli(t, "messages", "delete", "--all", "--yes", "-c", config, "--why", "test").ok().says("queued 0 of 620", "had it queued already")
		if told := cli(t, "audit", "-c", config).ok().says("; selected by --all").out; len(told) > 2000 {
			t.Errorf("the audit log names so many messages that nobody reads it:\n%s", told)
		}
		if v := queuedCommands(t, config); v != n {
			t.Errorf("%d commands are queued, want %d", v, n)
		}
		cli(t, "messages", "list", "-c", config, "--limit", "1").ok().says("dead, discard queued")
	})
}

// queuedCommands is how many commands wait for a relay.
func queuedCommands(t *testing.T, config string) int64 {
	t.Helper()
	var v operations.Status
	cli(t, "status", "-c", config, "--json").ok().json(&v)
	return v.Boxes[0].Subscriptions[0].Queued
}

func TestAListingContinuesFromItsCursor(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cliWith(t, strings.Repeat(`{"topic":"t","payload":1}`+"\n", 25), "publish", at.flag, at.where, "--ndjson").ok()
		cli(t, "messages", "list", at.flag, at.where).ok().says("no message of box outbox matches; box outbox holds 25 messages and has no subscription yet")
		arrived(t, at)
		seen := make(map[string]bool)
		args := []string{"messages", "list", at.flag, at.where, "--limit", "10", "--json", "--oldest"}
		for page := 1; ; page++ {
			o := cli(t, args...).ok()
			for _, item := range o.items() {
				seen[item.ID.String()] = true
			}
			_, cursor, more := strings.Cut(o.err, "--cursor ")
			if !more {
				break
			}
			if page > 3 {
				t.Fatal("the listing does not end")
			}
			args = append(args[:8:8], "--cursor", strings.TrimSpace(cursor))
		}
		if len(seen) != 25 {
			t.Errorf("%d messages were listed, want 25", len(seen))
		}
		if all := cli(t, "messages", "list", at.flag, at.where, "--limit", "0", "--json").ok().items(); len(all) != 25 {
			t.Errorf("without a limit %d messages were listed, want 25", len(all))
		}
		if none := cli(t, "messages", "list", at.flag, at.where, "--topic", "other", "--json").ok(); none.out != "" {
			t.Errorf("of another topic there is %q", none.out)
		}
		if late := cli(t, "messages", "list", at.flag, at.where, "--before", "1h", "--json").ok(); late.out != "" {
			t.Errorf("an hour ago there was %q", late.out)
		}
	})
}

func TestTextOfMessagesCannotControlATerminal(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		evil := "\x1b]0;title\x07\u009b2J\u202egnp.exe\x7f"
		cli(t, "publish", at.flag, at.where, "--key", evil, "--topic", "t", "--type", evil, "--header", "h="+evil, "--payload", "x"+evil).ok()
		arrived(t, at)
		id := cli(t, "messages", "list", at.flag, at.where, "--json").ok().items()[0].ID.String()
		for _, args := range [][]string{
			{"messages", "list"},
			{"messages", "list", "--json", "--payload"},
			{"messages", "show", id},
			{"messages", "show", id, "--format", "text"},
			{"messages", "show", id, "--format", "hex"},
			{"messages", "show", id, "--json"},
		} {
			o := cli(t, append(args, at.flag, at.where)...).ok()
			if at := strings.IndexFunc(o.out, func(r rune) bool { return r == 0x7f || r < ' ' && r != '\n' || r >= 0x80 && r < 0xa0 || r == 0x202e }); at >= 0 {
				t.Errorf("%v writes %q", args, o.out[max(0, at-10):at+10])
			}
		}
		if item := cli(t, "messages", "list", at.flag, at.where, "--json").ok().items()[0]; item.Key != evil {
			t.Errorf("the key came back as %q", item.Key)
		}
	})
}
