package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/store"
)

// Discarded messages lie among delivered ones, so a file cannot have them go before those, even if an operator set how long those stay.
func TestARetentionThatDoesNotFitIsMadeToFit(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, at *place) {
		file := func(retention string) string {
			return write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nboxes: {orders: {retention: {"+retention+"}}}\nsubscriptions: [{name: billing, box: orders}]\n")
		}
		holds := func(words ...string) {
			t.Helper()
			cli(t, "retention", "show", at.flag, at.where, "--box", "orders").ok().says(words...)
		}
		cli(t, "plan", "-c", file("delivered: 10d, discarded: 5d")).ends(exit.Failed, "boxes.orders.retention.discarded is 120h0m0s, less than boxes.orders.retention.delivered, 240h0m0s", "the least is 240h0m0s")
		cli(t, "apply", "-c", file("delivered: 5d, discarded: 10d"), "--migrate", "--yes", "--why", "x").ok()
		holds("delivered 5d (operator)", "discarded 10d (operator)")
		cli(t, "retention", "set", at.flag, at.where, "--box", "orders", "--delivered", "20d", "--discarded", "30d", "--who", "bert", "--why", "an audit").ok()

		short := file("discarded: 10d")
		p := planned(t, differ, "plan", "-c", short)
		if len(p.Differences) != 1 || p.Differences[0].Have != "discarded 30d" || p.Differences[0].Want != "discarded 20d" || p.Differences[0].By != "operator bert" {
			t.Fatalf("of ten days beside twenty of delivered ones the plan is %+v", p.Differences)
		}
		cli(t, "apply", "-c", short, "--yes", "--why", "x").ok().says("done: change retention of orders")
		holds("delivered 20d (operator)", "discarded 20d (operator)")
		cli(t, "plan", "-c", short).ok().says("the stores have what the file says", "orders: the retention is delivered 20d by operator")
		cli(t, "apply", "-c", file("discarded: 25d"), "--yes", "--why", "x").ok()
		holds("delivered 20d (operator)", "discarded 25d (operator)")

		cli(t, "publish", at.flag, at.where, "--box", "orders", "--payload", "x").ok()
		cli(t, "apply", "-c", short, "--yes", "--why", "x").ends(differ, "discarded 25d -> discarded 20d", "it needs --allow-remove")
		holds("discarded 25d (operator)")
		cli(t, "apply", "-c", short, "--allow-remove", "--yes", "--why", "x").ok()
		holds("discarded 20d (operator)")
	})
}

