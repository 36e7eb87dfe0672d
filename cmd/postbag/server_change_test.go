package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// deadAndLater are dead messages of one type, which no relay works.
func deadAndLater(t *testing.T, at *place, n int) (config string) {
	t.Helper()
	h := startHook(t, "bad")
	config = hookConfig(t, at, h.url)
	cliWith(t, strings.Repeat(`{"type":"bad","payload":1}`+"\n", n)+`{"type":"sale","payload":1,"not_before":"2999-01-31T12:00:00Z"}`+"\n"+
		`{"type":"sale","payload":2,"not_before":"2999-01-31T12:00:00Z"}`+"\n", "publish", "-c", config, "--ndjson").ok()
	relay := start(t, "relay", "-c", config)
	await(t, "all are dead", func() bool {
		var v operations.Status
		cli(t, "status", "-c", config, "--json").ok().json(&v)
		return len(v.Boxes[0].Subscriptions) == 1 && v.Boxes[0].Subscriptions[0].Parked["dead"] == int64(n)
	})
	if code := relay.end(); code != exit.OK {
		t.Fatalf("the relay ended with %d", code)
	}
	cliWith(t, strings.Repeat(`{"type":"later","payload":1}`+"\n", 3), "publish", "-c", config, "--ndjson").ok()
	return config
}

// alike gives one command with the database and another one like it through the console. Both must say the same.
func (c *clerk) alike(here, there string) {
	c.t.Helper()
	want := cli(c.t, append(strings.Fields(here), "-c", c.config)...).ok()
	got := c.asks(strings.Fields(there)...).ok()
	if got.out != want.out || got.err != want.err {
		c.t.Errorf("postbag %s through the console says\n%s%s\nand postbag %s with the database\n%s%s", there, got.out, got.err, here, want.out, want.err)
	}
}

func TestEachCommandThatChangesSaysTheSameThroughAConsole(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := deadAndLater(t, at, 5)
		c := clerkWith(t, config, "operator")
		for _, line := range []string{
			"messages retry --all --dry-run --why a", "messages retry --all --dry-run --why a --json", "messages discard --state pending --all --dry-run --why a",
			"messages delete --all --dry-run --why a", "messages publish-now --all --dry-run --why a", "messages retry --type none --why a", "messages retry --why a", "messages retry --all",
			"messages retry --all --why a", "messages retry 01234567-89ab-7cde-8f01-23456789abcd --why a", "messages discard --all --box none --why a", "messages retry --state pending --all --why a",
			"subscriptions pause --why a", "subscriptions pause --why a --json --for 2h", "subscriptions pause none --why a", "subscriptions pause --box none --why a",
			"subscriptions resume --why a", "subscriptions resume --why a --json", "subscriptions resume none --why a", "subscriptions pause",
			"subscriptions set default --batch 9 --why a", "subscriptions set default --batch 9 --why a --json", "subscriptions set default --batch none --why a",
			"subscriptions set default --reset batch --why a", "subscriptions set none --batch 9 --why a", "subscriptions set default --rate 7/s --why a",
			"shards set 5 --why a", "shards set 5 --why a --json", "shards set 0 --why a", "shards set 5 --subscription none --why a", "shards set 5 --box none --why a",
			"operations pause 1 --why a", "operations resume 1 --why a", "operations cancel 1 --why a", "operations cancel none --why a",
		} {
			c.same(strings.Fields(line)...)
		}
		var dead, later, sale []string
		all := cli(t, "messages", "list", "-c", config, "--json").ok().items()
		for _, m := range append(all, cli(t, "messages", "list", "-c", config, "--json", "--state", "scheduled").ok().items()...) {
			switch m.Type {
			case "bad":
				dead = append(dead, m.ID.String())
			case "later":
				later = append(later, m.ID.String())
			case "sale":
				sale = append(sale, m.ID.String())
			}
		}
		c.same("messages", "retry", dead[0], "--dry-run", "--why", "a")
		c.same("messages", "retry", later[0], "--why", "a")
		c.same("messages", "publish-now", dead[0], "--why", "a")
		c.same("messages", "delete", later[0], "--why", "a")
		c.alike("messages retry "+dead[0]+" --why a", "messages retry "+dead[1]+" --why a")
		c.alike("messages retry "+dead[0]+" --why a", "messages retry "+dead[1]+" --why a") // it has it queued already
		c.alike("messages discard "+later[0]+" --why a --json", "messages discard "+later[1]+" --why a --json")
		c.alike("messages delete "+dead[2]+" --why a", "messages delete "+dead[3]+" --why a")
		c.alike("messages publish-now "+sale[0]+" --why a", "messages publish-now "+sale[1]+" --why a")
		c.asks("messages", "discard", "--type", "bad", "--yes", "--why", "they are old").ok().says("queued 3 of 5", "2 had it queued already")
		c.asks("messages", "discard", dead[0], later[2], "--yes", "--why", "two").ok().says("of 2 messages")
		lines := cli(t, "audit", "-c", config, "--json").ok().out
		if !strings.Contains(lines, `"who":"ann","why":"they are old"`) {
			t.Errorf("the audit log does not name whose token it was:\n%s", lines)
		}
		c.asks("messages", "retry", dead[0], "--why", "a", "--who", "bea").ends(exit.Usage, "--who goes without a console")
	})
}

