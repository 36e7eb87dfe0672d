package plan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

func TestApplyStopsAtTheFirstErrorAndSaysWhatWasDoneAndWhatWasNot(t *testing.T) {
	t.Parallel()
	var did []string
	does := func(name string, err error) step {
		return func(context.Context, *Target, store.Audit) error {
			did = append(did, name)
			return err
		}
	}
	away := exit.With(exit.Unavailable, errors.New("the store is away"))
	p := &Plan{}
	p.add("", []*Difference{
		{Box: "b", Subscription: "old", Action: Remove, rank: removes, do: does("remove", nil)},
		{Box: "b", Action: Change, Setting: "retention", rank: keepsShorter, do: does("shorter", nil)},
		{Box: "b", Subscription: "s", Action: Change, Setting: "types", rank: filters, do: does("types", away)},
		{Box: "b", Subscription: "r", Action: Create, rank: declares, Needs: NeedsReadmit, do: does("readmit", nil)},
		{Box: "b", Subscription: "s2", Action: Create, rank: declares, do: does("declare", nil)},
		{Box: "c", Action: Change, Setting: "retention", rank: keepsLonger, do: does("longer", nil)},
		{Box: "b", Action: Create, rank: makesBox, do: does("box", nil)},
	}, nil)
	var told []string
	err := p.Apply(t.Context(), []*Target{{}}, store.Audit{}, func(d *Difference) { told = append(told, d.Summary()) })
	if want := []string{"box", "longer", "declare", "types"}; !slices.Equal(did, want) {
		t.Errorf("it did %v, want %v", did, want)
	}
	if want := []string{"create box b", "change retention of c", "create subscription b/s2"}; !slices.Equal(told, want) {
		t.Errorf("it told of %q, want %q", told, want)
	}
	const says = "apply stopped: change types of b/s: the store is away; 3 of 6 were done; not done: change retention of b; remove subscription b/old; correct that and run apply again"
	if err == nil || !strings.HasPrefix(err.Error(), says) || exit.Of(err) != exit.Unavailable {
		t.Errorf("the error is %v (code %d), want %q", err, exit.Of(err), says)
	}
	var outcomes []string
	for _, d := range p.Differences {
		outcomes = append(outcomes, d.Outcome)
	}
	if want := []string{Done, Done, Left, Done, Failed, NotDone, NotDone}; !slices.Equal(outcomes, want) {
		t.Errorf("the outcomes are %v, want %v", outcomes, want)
	}
}

func TestApplyThatIsInterruptedBeginsNoOtherStep(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &Plan{}
	ended := false
	p.add("", []*Difference{
		{Box: "a", Action: Create, do: func(context.Context, *Target, store.Audit) error { cancel(); return nil }},
		{Box: "b", Action: Create, do: func(context.Context, *Target, store.Audit) error { ended = true; return nil }},
	}, nil)
	err := p.Apply(ctx, []*Target{{}}, store.Audit{}, func(*Difference) {})
	if ended || exit.Of(err) != exit.Interrupted || !strings.Contains(err.Error(), "1 of 2 were done") {
		t.Errorf("it ended with %v (code %d), and went on: %v", err, exit.Of(err), ended)
	}
}