// documentedFields are those of a table of docs/reference/cli.md.
func documentedFields(t *testing.T, heading string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n### A plan, of `plan` and `apply`\n")
	if heading != "" && found {
		_, rest, found = strings.Cut(rest, "\n### "+heading+"\n")
	}
	if !found {
		t.Fatalf("the page has no fields of a plan (%q)", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n### ")
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(rest, -1) {
		out = append(out, m[1])
	}
	return slices.Sorted(slices.Values(out))
}

// jsonFields are the fields that outputs of plan and apply have.
type jsonFields struct {
	plan, differences, notes map[string]bool
	outcomes                 map[string]bool
}

// add takes the fields of one output.
func (f *jsonFields) add(t *testing.T, o *outcome) {
	t.Helper()
	var all map[string]json.RawMessage
	o.json(&all)
	for name := range all {
		f.plan[name] = true
	}
	for list, into := range map[string]map[string]bool{"differences": f.differences, "notes": f.notes} {
		var entries []map[string]any
		if err := json.Unmarshal(all[list], &entries); err != nil || entries == nil {
			t.Errorf("%s is no list of objects (%v): %s", list, err, all[list])
		}
		for _, e := range entries {
			for name, value := range e {
				into[name] = true
				if text, is := value.(string); !is || text == "" {
					t.Errorf("%s.%s is %v, no text", list, name, value)
				}
			}
			if out, is := e["outcome"].(string); is {
				f.outcomes[out] = true
			}
		}
	}
}

func TestPlanAndApplyWriteTheJSONThatIsDocumented(t *testing.T) {
	t.Parallel()
	at, other := emptyFile(t), emptyFile(t)
	named := func(text string) string {
		return write(t, "postbag.yaml", "stores: {one: {dsn: "+at.where+"}, two: {dsn: "+other.where+"}}\ndestinations: {out: {stdout: {}}}\nsubscriptions:\n"+text)
	}
	got := jsonFields{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	first := named("- {store: one, name: billing}\n- {store: one, name: spare}\n- {store: two, name: all}\n")
	got.add(t, cli(t, "plan", "-c", first, "--json").ends(differ))
	if len(got.outcomes) > 0 {
		t.Errorf("a plan has the outcomes %v", got.outcomes)
	}
	apply := func(code exit.Code, args ...string) plan.Plan {
		t.Helper()
		o := cli(t, append([]string{"apply", "--yes", "--why", "x", "--json"}, args...)...).ends(code)
		got.add(t, o)
		var p plan.Plan
		o.json(&p)
		if p.Different != (code == differ) {
			t.Errorf("exit code %d, and different is %v", code, p.Different)
		}
		return p
	}
	apply(differ, "-c", first)
	if want := map[string]bool{plan.Left: true}; !maps.Equal(got.outcomes, want) {
		t.Errorf("without --migrate the outcomes are %v, want %v", got.outcomes, want)
	}
	for _, d := range apply(exit.OK, "-c", first, "--migrate").Differences {
		if d.Outcome != plan.Done {
			t.Errorf("%s is %q", d.Summary(), d.Outcome)
		}
	}
	if p := apply(exit.OK, "-c", first); len(p.Differences) > 0 {
		t.Errorf("of what is applied it says %q", summaries(&p))
	}
	cli(t, "subscriptions", "set", "billing", at.flag, at.where, "--types", "a", "--who", "bert", "--why", "y").ok()
	second := named("- {store: one, name: billing, types: [b]}\n- {store: two, name: all}\n")
	got.add(t, cli(t, "plan", "-c", second, "--json").ends(differ)) // it has a note
	p := apply(exit.OK, "-c", second, "--allow-remove")
	if want := []string{"change types of outbox/billing in store one", "remove subscription outbox/spare in store one"}; !slices.Equal(summaries(&p), want) {
		t.Errorf("it did %q, want %q", summaries(&p), want)
	}
	for heading, has := range map[string]map[string]bool{"": got.plan, "differences": got.differences, "notes": got.notes} {
		if names := slices.Sorted(maps.Keys(has)); !slices.Equal(names, documentedFields(t, heading)) {
			t.Errorf("the fields %s are %q, documented are %q", heading, names, documentedFields(t, heading))
		}
	}
}

func TestAPausedDestinationIsNoPausedSubscription(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		old := write(t, "old.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}, main-queue: {stdout: {}}}\nsubscriptions: [{name: a, to: out}, {name: b, to: main-queue}]\n")
		relay := start(t, "relay", "-c", old)
		await(t, "the relay works", func() bool {
			return strings.Contains(cli(t, "export", at.flag, at.where).out, "to: main-queue")
		})
		file := write(t, "new.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: a}]\n")
		removal := func() *plan.Difference {
			t.Helper()
			p := planned(t, differ, "plan", "-c", file, "--allow-remove")
			if len(p.Differences) != 1 || p.Differences[0].Action != plan.Remove {
				t.Fatalf("the plan is %q", summaries(&p))
			}
			return p.Differences[0]
		}
		cli(t, "subscriptions", "pause", at.flag, at.where, "--destination", "main-queue", "--who", "anna", "--why", "it is full").ok()
		if d := removal(); !strings.HasPrefix(d.Needs, "a pause, since a live relay works it") {
			t.Errorf("while its destination is paused the removal needs %q", d.Needs)
		}
		cli(t, "plan", "-c", file, "--allow-remove").ends(differ, "--destination main-queue is paused by anna: it is full")
		cli(t, "apply", "-c", file, "--allow-remove", "--yes", "--why", "x").ends(differ, "they are left as they are")
		cli(t, "subscriptions", "show", "b", at.flag, at.where).ok()
		cli(t, "subscriptions", "pause", "b", at.flag, at.where, "--topic", "t", "--why", "x").ok()
		if d := removal(); d.Needs == "" {
			t.Error("while a topic of it is paused the removal needs nothing")
		}
		cli(t, "subscriptions", "pause", "b", at.flag, at.where, "--who", "anna", "--why", "to remove it").ok()
		if d := removal(); d.Needs != "" {
			t.Errorf("of a paused subscription the removal needs %q", d.Needs)
		}
		cli(t, "apply", "-c", file, "--allow-remove", "--yes", "--why", "x").ok().says("done: remove subscription outbox/b")
		cli(t, "plan", "-c", file, "--allow-remove").ok().says("--destination main-queue is paused by anna")
		cli(t, "subscriptions", "resume", at.flag, at.where, "--destination", "main-queue", "--why", "x").ok()
		relay.end()
	})
}

// olderRelay is a heartbeat of a relay of version 0.1.0, which says nothing of pauses.
func olderRelay(t *testing.T, at *place, name string, works store.Ref) {
	t.Helper()
	where := config.Store{DSN: at.where}
	if at.flag == "--store-file" {
		where = config.Store{DSNFile: at.where}
	}
	s, err := component.OpenStore(t.Context(), where, component.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Store.Beat(t.Context(), store.Beat{
		Relay: "0190a000-" + name, Name: name, New: true, TTL: time.Hour, Works: []store.Ref{works},
		Conditions: []store.Condition{{Ref: works, State: "closed"}},
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestRelaysThatDoNotKnowAFilterAreNamed(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		ref := store.Ref{Box: "outbox", Subscription: "billing"}
		cli(t, "subscriptions", "add", "billing", at.flag, at.where, "--why", "x").ok()
		olderRelay(t, at, "old-host", ref)
		const says = "relay old-host is of an older version, which knows the types of a filter alone"
		if o := cli(t, "subscriptions", "set", "billing", at.flag, at.where, "--types", "a", "--why", "x").ok(); strings.Contains(o.err, "old-host") {
			t.Errorf("of a filter by types it says %q", o.err)
		}
		if o := cli(t, "status", at.flag, at.where).ok(); strings.Contains(o.out, says) {
			t.Errorf("of a filter by types it says %q", o.out)
		}
		if o := cli(t, "subscriptions", "set", "billing", at.flag, at.where, "--topics", "t", "--why", "x").ok(); !strings.Contains(o.err, says) {
			t.Errorf("of a filter by topics it says %q", o.err)
		}
		cli(t, "status", at.flag, at.where).ok().says("billing: " + says)
		cli(t, "status", "--check", at.flag, at.where).ends(exit.Unhealthy, "outbox/billing: "+says)
		file := func(filter string) string {
			return write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{name: billing, "+filter+"}]\n")
		}
		cli(t, "plan", "-c", file("types: [a], where: {topics: [t]}")).ok().says("outbox/billing: " + says)
		header := file("types: [a], where: {headers: [h=1]}")
		cli(t, "plan", "-c", header).ends(differ, says)
		cli(t, "apply", "-c", header, "--yes", "--why", "x").ok().says(says, "done: change where of outbox/billing")
		if o := cli(t, "apply", "-c", file("types: [a]"), "--yes", "--why", "x").ok(); strings.Contains(o.out+o.err, says) {
			t.Errorf("of a filter by types it says %q", o.out+o.err)
		}
	})
}
