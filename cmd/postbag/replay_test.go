package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

// replayConfig writes a configuration whose subscription goes to one endpoint, with another one beside it.
func replayConfig(t *testing.T, at *place, own, other *hook) string {
	t.Helper()
	return write(t, "postbag.yaml", fmt.Sprintf(`
store: %s
ttl: 1s
poll: 50ms
keep: 1s
destinations:
  shop:
    webhook: {url: %s, secrets_env: [%s], allow_private: [127.0.0.0/8]}
  audit:
    webhook: {url: %s, secrets_env: [%s], allow_private: [127.0.0.0/8]}
subscriptions:
  - {to: shop, retry: {max_attempts: 1}}
`, at.yaml, own.url, hookSecret, other.url, hookSecret))
}

// delivered publishes n messages of some keys and types, and has them delivered.
func delivered(t *testing.T, config string, n int) {
	t.Helper()
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, `{"topic":"orders","key":"k%d","type":"order.t%d","payload":"%d"}`+"\n", i%3, i%2, i)
	}
	cliWith(t, in.String(), "publish", "-c", config, "--ndjson").ok()
	cli(t, "relay", "-c", config, "--drain").ok()
}

// payloads are those of messages that carry the header of a replay.
func (h *hook) replayed(name string) (out []string) {
	for _, m := range h.messages() {
		if m.Headers[broker.HeaderReplay] == name {
			out = append(out, string(m.Payload))
		}
	}
	return out
}

// replays are those there are.
func replays(t *testing.T, config string) (all []operations.Replay) {
	t.Helper()
	cli(t, "replay", "list", "-c", config, "--json").ok().json(&all)
	return all
}

func TestAnErasedMessageIsNotReplayed(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own := startHook(t)
		config := replayConfig(t, at, own, startHook(t))
		delivered(t, config, 3)
		id := cli(t, "messages", "list", "-c", config, "--oldest", "--json").ok().items()[0].ID.String()
		cli(t, "messages", "erase", id, "-c", config, "--why", "request 4711").ok()
		cli(t, "messages", "show", id, "-c", config).ok().says("header Postbag-Erased")
		cli(t, "replay", "start", "-c", config, "--from", "1h", "--name", "again", "--why", "lost there", "--yes").ok().says("replay again is through: 2 delivered, 1 left out")
		got := own.replayed("again")
		slices.Sort(got)
		if !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("what came again is %q", got)
		}
	})
}

func TestAReplaySendsARangeAgainAndIsAudited(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		delivered(t, config, 60)
		first := cli(t, "messages", "list", "-c", config, "--oldest", "--limit", "1", "--json").ok().items()[0].Seq
		seq := func(n int64) string { return fmt.Sprint(first + n) }
		cli(t, "replay", "start", "-c", config, "--from-seq", seq(10), "--to-seq", seq(39), "--keys", "k1", "--types", "order.t1", "--rate", "100",
			"--destination", "audit", "--why", "lost there", "--dry-run").ok().says("at most about 30 messages of outbox/default", "to destination audit at 100/s: about 300ms")
		if len(replays(t, config)) > 0 {
			t.Fatal("a dry run has made a replay")
		}
		cliWith(t, "no\n", "replay", "start", "-c", config, "--last", "5", "--why", "lost there").ends(exit.Usage, "about 5 messages", "nothing was done")
		cli(t, "replay", "start", "-c", config, "--from-seq", seq(10), "--to-seq", seq(39), "--keys", "k1", "--types", "order.t1", "--name", "again",
			"--destination", "audit", "--why", "lost there", "--who", "ops", "--yes").ok().says("replay again is through: 5 delivered, ")
		if got := other.replayed("again"); !slices.Equal(got, []string{"13", "19", "25", "31", "37"}) {
			t.Errorf("what came again is %v", got)
		}
		if n := len(own.messages()); n != 60 {
			t.Errorf("the subscription's own endpoint got %d messages", n)
		}
		if len(replays(t, config)) > 0 {
			t.Error("a replay that is through is still there")
		}
		cli(t, "audit", "-c", config).ok().says("ops", "lost there", "start replay outbox/again of default", "1 keys", "end replay outbox/again: 5 delivered")
		cli(t, "replay", "start", "-c", config, "--from", "1h", "--why", "all", "--yes", "--unmarked").ok().says("60 delivered")
		if n := len(own.messages()); n != 120 || len(own.replayed("")) != 120 {
			t.Errorf("unmarked, %d messages came again, %d of them without a mark", n-60, len(own.replayed(""))-60)
		}
	})
}

func TestAReplayThatIsWrongIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	own, other := startHook(t), startHook(t)
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox", "--box", "empty").ok()
	config := replayConfig(t, at, own, other)
	delivered(t, config, 10)
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for args, c := range map[string]struct {
		code exit.Code
		says string
	}{
		"--from 1h --box nowhere":                 {exit.NotFound, "no subscription default of box nowhere"},
		"--from 1h --subscription nobody":         {exit.NotFound, "no subscription nobody"},
		"--from 1h --destination nowhere":         {exit.NotFound, "no destination nowhere; it has audit, shop"},
		"":                                        {exit.Usage, "0 of --from, --from-seq and --last"},
		"--from 1h --from-seq 3":                  {exit.Usage, "2 of --from, --from-seq and --last"},
		"--from 1h --to 2h":                       {exit.Usage, "before it begins"},
		"--from-seq 5 --to-seq 4":                 {exit.Usage, "before it begins"},
		"--from-seq 0":                            {exit.Usage, "--from-seq is 0"},
		"--from-seq many":                         {exit.Usage, "--from-seq is no whole number"},
		"--from-seq 11":                           {exit.Usage, "ends with seq 10"},
		"--from-seq 1 --to-seq 11":                {exit.Usage, "ends with seq 10"},
		"--last 0":                                {exit.Usage, "--last is 0"},
		"--from-seq 1 --to 1h --to-seq 4":         {exit.Usage, "--to and --to-seq"},
		"--from " + future:                        {exit.Usage, "lies in the future"},
		"--from 1h --to " + future:                {exit.Usage, "lies in the future"},
		"--from 2026-01-01 --to 2026-01-02":       {exit.Usage, "no message"},
		"--last 5 --rate 0":                       {exit.Usage, "--rate is no number above 0"},
		"--last 5 --rate -3":                      {exit.Usage, "--rate is no number above 0"},
		"--last 5 --rate NaN":                     {exit.Usage, "--rate is no number above 0"},
		"--last 5 --rate Inf":                     {exit.Usage, "rate"},
		"--last 5 --rate fast":                    {exit.Usage, "--rate is no number"},
		"--last 5 --types=":                       {exit.Usage, "--types is empty"},
		"--last 5 --keys=":                        {exit.Usage, "is empty"},
		"--last 5 --name @maintenance":            {exit.Usage, "name"},
		"--last 5 --name default":                 {exit.Usage, "choose another name"},
		"--last 5 --why=":                         {exit.Usage, "--why"},
		"--last 5 --subscription other --box box": {exit.NotFound, "no subscription other"},
	} {
		t.Run(args, func(t *testing.T) {
			line := append([]string{"replay", "start", "-c", config, "--why", "a test", "--yes"}, strings.Fields(args)...)
			cli(t, line...).ends(c.code, c.says)
		})
	}
	cli(t, "replay", "start", "--store", at.where, "--last", "5", "--why", "a test").ends(exit.Usage, "-c FILE")
	for _, sub := range []string{"status", "pause", "resume", "cancel"} {
		line := []string{"replay", sub, "nothing", "-c", config}
		if sub != "status" {
			line = append(line, "--why", "a test")
		}
		cli(t, line...).ends(exit.NotFound, "no replay nothing")
	}
	if all := replays(t, config); len(all) > 0 {
		t.Errorf("refused replays are there: %+v", all)
	}
	cli(t, "audit", "-c", config).ok()
	if said := cli(t, "audit", "-c", config).out; strings.Contains(said, "replay") {
		t.Errorf("the audit log has refused replays:\n%s", said)
	}
}