func TestACommandForManyMessagesIsWorkedByTheConsole(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := deadAndLater(t, at, 620)
	c := clerkWith(t, config, "operator")
	c.same("messages", "discard", "--all", "--dry-run", "--why", "a").says("for 620 messages")
	c.same("messages", "discard", "--all", "--why", "a").ends(exit.Usage, "discard 620 messages")
	slow := start(t, append([]string{"messages", "discard", "--all", "--yes", "--rate", "10", "--why", "a flood"}, c.flags...)...)
	await(t, "it is known", func() bool { return strings.Contains(slow.err.String(), "it is operation 1") })
	c.asks("operations", "pause", "1", "--why", "too fast").ok().says("operation 1 is paused")
	if code := slow.finish(); code != exit.OK || !strings.Contains(slow.err.String(), "was paused by ann: too fast") {
		t.Errorf("the command whose operation is paused ends with %d: %s", code, slow.err.String())
	}
	c.same("operations", "list")
	c.same("operations", "show", "1")
	c.same("operations", "show", "1", "--json").says(`"who": "ann"`)
	again := start(t, append([]string{"operations", "resume", "1", "--why", "go on"}, c.flags...)...)
	await(t, "it goes on", func() bool {
		var o operations.Operation
		c.asks("operations", "show", "1", "--json").ok().json(&o)
		return o.State == store.OperationRunning && o.At > 20 && again.err.String() == ""
	})
	if code := again.end(); code != exit.Interrupted || !strings.Contains(again.err.String(), "postbag operations resume 1 goes on with it") {
		t.Errorf("a command that is interrupted ends with %d: %s", code, again.err.String())
	}
	c.asks("operations", "show", "1").ok().says("it is paused")
	c.asks("operations", "cancel", "1", "--why", "enough").ok().says("operation 1 is cancelled")
	c.asks("messages", "discard", "--all", "--yes", "--why", "all of them", "--json").ok().says(`"selected":620`, `"operation":2`)
	c.same("operations", "show", "2").says("620 of 620")
}

func TestATokenOfAViewerGivesNoCommand(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := deadAndLater(t, at, 1)
	dead := cli(t, "messages", "list", "-c", config, "--state", "dead", "--json").ok().items()[0].ID.String()
	before := cli(t, "audit", "-c", config).ok().out
	c := clerkWith(t, config, "viewer", "payloads", "operator@other")
	for _, line := range []string{
		"messages retry " + dead, "messages discard --all --yes", "messages publish-now --all --yes", "subscriptions pause", "subscriptions resume", "shards set 3", "subscriptions set default --batch 3",
	} {
		c.asks(append(strings.Fields(line), "--why", "a")...).ends(exit.Failed, "it needs the role operator")
	}
	if after := cli(t, "audit", "-c", config).ok().out; after != before {
		t.Errorf("something was done:\n%s", after)
	}
	looks := clerkOf(t, config, nil, "operator")
	for _, line := range []string{"messages retry " + dead, "messages discard --all --yes", "subscriptions pause"} {
		looks.asks(append(strings.Fields(line), "--why", "a")...).ends(exit.Failed, "takes no commands")
	}
}

func TestWhatAConsoleCannotDoIsRefusedBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	c := clerkWith(t, deadAndLater(t, at, 1), "operator")
	for want, line := range map[string]string{
		"pauses and resumes whole subscriptions": "subscriptions pause --topic a",
		"takes no --until":                       "subscriptions pause --until 2999-01-31T12:00:00Z",
		"changes no filters":                     "subscriptions set default --types a",
		"one setting at a time, and 2":           "subscriptions set default --batch 3 --in-flight 3",
		"which destinations relays have":         "subscriptions set default --destination a",
		"a console takes one for a command":      "messages retry --type a --type b",
	} {
		c.asks(slices.Concat(strings.Fields(line), []string{"--why", "a"})...).ends(exit.Usage, want)
	}
	c.asks("messages", "list", "--payload", "--json").ends(exit.Usage, "--payload needs the database")
}
