package main

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// Scripts were written for either form while commands took one of the two.
func TestANameIsTakenAsAnArgumentAndAsAFlag(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: billing}]\n")
	cli(t, "apply", "-c", config, "--yes", "--migrate", "--why", "x").ok()
	cli(t, "publish", "-c", config, "--key", "a", "--payload", "x").ok()
	run := func(code exit.Code, words string, says ...string) {
		t.Helper()
		cli(t, append(strings.Fields(words), "-c", config)...).ends(code, says...)
	}
	for _, name := range []string{"billing", "--subscription billing", "--subscription=billing"} {
		run(exit.OK, "subscriptions show "+name, "outbox/billing")
		run(exit.OK, "subscriptions set --types a --why x "+name, "the filter of outbox/billing is a now")
		run(exit.OK, "subscriptions set --all-types --why x "+name)
		run(exit.OK, "subscriptions pause --why x "+name, "outbox/billing is paused")
		run(exit.OK, "subscriptions pauses --box outbox", "outbox/billing")
		run(exit.NotFound, "subscriptions pauses --box other", "there is no box other")
		run(exit.OK, "subscriptions resume --why x "+name, "outbox/billing goes on")
		run(exit.OK, "subscriptions remove --dry-run --why x "+name, "outbox/billing would be removed")
		run(exit.NotFound, "subscriptions readmit --why x "+name, "no subscription outbox/billing was removed")
	}
	for _, command := range []string{"show", "set --all-types --why x", "pause --why x", "resume --why x", "remove --why x", "readmit --why x"} {
		run(exit.Usage, "subscriptions "+command+" billing --subscription billing", "is named by an argument and by --subscription; keep one")
		run(exit.Usage, "subscriptions "+command+" one two", "takes one argument, the name of the subscription (or --subscription)")
		run(exit.Usage, "subscriptions "+command+" --subscription=", "--subscription is empty")
	}
	run(exit.Usage, "subscriptions show", "takes one argument, the name of the subscription (or --subscription), and got 0")
	run(exit.Usage, "subscriptions pause billing --destination out --why x", "leave --box and --subscription out, and the name")
	for _, command := range []string{"status", "pause --why x", "resume --why x", "cancel --why x"} {
		run(exit.NotFound, "replay "+command+" --name none", "box outbox has no replay none")
		run(exit.Usage, "replay "+command+" none --name none", "keep one")
	}
	run(exit.OK, "replay start again --subscription billing --last 1 --key a --keys b --yes --why x", "replay again is through: 1 delivered")
	run(exit.OK, "replay start --name again --subscription billing --last 1 --keys b --yes --why x", "replay again is through: 0 delivered")
	run(exit.OK, "inbox list", "the marks of all consumers are kept for the default time")
	run(exit.OK, "inbox keep --consumer one --for 3d", "the marks of one are kept for 72h0m0s")
	run(exit.OK, "inbox keep two --for 3d")
	run(exit.Usage, "inbox keep two --consumer two --for 3d", "keep one")
}

func TestWhatIsNotThereIsNamedInTheSameWords(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		for _, words := range []string{
			"messages list", "ledger accept --why x", "maintain", "retention show", "subscriptions list", "status", "subscriptions pauses",
		} {
			cli(t, append(strings.Fields(words), "--box", "nope", at.flag, at.where)...).ends(exit.NotFound, "there is no box nope", "postbag migrate up --box")
		}
		cli(t, "messages", "list", at.flag, at.where, "--key", "a").ok().says("no message of box outbox matches")
		cli(t, "publish", at.flag, at.where, "--payload", "x").ok()
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok()
		cli(t, "messages", "list", at.flag, at.where).ok().says("BOX     SUBSCRIPTION", "outbox  default")
		cli(t, "messages", "retry", at.flag, at.where, "--state", "dead", "--why", "x").ends(exit.Usage, "--state alone selects nothing")
	})
	cli(t, "adopt", "--store", "x.db", "--table", "t").ends(exit.Usage, "--from: it is not said whose table it is")
	cli(t, "metrics", "--store", "x.db", "--every", "1").ends(exit.Usage, "--every is no duration; write")
	if a, b := cli(t, "--version").ok().out, cli(t, "version").ok().out; a != b || a == "" {
		t.Errorf("--version says %q, and version %q", a, b)
	}
}
