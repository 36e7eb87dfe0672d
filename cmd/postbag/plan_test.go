package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// different is the exit code that says so.
const differ = exit.Usage

// onEveryStore runs a test on each kind of store, with nothing in it.
func onEveryStore(t *testing.T, f func(t *testing.T, at *place)) {
	t.Helper()
	for name, empty := range map[string]func(*testing.T) *place{
		"sqlite": emptyFile, "postgresql": emptyDatabase, "mariadb": emptyMariaDB, "mysql": emptyMySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, empty(t))
		})
	}
}

// planned is a plan of a file as JSON has it.
func planned(t *testing.T, code exit.Code, args ...string) plan.Plan {
	t.Helper()
	var p plan.Plan
	cli(t, append(args, "--json")...).ends(code).json(&p)
	return p
}

// summaries are the differences of a plan in a few words.
func summaries(p *plan.Plan) (out []string) {
	for _, d := range p.Differences {
		out = append(out, d.Summary())
	}
	return out
}

func TestWhatAFileSaysIsAppliedAndThenNothingDiffers(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, at *place) {
		const to = "\ndestinations: {out: {stdout: {}}}\n"
		first := write(t, "postbag.yaml", "store: "+at.yaml+to+`boxes: {orders: {retention: {delivered: 5d, dead: 30d}}, spare: {unread: true}}
sources: [{name: in, from: {webhook: {listen: "127.0.0.1:0", secrets_env: [`+hookSecret+`]}}, box: incoming}]
subscriptions:
  - {name: billing, box: orders, types: [order.*, "a,b"], shards: 2, dead_to: {box: letters, to: out}}
  - {name: audit, box: orders, from: now, where: {topics: [" t ", "u "], headers: ["h= v "]}}
  - {name: recent, box: orders, from: 1h}
`)
		p := planned(t, differ, "plan", "-c", first)
		want := []string{
			"migrate the schema", "create box incoming", "create box letters", "create box orders", "create box spare", "change retention of orders",
			"create subscription letters/default", "create subscription orders/audit", "create subscription orders/billing", "create subscription orders/recent",
		}
		if got := summaries(&p); !slices.Equal(got, want) || !p.Different {
			t.Fatalf("of an empty store the plan is %q, want %q", got, want)
		}
		for _, d := range p.Differences {
			if d.Needs != plan.NeedsMigrate {
				t.Errorf("%s needs %q, want --migrate", d.Summary(), d.Needs)
			}
		}
		cli(t, "apply", "-c", first, "--yes", "--why", "x").ends(differ, "it needs --migrate", "they are left as they are")
		cli(t, "apply", "-c", first, "--yes", "--why", "the first time", "--who", "anna", "--migrate").ok().
			says("done: migrate the schema", "done: create box spare", "done: change retention of orders", "done: create subscription orders/billing")
		cli(t, "plan", "-c", first).ok().says("the stores have what the file says")
		cli(t, "apply", "-c", first, "--why", "again").ok().says("nothing was done")
		cli(t, "retention", "show", at.flag, at.where, "--box", "orders").ok().says("delivered 5d (operator)", "dead 30d (operator)")
		wantAudited(t, at, "anna", "the first time", "set the retention of orders", "add letters/default from first", "add orders/audit from now",
			"add orders/billing from first", "add orders/recent from 2")
		shown := cli(t, "subscriptions", "list", at.flag, at.where).ok().says("order.*", "audit", "recent", "letters")
		if strings.Contains(shown.out, "incoming") {
			t.Errorf("a subscription of a box that only a source fills was made:\n%s", shown.out)
		}
		exported(t, at)
		changedAndApplied(t, at)
	})
}

// exported exports the store, and plans with what comes out, before and after the destinations are corrected.
func exported(t *testing.T, at *place) {
	t.Helper()
	text := cli(t, "export", at.flag, at.where).ok().out
	file := write(t, "exported.yaml", text)
	cli(t, "config", "check", "-c", file).ok()
	if p := planned(t, exit.OK, "plan", "-c", file, "--allow-remove"); p.Different {
		t.Errorf("of its own export the store differs in %q:\n%s", summaries(&p), text)
	}
	corrected := write(t, "corrected.yaml", strings.ReplaceAll(text, `nats: {url: "`+plan.FillIn+`"}`, "stdout: {}"))
	cli(t, "config", "check", "-c", corrected).ok()
	cli(t, "plan", "-c", corrected, "--allow-remove").ok().says("the stores have what the file says")
	asJSON := write(t, "exported.json", cli(t, "export", at.flag, at.where, "--json").ok().out)
	cli(t, "plan", "-c", asJSON, "--allow-remove").ok().says("the stores have what the file says")
}