// target opens a sqlite store with a box that is called orders.
func target(t *testing.T) *Target {
	t.Helper()
	path := t.TempDir() + "/shop.db"
	s, err := component.OpenStore(t.Context(), config.Store{DSN: path}, component.StoreOptions{Create: true, Boxes: []string{"orders"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(t.Context(), "", config.Store{DSN: path}, Wanted{Boxes: []Box{{Name: "orders"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// A plan that somebody looked at must not do more than it said because the store has changed since.
func TestApplyRefusesWhatChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	at, a := target(t), store.Audit{Who: "anna", Why: "a test"}
	at.Want.Boxes[0].Retention.Delivered = 96 * time.Hour
	file := &config.Subscription{Box: "orders", Name: "billing"}
	at.Want.Subscriptions = []Subscription{{file}}
	p, err := Compare(t.Context(), []*Target{at}, Options{})
	if err != nil || len(p.Ready()) != 2 {
		t.Fatalf("the plan is %v, %v", p, err)
	}
	o := at.operations()
	longer, err := o.PreviewRetention(t.Context(), "orders", store.Lifetimes{Delivered: 9000 * time.Hour})
	if err = errors.Join(err, o.SetRetention(t.Context(), a, &longer)); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), []*Target{at}, a, func(*Difference) {}); !errors.Is(err, errShorter) {
		t.Errorf("a retention that became shorter than the plan says ended with %v", err)
	}
	err = at.open.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "orders", Subscription: "billing"}}})
	if err = errors.Join(err, o.Remove(t.Context(), a, store.Ref{Box: "orders", Subscription: "billing"}, false)); err != nil {
		t.Fatal(err)
	}
	if err := p.Differences[1].do(t.Context(), at, a); !errors.Is(err, errDeclared) {
		t.Errorf("a subscription that was removed since the plan ended with %v", err)
	}
}

// A relay, or another apply, may declare a subscription after the plan was made. That is what the file wants, if the filter is the same.
func TestApplyTakesASubscriptionThatSomebodyDeclaredSinceThePlan(t *testing.T) {
	t.Parallel()
	at, a := target(t), store.Audit{Who: "anna", Why: "a test"}
	at.Want.Subscriptions = []Subscription{{&config.Subscription{Box: "orders", Name: "billing", Types: []string{"a"}}}}
	p, err := Compare(t.Context(), []*Target{at}, Options{})
	if err != nil || len(p.Ready()) != 1 {
		t.Fatalf("the plan is %v, %v", p, err)
	}
	spec := store.Spec{Ref: store.Ref{Box: "orders", Subscription: "billing"}, Types: []string{"a"}}
	if err := at.open.Declare(t.Context(), []store.Spec{spec}); err != nil {
		t.Fatal(err)
	}
	if err := p.Differences[0].do(t.Context(), at, a); err != nil {
		t.Errorf("a subscription that was declared since the plan ended with %v", err)
	}
	at.Want.Subscriptions[0].Types = []string{"b"}
	if err := p.Differences[0].do(t.Context(), at, a); err == nil || !strings.Contains(err.Error(), "filter") {
		t.Errorf("one that was declared with another filter ended with %v", err)
	}
	if o, err := at.operations().Audited(t.Context(), 10); err != nil || len(o) > 0 {
		t.Errorf("the audit log has what was not done: %+v (error: %v)", o, err)
	}
}

func TestADroppedTableAndAReplaysNameNeedPeopleFirst(t *testing.T) {
	t.Parallel()
	at := target(t)
	at.Want.Boxes = append(at.Want.Boxes, Box{Name: "lost"})
	at.Want.Subscriptions = []Subscription{{&config.Subscription{Box: "lost", Name: "s"}}, {&config.Subscription{Box: "orders", Name: "again"}}}
	c := comparison{want: &at.Want, target: at, have: store.Overview{Boxes: []store.BoxView{
		{Name: "lost", Missing: true},
		{Name: "orders", Subscriptions: []store.SubscriptionView{{
			SubscriptionState: store.SubscriptionState{Ref: store.Ref{Box: "orders", Subscription: "again"}}, Replay: &store.Replay{Of: "billing"},
		}}},
	}}}
	for i := range at.Want.Boxes {
		if err := c.box(t.Context(), &at.Want.Boxes[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range at.Want.Subscriptions {
		c.subscription(&at.Want.Subscriptions[i])
	}
	if len(c.differences) != 2 || !strings.Contains(c.differences[0].Needs, "restore it from a backup") || !strings.Contains(c.differences[1].Needs, "that of a replay") {
		t.Errorf("the differences are %+v", c.differences)
	}
}

func TestTheKeepOfAFileIsTheTimeOfBoxesThatDoNotSayIt(t *testing.T) {
	t.Parallel()
	parse := func(text string) *config.File {
		t.Helper()
		f, err := config.Parse("postbag.yaml", []byte("store: {dsn: a.db}\ndestinations: {out: {stdout: {}}}\n"+text), component.Kinds())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	w := Of(parse("keep: 48h\nboxes: {outbox: {retention: {delivered: 5d}}}\nsubscriptions: [{}, {box: b, dead_to: c}]\n"), "")
	got := make(map[string]time.Duration)
	for _, b := range w.Boxes {
		got[b.Name] = b.Retention.Delivered
	}
	if len(got) != 3 || got["outbox"] != 120*time.Hour || got["b"] != 48*time.Hour || got["c"] != 0 {
		t.Errorf("the times are %v", got)
	}
	if w := Of(parse("keep: 1s\n"), ""); w.Boxes[0].Retention.Delivered != 0 || len(w.Notes) != 1 || !strings.Contains(w.Notes[0].Text, "keep is less than 10m") {
		t.Errorf("of a short keep it makes %+v", w)
	}
}

func TestWhatIsWrittenAsYAMLIsReadAsItWas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"order.*", "", "true", "No", "null", "~", "12", "1e5", "0x10", "3d", "1h30m", "a, b", "{", "#c", "a: b", "- a", "'", `"`, `\`, " a ", "${HOME}", "$${X}",
		"größe 日本", "a\nb", "a\x00b", "\u202e", "\U000e0001", "2026-01-01", "*a", "&a", "!a", "a\x7f", "\x1b[31m",
	} {
		var got struct{ V []string }
		line := yamlOf([]Setting{{"v", []string{text}}})
		if err := yaml.Unmarshal([]byte(line), &got); err != nil || len(got.V) != 1 || got.V[0] != unexpanded(text) {
			t.Errorf("%q was written as %s and read as %q (%v)", text, line, got.V, err)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e || r == 0xe0001 }) {
			t.Errorf("%q was written with what a terminal obeys: %q", text, line)
		}
	}
}

func TestWhatAnOperatorWroteStaysInItsComment(t *testing.T) {
	t.Parallel()
	o := &store.Overview{
		Boxes:  []store.BoxView{{Name: "outbox"}, {Name: "lost", Missing: true}},
		Pauses: []store.Pause{{Ref: store.Ref{Box: "outbox", Subscription: "s"}, Scope: store.PauseSubscription, Who: "a", Why: "x\nstore: {dsn: evil.db}"}},
	}
	text := Export(o, nil, &config.Store{DSNEnv: "DATABASE_URL"}).YAML([]string{"head"})
	if !strings.Contains(text, "# outbox/s is paused by a: x·store: {dsn: evil.db}\n") || strings.Count(text, "\nstore: ") != 1 {
		t.Errorf("the file is\n%s", text)
	}
	if !strings.Contains(text, "# box lost is left out: somebody dropped its table") || !strings.Contains(text, "  outbox: {unread: true}\n") {
		t.Errorf("the file is\n%s", text)
	}
}

func TestAFilterThatCannotBeReadIsNeitherExportedNorCompared(t *testing.T) {
	t.Parallel()
	have := store.SubscriptionView{SubscriptionState: store.SubscriptionState{
		Ref: store.Ref{Box: "b", Subscription: "s"}, Types: []string{"a part of it"}, Unreadable: errors.New("an unknown field"), Wanted: 1,
	}}
	e := Export(&store.Overview{Boxes: []store.BoxView{{Name: "b", Subscriptions: []store.SubscriptionView{have}}}}, nil, &config.Store{})
	if len(e.Subscriptions) > 0 || len(e.Boxes) > 0 || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "b/s is left out: this version cannot read its filter") {
		t.Errorf("the export has %+v", e)
	}
	c := &comparison{}
	c.properties(&Subscription{&config.Subscription{Shards: 1}}, &have)
	if len(c.differences) > 0 || len(c.notes) != 1 || !strings.Contains(c.notes[0].Text, "an unknown field") {
		t.Errorf("the plan has %+v and %+v", c.differences, c.notes)
	}
}