// A process that is killed in the middle leaves the replay in the store, and another one goes on with it. What was not settled
// comes once more: at least once.
func TestAKilledReplayGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		const n = 300
		delivered(t, config, n)
		cmd := exec.Command(os.Args[0], "replay", "start", "-c", config, "--from", "1h", "--name", "again", "--destination", "audit", "--rate", "50",
			"--why", "lost there", "--yes")
		var said buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "some came again", func() bool { return len(other.messages()) > 60 })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(said.String())
		}
		all := replays(t, config)
		if len(all) != 1 || all[0].Name != "again" || all[0].Done >= 1 || all[0].Rate != 50 || all[0].Delivered >= n {
			t.Fatalf("after the kill there is %+v", all)
		}
		before := len(other.messages())
		cli(t, "replay", "resume", "again", "-c", config, "--why", "go on").ok().says("replay again is through: 300 delivered")
		distinct := map[string]bool{}
		last := map[string]int{}
		for _, m := range other.messages() {
			id := m.ID.String()
			if !distinct[id] { // first deliveries keep the sequence of the key
				var i int
				if _, err := fmt.Sscan(string(m.Payload), &i); err != nil || i < last[m.Key] {
					t.Errorf("of key %s came %q behind %d: %v", m.Key, m.Payload, last[m.Key], err)
				}
				last[m.Key] = i
			}
			distinct[id] = true
		}
		if len(distinct) != n {
			t.Errorf("%d of %d messages came again", len(distinct), n)
		}
		if twice := len(other.messages()) - n; twice > 200 || before < 60 {
			t.Errorf("%d messages came twice: it began from the beginning", twice)
		}
	})
}

func TestAReplayIsPausedInterruptedAndCancelled(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		delivered(t, config, 300)
		begin := func(args ...string) *running {
			return start(t, append([]string{"replay", "start", "-c", config, "--from", "1h", "--destination", "audit", "--rate", "30", "--why", "lost there", "--yes"}, args...)...)
		}
		r := begin("--name", "first")
		await(t, "some came again", func() bool { return len(other.messages()) > 30 })
		cli(t, "replay", "pause", "first", "-c", config, "--why", "wait").ok().says("first is paused")
		cli(t, "replay", "status", "first", "-c", config).ok().says("first of outbox/default is paused")
		cli(t, "status", "-c", config).ok().says("first")
		if code := r.end(); code != exit.Interrupted {
			t.Errorf("interrupted, it ended with %d", code)
		}
		if all := replays(t, config); len(all) != 1 || all[0].State != operations.ReplayPaused || all[0].Delivered == 0 {
			t.Errorf("after the interrupt there is %+v", all)
		}
		cliWith(t, "", "replay", "cancel", "first", "-c", config, "--why", "enough").ends(exit.Usage, "nothing was done")
		cli(t, "replay", "cancel", "first", "-c", config, "--why", "enough", "--yes").ok().says("replay first is ended", "ended at")
		before := len(other.messages())
		r = begin("--name", "second")
		await(t, "some more came again", func() bool { return len(other.messages()) > before+30 })
		cli(t, "replay", "cancel", "second", "-c", config, "--why", "enough", "--yes").ok()
		if code := <-r.ended; code != exit.Failed || !strings.Contains(r.err.String(), "was ended by another command") {
			t.Errorf("cancelled, it ended with %d", code)
		}
		if all := replays(t, config); len(all) > 0 {
			t.Errorf("cancelled, there is %+v", all)
		}
		cli(t, "audit", "-c", config).ok().says("end replay outbox/second")
		if code := cli(t, "relay", "-c", config, "--drain").code; code != exit.OK {
			t.Errorf("the subscription's own relay ended with %d", code)
		}
	})
}