// changedAndApplied applies another file to the store of the test above, after operators have given commands.
func changedAndApplied(t *testing.T, at *place) {
	t.Helper()
	run := func(args ...string) {
		t.Helper()
		cli(t, append(args, at.flag, at.where, "--who", "bert", "--why", "an emergency")...).ok()
	}
	cli(t, "publish", at.flag, at.where, "--box", "orders", "--payload", "x").ok()
	run("subscriptions", "set", "billing", "--box", "orders", "--types", "refund")
	run("subscriptions", "set", "recent", "--box", "orders", "--types", "a")
	run("shards", "set", "3", "--box", "orders", "--subscription", "billing")
	run("retention", "set", "--box", "orders", "--delivered", "20d", "--yes")
	run("retention", "set", "--box", "spare", "--discarded", "9d", "--yes")
	run("subscriptions", "pause", "--box", "orders", "--subscription", "billing", "--topic", "held")
	run("subscriptions", "remove", "recent", "--box", "orders", "--yes")
	beginReplay(t, at, store.Replay{Ref: store.Ref{Box: "orders", Subscription: "again"}, Of: "billing", Through: 100})
	exported(t, at)
	file := write(t, "second.yaml", "store: "+at.yaml+`
destinations: {out: {stdout: {}}}
boxes: {orders: {retention: {delivered: 5d, dead: never}}, spare: {unread: true}}
subscriptions:
  - {name: billing, box: orders, types: ["a,b", order.*], shards: 2}
  - {name: recent, box: orders}
`)
	p := planned(t, differ, "plan", "-c", file)
	want := []string{"create subscription orders/recent", "change types of orders/billing", "change shards of orders/billing", "change retention of orders"}
	if got := summaries(&p); !slices.Equal(got, want) {
		t.Fatalf("the plan is %q, want %q", got, want)
	}
	for i, needs := range []string{plan.NeedsReadmit, "", "", plan.NeedsRemove} {
		if d := p.Differences[i]; d.Needs != needs || i > 0 && d.By != "operator bert" {
			t.Errorf("%s needs %q, and was set by %q, want %q and bert", d.Summary(), d.Needs, d.By, needs)
		}
	}
	shown := cli(t, "plan", "-c", file).ends(differ, "~ subscription orders/billing: types refund -> a,b,order.* (set by operator bert)", "shards 3 -> 2", "delivered 20d, dead 30d -> delivered 5d, dead never",
		"orders/billing --topic held is paused by bert: an emergency", "orders/billing: it has 2 shards, and relays are to make 3", "orders/again: it is a replay of billing", "orders/audit: it is not in the file; --allow-remove removes it", "incoming: the box is not in the file",
		"bert removed it", "spare: the retention is discarded 9d by operator bert", "it needs --readmit", "it needs --allow-remove")
	if strings.Contains(shown.out, "\x1b") {
		t.Errorf("colours are written to what is no terminal:\n%q", shown.out)
	}
	cli(t, "apply", "-c", file, "--yes", "--why", "the second time", "--who", "carl").ends(differ, "done: change types of orders/billing", "done: change shards of orders/billing", "2 differences", "they are left")
	wantAudited(t, at, "carl", "the second time", "types orders/billing", "shards orders/billing 2")
	cli(t, "subscriptions", "list", at.flag, at.where).ok().says("audit", "again")
	cli(t, "retention", "show", at.flag, at.where, "--box", "orders").ok().says("delivered 20d")
	all := []string{"-c", file, "--allow-remove", "--readmit"}
	p = planned(t, differ, append([]string{"plan"}, all...)...)
	want = []string{"create subscription orders/recent", "change retention of orders", "remove subscription letters/default", "remove subscription orders/audit"}
	if got := summaries(&p); !slices.Equal(got, want) {
		t.Fatalf("with --allow-remove the plan is %q, want %q", got, want)
	}
	cliWith(t, "no\n", append([]string{"apply", "--why", "y"}, all...)...).ends(exit.Failed, "do 4 steps? [y/N]", "nothing was done")
	cli(t, "subscriptions", "show", "audit", "--box", "orders", at.flag, at.where).ok()
	cliWith(t, "yes\n", append([]string{"apply", "--why", "y"}, all...)...).ok().says("done: remove subscription orders/audit")
	cli(t, append([]string{"plan"}, all...)...).ok().says("the stores have what the file says")
	cli(t, "subscriptions", "show", "audit", "--box", "orders", at.flag, at.where).ends(exit.NotFound, "removed")
	cli(t, "replay", "list", at.flag, at.where, "--box", "orders").ok().says("again")
	cli(t, "subscriptions", "pauses", at.flag, at.where).ok().says("held")
	cli(t, "audit", at.flag, at.where).ok().says("readmit orders/recent", "add orders/recent from first", "remove orders/audit", "remove letters/default")
}

