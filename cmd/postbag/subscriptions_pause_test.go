package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

func TestMessagesOfATopicArePausedUntilTheyAreResumed(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		run := func(args ...string) *outcome {
			return cli(t, slices.Concat(args[:2], []string{at.flag, at.where}, args[2:])...)
		}
		publish := func(topic, key string) {
			cli(t, "publish", at.flag, at.where, "--topic", topic, "--key", key, "--payload", topic+" "+key).ok()
		}
		publish("free", "a")
		relay := start(t, "relay", at.flag, at.where, "--to", "stdout:")
		await(t, "the first is delivered", func() bool { return strings.Contains(relay.out.String(), "free a") })
		run("subscriptions", "pause", "--topic", "held", "--who", "anna", "--why", "a bad deployment").ok().
			says("outbox/default --topic held is paused")
		await(t, "the relay has heard of it", func() bool { return strings.Contains(relay.err.String(), "an operator holds some messages") })
		publish("held", "a")
		publish("free", "a") // behind it
		publish("free", "b")
		await(t, "the other key goes on", func() bool { return strings.Contains(relay.out.String(), "free b") })
		var pauses []operations.Pause
		run("subscriptions", "pauses", "--json").ok().json(&pauses)
		if len(pauses) != 1 || pauses[0].Who != "anna" || pauses[0].Why != "a bad deployment" || pauses[0].Value != "held" || pauses[0].Until != nil {
			t.Errorf("the pauses are %+v", pauses)
		}
		cli(t, "subscriptions", "pauses", at.flag, at.where).ok().says("topic held of outbox/default").says("anna")
		await(t, "the message is counted", func() bool {
			return strings.Contains(cli(t, "subscriptions", "pauses", at.flag, at.where).ok().out, "1 message")
		})
		cli(t, "status", at.flag, at.where).ok().says("topic held of outbox/default is paused by anna since ")
		cli(t, "subscriptions", "show", "default", at.flag, at.where).ok().says("topic held of outbox/default by anna since ", "a bad deployment")
		cli(t, "subscriptions", "list", at.flag, at.where).ok().says("paused in part")
		cli(t, "status", "--check", at.flag, at.where).ends(exit.Unhealthy, "topic held of outbox/default is paused by anna")
		if strings.Contains(relay.out.String(), "held a") || strings.Count(relay.out.String(), "free a") != 1 {
			t.Errorf("what is paused was sent: %s", relay.out.String())
		}
		run("subscriptions", "resume", "--topic", "held", "--why", "fixed").ok().says("outbox/default --topic held goes on")
		await(t, "the rest is delivered", func() bool { return strings.Count(relay.out.String(), "free a") == 2 })
		if out := relay.out.String(); strings.Index(out, "held a") > strings.LastIndex(out, "free a") {
			t.Errorf("a key is out of order: %s", out)
		}
		run("subscriptions", "resume", "--topic", "held", "--why", "fixed").ends(exit.NotFound, "there is no pause of outbox/default --topic held")
		cli(t, "audit", at.flag, at.where).ok().says("pause outbox/default --topic held").says("resume outbox/default --topic held")
	})
}

func TestAPauseWithAnEndEndsWithoutARelay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "publish", at.flag, at.where, "--payload", "held").ok()
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok()
		cli(t, "subscriptions", "pause", at.flag, at.where, "--for", "1500ms", "--why", "a test").ok().says("is paused")
		cli(t, "status", "--check", at.flag, at.where).ends(exit.Unhealthy, "outbox/default is paused")
		await(t, "the pause has ended", func() bool {
			return strings.Contains(cli(t, "subscriptions", "pauses", at.flag, at.where).ok().out, "nothing is paused")
		})
		if o := cli(t, "status", "--check", at.flag, at.where); strings.Contains(o.err, "paused") {
			t.Errorf("its end is over, and it says %q", o.err)
		}
	})
}

func TestWrongPausesAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "publish", at.flag, at.where, "--payload", "x").ok()
	cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok()
	for _, c := range []struct {
		args []string
		code exit.Code
		said string
	}{
		{[]string{"--topic", ""}, exit.Usage, "--topic is empty; give it a value"},
		{[]string{"--key", ""}, exit.Usage, "--key is empty; give it a value"},
		{[]string{"--topic", "a", "--key", "b"}, exit.Usage, "--topic and --key are given; give one of"},
		{[]string{"--destination", "d", "--subscription", "default"}, exit.Usage, "leave --box and --subscription out"},
		{[]string{"--for", "0s"}, exit.Usage, "--for is not above zero"},
		{[]string{"--for", "-2h"}, exit.Usage, "--for is not above zero"},
		{[]string{"--for", "soon"}, exit.Usage, "--for is no duration; write"},
		{[]string{"--for", "2h", "--until", "2099-01-01T00:00:00Z"}, exit.Usage, "--for and --until are given"},
		{[]string{"--until", "tomorrow"}, exit.Usage, "--until is no time"},
		{[]string{"--until", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}, exit.Usage, "the end of the pause is over by the database's clock"},
		{[]string{"--subscription", "none", "--topic", "a"}, exit.NotFound, "has no subscription none"},
		{[]string{"--topic", strings.Repeat("t", 256)}, exit.Usage, "no message has one of more than 255"},
	} {
		cli(t, slices.Concat([]string{"subscriptions", "pause", at.flag, at.where, "--why", "x"}, c.args)...).ends(c.code, c.said)
	}
	cli(t, "subscriptions", "pause", at.flag, at.where, "--topic", "a").ends(exit.Usage, "--why is missing")
	cli(t, "subscriptions", "pauses", at.flag, at.where).ok().says("nothing is paused")
	if o := cli(t, "subscriptions", "pause", at.flag, at.where, "--destination", "nowhere", "--why", "x").ok(); !strings.Contains(o.err, "no live relay calls its destination nowhere") {
		t.Errorf("of a destination that no relay names it says %q", o.err)
	}
}
