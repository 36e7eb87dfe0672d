package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// payloads are those that an endpoint got, without repetitions, sorted.
func (h *hook) payloads() []string {
	var out []string
	for _, m := range h.messages() {
		out = append(out, string(m.Payload))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestASubscriptionIsAddedWhileRelaysRunAndOutlivesAKilledOne(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		lacks := write(t, "lacks.yaml", fmt.Sprintf("store: %s\nttl: 1s\npoll: 50ms\ndestinations: {elsewhere: {webhook: {url: %s, secrets_env: [%s], allow_private: [127.0.0.0/8]}}}\nsubscriptions: [{to: elsewhere, name: other}]\n",
			at.yaml, own.url, hookSecret))
		sub := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions"}, append(args, "-c", config)...)...)
		}
		publish := func(payload string) {
			t.Helper()
			cli(t, "publish", "-c", config, "--payload", payload, "--key", "a").ok()
		}
		has := func(what string, want ...string) {
			t.Helper()
			await(t, what, func() bool { return slices.Equal(other.payloads(), want) })
		}
		publish("1")
		without := start(t, "relay", "-c", lacks)
		await(t, "the relay without the destination works", func() bool { return strings.Contains(without.err.String(), "opened") || len(own.messages()) > 0 })
		sub("add", "audit", "--destination", "a b", "--why", "x").ends(exit.Usage, "destination is")
		sub("add", "audit", "--destination", "audit", "--why", "the auditors ask", "--who", "anna").ok().says("relays that have a destination audit begin it")
		sub("add", "audit", "--destination", "audit", "--why", "x").ends(exit.Usage, "there already")
		await(t, "the relay says that it leaves it alone", func() bool { return strings.Contains(without.err.String(), "this relay has none of that name") })
		sub("show", "audit").ok().says("no running relay can use a destination audit", "operator anna: the auditors ask")
		sub("list").ok().says("audit has no relay: no running relay can use")
		cli(t, "status", "-c", config).ok().says("no relay works it: no running relay can use a destination audit")

		one := exec.Command(os.Args[0], "relay", "-c", config)
		if err := one.Start(); err != nil {
			t.Fatal(err)
		}
		has("the added subscription begins", "1")
		publish("2")
		has("it goes on", "1", "2")
		if out := sub("show", "audit").ok().out; strings.Contains(out, "no running relay") {
			t.Errorf("a relay works it: %s", out)
		}
		if err := one.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = one.Wait() // it was killed
		publish("3")
		start(t, "relay", "-c", config)
		has("another relay takes over", "1", "2", "3")

		cli(t, "plan", "-c", config).says("an operator has added it for the destination audit", "it is not in the file")
		cli(t, "export", at.flag, at.where).ok().says("name: audit", "to: audit", "destination audit by anna")

		sub("remove", "audit", "--force", "--yes", "--why", "over").ok()
		sub("add", "audit", "--destination", "audit", "--from", "now", "--why", "again").ok()
		publish("4")
		has("it is worked again", "1", "2", "3", "4")
		sub("set", "audit", "--destination", "shop", "--why", "moved").ok().says("goes to shop now")
		sub("set", "audit", "--reset", "destination", "--why", "over").ok()
		await(t, "no relay works it any more", func() bool { return strings.Contains(sub("list", "--json").ok().out, `"added_to"`) == false })
		cli(t, "audit", "-c", config).ok().says("add outbox/audit", `destination="audit"`, "reset destination")
	})
}

func TestADestinationThatAnAddedSubscriptionCannotHaveIsRefused(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+`
destinations:
  out: {stdout: {}}
  exact: {kafka: {url: "kafka://127.0.0.1:9", transactions: {}}}
  fenced: {redis: {url: "redis://127.0.0.1:9", fence: true}}
  back: {nats: {url: "nats://127.0.0.1:9", stream: S}}
sources: [{from: {nats: {url: "nats://127.0.0.1:9", stream: S, consumer: c}}, box: inbox}]
subscriptions: [{to: out}, {name: once, to: exact, exactly_once: true}]
`)
	for name, says := range map[string]string{"exact": "it has transactions", "fenced": "it has fence"} {
		cli(t, "subscriptions", "add", "more", "--destination", name, "-c", config, "--why", "x").ends(exit.Usage, says)
	}
	cli(t, "subscriptions", "add", "more", "--destination", "unknown", "-c", config, "--why", "x").ok().says("has no destination unknown")
	cli(t, "subscriptions", "add", "default", "--destination", "other", "-c", config, "--why", "x").ok().says("go by that, and not by other")
	cli(t, "subscriptions", "show", "default", "-c", config).ok().says("destination", "not in force")
	cli(t, "plan", "-c", config).says("relays with this file go by out")
	cli(t, "subscriptions", "set", "more", "--destination", "exact", "-c", config, "--why", "x").ends(exit.Usage, "it has transactions")
	cli(t, "subscriptions", "set", "default", "--destination", "exact", "-c", config, "--why", "x").ends(exit.Usage, "it has transactions")
	for _, to := range []string{"out", "exact", "unknown"} {
		cli(t, "subscriptions", "add", "once", "--destination", to, "-c", config, "--why", "x").ends(exit.Usage, "once is exactly once in the configuration")
	}
	cli(t, "subscriptions", "add", "again", "--box", "inbox", "--destination", "back", "-c", config, "--why", "x").ends(exit.Usage, "back to that source")
	cli(t, "subscriptions", "add", "again", "--destination", "back", "-c", config, "--why", "x").ok()
	if got := cli(t, "subscriptions", "add", "plain", "-c", config, "--why", "x").ok(); got.err != "" {
		t.Errorf("add without a destination says: %s", got.err)
	}
}