// wantAudited fails the test unless the audit log has a line for each beginning of what was done by somebody for a reason.
func wantAudited(t *testing.T, at *place, who, why string, what ...string) {
	t.Helper()
	var lines []operations.AuditLine
	for text := range strings.Lines(cli(t, "audit", at.flag, at.where, "--json").ok().out) {
		var l operations.AuditLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	for _, begins := range what {
		if !slices.ContainsFunc(lines, func(l operations.AuditLine) bool {
			return l.Who == who && l.Why == why && strings.HasPrefix(l.What, begins)
		}) {
			t.Errorf("the audit log does not have %q by %s for %q: %+v", begins, who, why, lines)
		}
	}
}

// beginReplay makes a replay that nobody delivers.
func beginReplay(t *testing.T, at *place, r store.Replay) {
	t.Helper()
	where := config.Store{DSN: at.where}
	if at.flag == "--store-file" {
		where = config.Store{DSNFile: at.where}
	}
	s, err := component.OpenStore(t.Context(), where, component.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	replayer, ok := s.Store.(store.Replayer)
	if !ok {
		t.Fatalf("a store of %s keeps no replays", s.Kind)
	}
	if err := errors.Join(replayer.StartReplay(t.Context(), store.Audit{Who: "bert", Why: "a test"}, r), s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAPlanOfAFileThatIsNotThereMakesNone(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	file := write(t, "postbag.yaml", "store: {dsn: "+at.where+", create: true}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "plan", "-c", file, "--migrate").ends(differ, "+ box outbox", "+ subscription outbox/default: from first")
	cliWith(t, "n\n", "apply", "-c", file, "--migrate", "--why", "x").ends(exit.Failed, "nothing was done")
	cli(t, "export", at.flag, at.where).ends(exit.Usage, "there is no file")
	if _, err := os.Stat(at.where); !os.IsNotExist(err) {
		t.Errorf("the file was made (%v)", err)
	}
}

func TestAnOldSchemaIsMigratedAndThenTheRestIsApplied(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	var steps []printedStep
	cli(t, "migrate", "print", "--store-kind", "sqlite", "--json").ok().json(&steps)
	db, err := sql.Open("sqlite", sqlitestore.DSN(at.where))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps[:len(steps)-1] {
		if _, err := db.ExecContext(context.Background(), s.SQL); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := write(t, "postbag.yaml", "store: {dsn: "+at.where+"}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "plan", "-c", file).ends(differ, "^ schema version", "it needs --migrate", "the rest can be compared after the migration")
	cli(t, "export", at.flag, at.where).ends(exit.Schema, "postbag migrate up")
	p := planned(t, exit.OK, "apply", "-c", file, "--yes", "--migrate", "--why", "x")
	if want := []string{"migrate the schema", "create box outbox", "create subscription outbox/default"}; !slices.Equal(summaries(&p), want) || p.Different {
		t.Errorf("it did %q, want %q (%+v)", summaries(&p), want, p)
	}
	cli(t, "plan", "-c", file).ok()
}

func TestSeveralStoresOfAFileArePlannedTogetherAndByName(t *testing.T) {
	t.Parallel()
	one, two := emptyFile(t), emptyFile(t)
	cli(t, "migrate", "up", one.flag, one.where, "--box", "outbox").ok()
	cli(t, "migrate", "up", two.flag, two.where).ok()
	file := write(t, "postbag.yaml", "stores: {one: {dsn: "+one.where+"}, two: {dsn: "+two.where+`}}
destinations: {out: {stdout: {}}}
subscriptions: [{store: one}, {store: two, box: orders, shards: 2}]
`)
	cli(t, "plan", "-c", file, "--store-name", "one").ends(differ, "+ one: subscription outbox/default")
	p := planned(t, differ, "plan", "-c", file)
	if want := []string{"create box orders in store two", "create subscription outbox/default in store one", "create subscription orders/default in store two"}; !slices.Equal(summaries(&p), want) {
		t.Errorf("the plan is %q, want %q", summaries(&p), want)
	}
	p = planned(t, exit.OK, "apply", "-c", file, "--yes", "--why", "x")
	for _, d := range p.Differences {
		if d.Outcome != plan.Done {
			t.Errorf("%s is %q", d.Summary(), d.Outcome)
		}
	}
	cli(t, "plan", "-c", file).ok()
	cli(t, "export", "-c", file).ends(exit.Usage, "has several stores; name one with --store-name: one, two")
	cli(t, "export", "-c", file, "--store-name", "two").ok().says("box: orders", "shards: 2")
}

func TestASubscriptionThatALiveRelayWorksIsNotRemoved(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		old := write(t, "old.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}, main-queue: {stdout: {}}}\nsubscriptions: [{name: a, to: out}, {name: b, to: main-queue}]\n")
		relay := start(t, "relay", "-c", old)
		await(t, "the relay works", func() bool {
			return strings.Contains(cli(t, "export", at.flag, at.where).out, "to: main-queue")
		})
		exported(t, at)
		file := write(t, "new.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: a}]\n")
		cli(t, "plan", "-c", file).ok().says("outbox/b: it is not in the file")
		cli(t, "apply", "-c", file, "--allow-remove", "--yes", "--why", "x").ends(differ, "- subscription outbox/b", "it needs a pause, since a live relay works it", "postbag subscriptions pause --box outbox --subscription b")
		cli(t, "subscriptions", "pause", "--subscription", "b", at.flag, at.where, "--why", "x").ok()
		cli(t, "apply", "-c", file, "--allow-remove", "--yes", "--why", "x").ok().says("done: remove subscription outbox/b")
		cli(t, "plan", "-c", file, "--allow-remove").ok()
		relay.end()
	})
}

func TestExitCodeTwoOfAPlanSaysThatSomethingDiffersAndNothingElse(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	good := "store: {dsn: " + at.where + "}\ndestinations: {out: {stdout: {}}}\n"
	file := write(t, "postbag.yaml", good)
	wrong := write(t, "wrong.yaml", good+"subscriptions: [{shards: many}]\n")
	for _, one := range []struct {
		says string
		args []string
	}{
		{"-c is missing", []string{"plan"}},
		{"-c is missing", []string{"apply", "--why", "x"}},
		{"wrong.yaml:3: subscriptions[0].shards is no whole number", []string{"plan", "-c", wrong}},
		{"cannot be read", []string{"plan", "-c", filepath.Join(at.folder, "none.yaml")}},
		{"unknown flag: --force", []string{"plan", "-c", file, "--force"}},
		{"--store-name names none of the file's stores", []string{"plan", "-c", file, "--store-name", "main"}},
		{"--store-name is empty", []string{"plan", "-c", file, "--store-name", ""}},
		{"takes no arguments", []string{"plan", file}},
		{"--profile goes with -c", []string{"plan", "--profile", "x"}},
		{"--why is missing", []string{"apply", "-c", file, "--yes"}},
		{"--json has no question; give --yes too", []string{"apply", "-c", file, "--json", "--why", "x"}},
		{"there was no answer", []string{"apply", "-c", file, "--why", "x"}},
	} {
		cli(t, one.args...).ends(exit.Failed, one.says)
	}
	cli(t, "plan", "-c", file).ends(2, "1 difference: 1 to make; postbag apply makes it so")
	gone := write(t, "gone.yaml", "store: {dsn_env: POSTBAG_TEST_DSN}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "plan", "-c", gone).ends(exit.Unavailable, "store.dsn_env")
	cli(t, "export", "-c", gone).ends(exit.Unavailable, "store.dsn_env")
	empty := emptyFile(t)
	cli(t, "migrate", "up", empty.flag, empty.where).ok()
	cli(t, "export", empty.flag, empty.where).ends(exit.NotFound, "there is nothing to export")
	cli(t, "export").ends(exit.Usage, "no store is given")
}

func TestAnExportedFileOfBoxesAloneIsRight(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox", "--box", "no1").ok()
	cli(t, "retention", "set", at.flag, at.where, "--discarded", "30h90m", "--dead", "never", "--why", "x", "--yes").ends(exit.Usage, "less than delivered")
	cli(t, "retention", "set", at.flag, at.where, "--delivered", "1h", "--discarded", "30h90m", "--why", "x", "--yes").ok()
	exported(t, at)
	text := cli(t, "export", at.flag, at.where).ok().out
	cli(t, "relay", "-c", write(t, "postbag.yaml", text)).ends(exit.Usage, "has no subscription; name one")
}

func TestAnExportedFileDeliversNothingUntilItIsCorrected(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "publish", at.flag, at.where, "--payload", "precious").ok()
	cli(t, "apply", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n"), "--yes", "--why", "x").ok()
	text := cli(t, "export", at.flag, at.where).ok().out
	if o := cli(t, "relay", "-c", write(t, "exported.yaml", text), "--drain"); o.code != exit.Unavailable || strings.Contains(o.out, "precious") {
		t.Errorf("a relay with an exported file ended with %d:\n%s%s", o.code, o.out, o.err)
	}
	corrected := strings.ReplaceAll(text, `nats: {url: "`+plan.FillIn+`"}`, "stdout: {}")
	cli(t, "relay", "-c", write(t, "corrected.yaml", corrected), "--drain").ok().says("precious")
}
