package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

func TestASubscriptionIsListedChangedRemovedAndReadmitted(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		text := "store: " + at.yaml + "\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: billing, types: [invoice.*], batch: 77}]\n"
		config := write(t, "postbag.yaml", text)
		cliWith(t, `{"key":"a","type":"invoice.new","payload":"first"}`+"\n", "publish", "-c", config, "--ndjson").ok()
		sub := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions"}, append(args, "-c", config)...)...)
		}
		sub("list").ok().says("no subscription")
		relay := start(t, "relay", "-c", config)
		await(t, "the first message arrived", func() bool { return strings.Contains(relay.out.String(), "first") })

		sub("list").ok().says("billing", "invoice.*", "outbox")
		var l operations.SubscriptionList
		if sub("list", "--json").ok().json(&l); len(l.Subscriptions) != 1 || l.Subscriptions[0].TypesBy != "" || len(l.Subscriptions[0].Owners) != 1 || l.Subscriptions[0].Declared.IsZero() {
			t.Fatalf("the list has %+v", l)
		}
		sub("show", "billing").ok().says("invoice.*", "declared", "batch", "77", "deployment")
		sub("show", "unknown").ends(exit.NotFound, "box outbox has no subscription unknown")

		sub("set", "billing", "--why", "x").ends(exit.Usage, "--types")
		sub("set", "billing", "--types", "a", "--all-types", "--why", "x").ends(exit.Usage, "--all-types")
		sub("set", "billing", "--types", "a").ends(exit.Usage, "--why")
		sub("set", "billing", "--types", "a*b", "--why", "x").ends(exit.Usage, "is no type")
		sub("set", "unknown", "--types", "a", "--why", "x").ends(exit.NotFound, "unknown")
		sub("set", "billing", "--types", "order.*,refund", "--why", "orders too", "--who", "anna").ok().says("order.*,refund")
		cliWith(t, `{"key":"a","type":"invoice.new","payload":"second"}
{"key":"a","type":"refund","payload":"third"}
`, "publish", "-c", config, "--ndjson").ok()
		await(t, "what the new filter takes arrived", func() bool { return strings.Contains(relay.out.String(), "third") })
		if strings.Contains(relay.out.String(), "second") {
			t.Error("a message went out that the operator's filter refuses")
		}
		await(t, "the log says whose filter it is", func() bool {
			return strings.Contains(relay.err.String(), "the one that an operator set, and not that of this relay's settings")
		})
		sub("show", "billing").ok().says("operator anna", "deployment, not in force", "invoice.*")

		sub("remove", "billing", "--why", "gone").ends(exit.Usage, "pause first")
		sub("pause", "--subscription", "billing", "--why", "gone").ok()
		sub("remove", "billing", "--why", "gone", "--dry-run").ok().says("nothing was done")
		cliWith(t, "other\n", "subscriptions", "remove", "billing", "-c", config, "--why", "gone").ends(exit.Usage, "not the name")
		cliWith(t, "billing\n", "subscriptions", "remove", "billing", "-c", config, "--why", "gone", "--who", "anna").ok().says("billing is removed")
		await(t, "the relay lets go of it", func() bool { return strings.Contains(relay.err.String(), "an operator removed it") })
		sub("list").ok().says("billing was removed", "anna")
		sub("show", "billing").ends(exit.NotFound, "removed")
		sub("remove", "billing", "--why", "gone", "--yes").ends(exit.NotFound, "removed")
		sub("readmit", "other", "--why", "x").ends(exit.NotFound, "other")
		sub("readmit", "billing", "--why", "by mistake").ok().says("declared again")
		second := start(t, "relay", "-c", config)
		await(t, "it is delivered again from the first message on", func() bool {
			return strings.Count(relay.out.String()+second.out.String(), "first") == 2
		})
		cli(t, "audit", "-c", config).ok().says("types outbox/billing order.*,refund", "remove outbox/billing", "readmit outbox/billing", "by mistake")
	})
}
