package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

func TestAPolicyIsSetAndResetWhileARelayRuns(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		file := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: billing, batch: 77, rate: {messages: 0.001}, retry: {max_attempts: 9}}]\n")
		cliWith(t, `{"key":"a","payload":"first"}
{"key":"a","payload":"second"}
`, "publish", "-c", file, "--ndjson").ok()
		sub := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions"}, append(args, "-c", file)...)...)
		}
		relay := start(t, "relay", "-c", file)
		await(t, "the first message arrived", func() bool { return strings.Contains(relay.out.String(), "first") })

		sub("set", "billing", "--rate", "5/s", "--types", "a", "--why", "x").ends(exit.Usage, "two commands")
		sub("set", "billing", "--rate", "none", "--burst", "5", "--why", "x").ends(exit.Usage, "--rate none")
		sub("set", "billing", "--burst", "5", "--why", "x").ends(exit.Usage, "rate.burst")
		sub("set", "billing", "--reset", "colour", "--why", "x").ends(exit.Usage, "is no setting")
		sub("set", "billing", "--rate", "5/s").ends(exit.Usage, "--why")
		sub("set", "unknown", "--rate", "5/s", "--why", "x").ends(exit.NotFound, "unknown")
		sub("set", "billing", "--rate", "500/s", "--rate-bytes", "1MiB/s", "--max-age", "3d", "--batch", "5", "--why", "they wait", "--who", "anna").ok().says("500/s 1048576B/s", "72h0m0s")
		await(t, "the second message arrived", func() bool { return strings.Contains(relay.out.String(), "second") })
		await(t, "the log says what is set", func() bool { return strings.Contains(relay.err.String(), "an operator has set some settings") })
		sub("show", "billing").ok().says("operator anna: they wait", "500/s 1048576B/s", "rate.messages", "deployment, not in force", "retry.max_attempts", "77")
		var d operations.SubscriptionDetail
		sub("show", "billing", "--json").ok().json(&d)
		found := false
		for _, s := range d.Settings {
			found = found || s.Name == "retry.max_age" && s.By == "anna" && s.Why == "they wait" && !s.At.IsZero() && s.Value == "72h0m0s"
		}
		if !found {
			t.Errorf("the settings are %+v", d.Settings)
		}
		sub("set", "billing", "--reset", "rate,batch,max_age", "--why", "over").ok().says("what its deployment says")
		if out := sub("show", "billing").ok().out; strings.Contains(out, "not in force") {
			t.Errorf("after a reset: %s", out)
		}
		cli(t, "audit", "-c", file).ok().says("set outbox/billing", "rate=", "reset rate,batch,max_age", "they wait")
	})
}

// A setting that is out of its bounds is refused in the words of the configuration.
func TestASettingHasTheBoundsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	for _, c := range []struct{ path, yaml, flag, value string }{
		{"batch", "{batch: 100001}", "--batch", "100001"},
		{"retry_batch", "{retry_batch: -1}", "--retry-batch", "-1"},
		{"in_flight", "{in_flight: 1000001}", "--in-flight", "1000001"},
		{"concurrency", "{concurrency: 10001}", "--concurrency", "10001"},
		{"retry.max_attempts", "{retry: {max_attempts: 1000001}}", "--max-attempts", "1000001"},
		{"timeout", "{timeout: 2h}", "--timeout", "2h"},
		{"cadence", "{cadence: psychic}", "--cadence", "psychic"},
		{"rate.bytes", "{rate: {bytes: 1073741825}}", "--rate-bytes", "1073741825"},
		{"rate.messages", "{rate: {messages: -5}}", "--rate", "-5"},
	} {
		file := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: ["+c.yaml+"]\n")
		_, err := (&config.Source{Paths: []string{file}}).Read(component.Kinds())
		if err == nil {
			t.Errorf("%s: a configuration takes %s", c.path, c.yaml)
			continue
		}
		_, said, _ := strings.Cut(err.Error(), c.path+" is ")
		said, _, _ = strings.Cut(said, "\n")
		got := cli(t, "subscriptions", "set", "default", c.flag+"="+c.value, at.flag, at.where, "--why", "x")
		if got.ends(exit.Usage, "nothing was done"); said == "" || !strings.Contains(got.err, said) {
			t.Errorf("%s: the command says %q, and the configuration %q", c.path, got.err, said)
		}
	}
}

func TestASubscriptionIsAddedAndSkipped(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		file := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: late, types: [other], shards: 7}]\n")
		publish := func(payloads ...string) {
			var b strings.Builder
			for _, p := range payloads {
				b.WriteString(`{"key":"a","type":"x","payload":"` + p + `"}` + "\n")
			}
			cliWith(t, b.String(), "publish", "-c", file, "--ndjson").ok()
		}
		sub := func(args ...string) *outcome {
			return cli(t, append([]string{"subscriptions"}, append(args, "-c", file)...)...)
		}
		publish("before")
		sub("add", "late", "--from", "soon", "--why", "x").ends(exit.Usage, "--from")
		sub("add", "late", "--from", "now", "--shards", "5000", "--why", "x").ends(exit.Usage, "--shards")
		sub("add", "late", "--types", "a*", "--why", "x").ends(exit.Usage, "is no type")
		sub("add", "late", "--from", "now", "--types", "x", "--shards", "2", "--why", "a new consumer", "--who", "anna").ok().says("is added")
		sub("add", "late", "--why", "x").ends(exit.Usage, "there already")
		publish("first", "second")
		sub("show", "late").ok().says("operator anna", "2 messages")

		sub("skip", "late", "--why", "x").ends(exit.Usage, "--before")
		sub("skip", "late", "--before", "2020-01-01", "--older-than", "1s", "--why", "x").ends(exit.Usage, "--before")
		sub("skip", "late", "--before", "2020-01-01", "--why", "x").ends(exit.NotFound, "nothing was done")
		sub("skip", "late", "--older-than", "0s", "--types", "y", "--why", "x").ends(exit.NotFound, "nothing was done")
		sub("skip", "late", "--older-than", "0s", "--dry-run", "--why", "x").ok().says("2 messages", "nothing was done")
		sub("skip", "unknown", "--older-than", "0s", "--why", "x").ends(exit.NotFound, "unknown")
		sub("skip", "late", "--older-than", "0s", "--types", "x,x", "--why", "too old", "--yes").ok().says("queued 2 of 2")
		publish("third")
		relay := start(t, "relay", "-c", file)
		await(t, "what was not skipped arrived", func() bool { return strings.Contains(relay.out.String(), "third") })
		if out := relay.out.String(); strings.Contains(out, "first") || strings.Contains(out, "second") || strings.Contains(out, "before") {
			t.Errorf("the relay sent what was skipped, or what was there before: %s", out)
		}
		cli(t, "audit", "-c", file).ok().says("add outbox/late from now", "a new consumer", "discard outbox/late", "subscriptions skip --before", "too old")
	})
}