// What a replay has not sent is not dropped, though the subscription has passed it long ago.
func TestRetentionWaitsForAReplay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		const n = 120
		delivered(t, config, n)
		replay := start(t, "replay", "start", "-c", config, "--from-seq", "1", "--name", "again", "--destination", "audit", "--rate", "20", "--why", "lost there", "--yes")
		await(t, "the replay is there", func() bool { return len(replays(t, config)) == 1 })
		start(t, "relay", "-c", config) // with its housekeeping, which keeps messages for a second
		await(t, "it is through", func() bool {
			select {
			case code := <-replay.ended:
				if code != exit.OK {
					t.Errorf("the replay ended with %d", code)
				}
				return true
			default:
				return false
			}
		})
		if got := len(other.replayed("again")); got != n {
			t.Errorf("%d of %d messages came again", got, n)
		}
	})
}

func TestAReplayWithDeadMessagesStaysUntilTheyAreDealtWith(t *testing.T) {
	t.Parallel()
	own, other := startHook(t), startHook(t, "order.t1")
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := replayConfig(t, at, own, other)
	delivered(t, config, 2)
	cli(t, "replay", "start", "-c", config, "--last", "2", "--name", "again", "--destination", "audit", "--why", "lost there", "--yes").
		ends(exit.Failed, "replay again is through but for 1 dead message", "postbag replay resume again")
	cli(t, "replay", "status", "again", "-c", config).ok().says("again of outbox/default is dead", "1 delivered", "1 dead")
	other.accept()
	cli(t, "messages", "retry", "--all", "--subscription", "again", "-c", config, "--why", "fixed", "--yes").ok()
	cli(t, "replay", "resume", "again", "-c", config, "--why", "fixed").ok().says("again is through: 2 delivered")
	if got := other.replayed("again"); len(got) != 2 {
		t.Errorf("what came again is %v", got)
	}
}

// Of three keys, 0, 2 and 4 are refused and die. 3, 5 and 6 wait behind them, and 1 is delivered.
func TestAReplayEndsThoughMessagesWaitBehindDeadOnes(t *testing.T) {
	t.Parallel()
	own, other := startHook(t), startHook(t, "order.t0")
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := replayConfig(t, at, own, other)
	delivered(t, config, 7)
	cli(t, "replay", "start", "-c", config, "--last", "7", "--name", "again", "--destination", "audit", "--why", "lost there", "--yes").
		ends(exit.Failed, "replay again is through but for 3 dead messages and 3 messages of their keys behind")
	other.accept()
	cli(t, "messages", "retry", "--all", "--subscription", "again", "-c", config, "--why", "fixed", "--yes").ok()
	cli(t, "replay", "resume", "again", "-c", config, "--why", "fixed").ok().says("again is through: 7 delivered")
}

func TestAReplayGoesByWhatAnOperatorHasSetOfItsSubscription(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		own, other := startHook(t), startHook(t)
		config := replayConfig(t, at, own, other)
		delivered(t, config, 40)
		cli(t, "subscriptions", "set", "default", "-c", config, "--rate", "20/s", "--burst", "5", "--max-age", "1ms", "--timeout", "9s", "--why", "a slow partner").ok()
		start := []string{"replay", "start", "-c", config, "--last", "1000", "--why", "lost there"}
		cli(t, append(start, "--dry-run")...).ok().says("with what an operator has set of the subscription, rate=20/s burst=5 timeout=9s: about ")
		cli(t, append(start, "--dry-run", "--rate", "50")...).ok().says("rate=50/s burst=5 timeout=9s: about ")
		began := time.Now()
		cli(t, append(start, "--yes", "--name", "again")...).ok().says("replay again is through: 40 delivered")
		if took := time.Since(began); took < 1500*time.Millisecond {
			t.Errorf("40 messages came again within %v, at 20 a second", took)
		}
		cli(t, "audit", "-c", config).ok().says(`set outbox/again rate="20/s burst=5" timeout="9s"`)
	})
}
