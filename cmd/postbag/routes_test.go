package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

func TestRoutesDeliverAndAMessageIsNotDoneWhileOneOfThemWaits(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		text := "store: " + at.yaml + `
destinations: {out: {stdout: {}}, down: {nats: {url: "nats://127.0.0.1:1"}}}
subscriptions:
  - name: orders
    to: out
    routes:
      list:
        - {name: eu, where: {headers: [region=eu]}, to: down}
        - {name: refunds, where: {topics: [refunds.*]}}
      fallback: {name: rest}
`
		config := write(t, "postbag.yaml", text)
		cli(t, "config", "check", "-c", config).ok().says("orders.eu", "orders.refunds", "orders.rest")
		id := postbag.NewID().String()
		lines := `{"id":"` + id + `","topic":"t","key":"a","headers":{"region":"eu"},"payload":"europe"}
{"topic":"refunds.x","key":"a","payload":"refund"}
{"topic":"t","key":"a","payload":"other"}
`
		cliWith(t, lines, "publish", "-c", config, "--ndjson").ok()
		relay := start(t, "relay", "-c", config)
		await(t, "what does not go to Europe arrived", func() bool {
			return strings.Contains(relay.out.String(), "refund") && strings.Contains(relay.out.String(), "other")
		})
		sub := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions"}, append(args, "-c", config)...)...)
		}
		sub("show", "orders.eu").ok().says("headers region=eu")
		sub("list").ok().says("topics refunds.*; except headers")
		show := func() *outcome { return cli(t, "messages", "show", id, "-c", config) }
		await(t, "the others are through with it", func() bool { return strings.Contains(show().ok().out, "no: orders.eu pending") })

		sub("set", "orders.eu", "--as-configured", "--types", "a", "--why", "x").ends(exit.Usage, "leave the other flags out")
		sub("set", "orders.other", "--as-configured", "--why", "x").ends(exit.Usage, "no subscription outbox/orders.other")
		sub("set", "orders.rest", "--no-except", "--header", "region", "--why", "x").ok().says("headers region")
		var l operations.SubscriptionList
		sub("list", "--json").ok().json(&l)
		for i := range l.Subscriptions {
			if d := &l.Subscriptions[i]; d.Name == "orders.rest" && (d.Where == nil || len(d.Where.Headers) != 1 || len(d.Where.Except) != 0) {
				t.Errorf("orders.rest has the filter %+v", d.Where)
			}
		}
		sub("show", "orders.rest").ok().says("deployment, not in force", "except headers region=eu")
		sub("set", "orders.rest", "--as-configured", "--why", "x").ok().says("except topics refunds.*")

		next := write(t, "next.yaml", strings.Replace(text, "      fallback", "        - {name: late, where: {topics: [late.*]}}\n      fallback", 1))
		add := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions", "add", "orders.late", "--as-configured", "--why", "x"}, args...)...)
		}
		add("-c", next, "--header", "a").ends(exit.Usage, "leave --types, --topics and --header out")
		add("-c", config).ends(exit.Usage, "no subscription outbox/orders.late")
		add("-c", next, "--from", "now").ok().says("is added")
		sub("list", "--json").ok().json(&l)
		for i := range l.Subscriptions {
			if d := &l.Subscriptions[i]; d.Name == "orders.late" && (d.Where == nil || len(d.Where.Topics) != 1 || len(d.Where.Except) != 2) {
				t.Errorf("orders.late has the filter %+v", d.Where)
			}
		}
		sub("list").ok().says("orders.late")
	})
}
