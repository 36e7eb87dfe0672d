package storetest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// whereCases are about filters by topic, header and exceptions.
func whereCases() []scenario {
	return []scenario{
		{name: "A filter takes by topic, header and exceptions, and what it refuses comes bare", run: whereReads},
		{name: "A filter of as many names as one can have is read", run: whereLongest},
		{name: "Prefixes of a filter and of a listing are taken letter by letter", run: wherePatterns},
		{name: "A filter by topic, header and exceptions is compared with what is declared", run: whereDeclared},
		{name: "Of routes that exclude those above them one takes each message, readable or not", run: whereRoutes},
		{name: "A row that nobody can read holds each condition on headers", run: whereUnreadable},
		{name: "Listings and commands judge by topic, header and exceptions", run: whereListed},
		{name: "A message that a filter refuses is not erased before it is passed", needs: editing, run: whereErased},
		{name: "A command for a filter by topic and header holds in every process, and is shown", run: whereSet},
		{name: "A filter that nothing can have is refused", run: whereRefused},
		{name: "A replay has a filter by topic and header", run: whereReplay},
	}
}

// whereMessages are what the cases publish: topic, type and headers.
var whereMessages = []struct {
	topic, typ string
	headers    map[string]string
}{
	0: {"orders", "a", nil},
	1: {"orders", "b", map[string]string{"region": "eu"}},
	2: {"orders.late", "a", map[string]string{"region": "us", "tier": "gold"}},
	3: {"orders.late", "b", map[string]string{"region": "eu", "tier": ""}},
	4: {"ORDERS.late", "a", map[string]string{"Region": "eu"}},
	5: {"users", "a", map[string]string{"region": "eu=x"}},
	6: {"ordersXlate", "a", map[string]string{"tier": "gold"}},
}

// whereFilters says by number which messages each filter takes.
var whereFilters = []struct {
	filter store.Filter
	takes  []int
}{
	{store.Filter{}, []int{0, 1, 2, 3, 4, 5, 6}},
	{where(nil, []string{"orders"}, nil), []int{0, 1}},
	{where(nil, []string{"orders.*"}, nil), []int{2, 3}},
	{where(nil, []string{"orders", "users"}, nil), []int{0, 1, 5}},
	{where([]string{"a"}, []string{"orders", "orders.*"}, nil), []int{0, 2}},
	{where(nil, nil, []string{"region=eu"}), []int{1, 3}},
	{where(nil, nil, []string{"region"}), []int{1, 2, 3, 5}},
	{where(nil, nil, []string{"region=eu", "region=us"}), []int{1, 2, 3}},
	{where(nil, nil, []string{"region=eu", "tier"}), []int{3}},
	{where(nil, nil, []string{"tier="}), []int{3}},
	{where(nil, nil, []string{"region=eu=x"}), []int{5}},
	{where([]string{"b"}, []string{"orders.*"}, []string{"region=eu"}), []int{3}},
	{where(nil, nil, nil, store.Match{Topics: []string{"orders"}}), []int{2, 3, 4, 5, 6}},
	{where(nil, nil, nil, store.Match{Topics: []string{"orders", "orders.*"}, Headers: []string{"region=eu"}}), []int{0, 2, 4, 5, 6}},
	{where([]string{"a"}, nil, nil, store.Match{Types: []string{"b", "c.*"}}, store.Match{Headers: []string{"tier"}}), []int{0, 4, 5}},
	{where(nil, []string{"orders"}, nil, store.Match{Topics: []string{"orders"}}), nil},
}

// where is a filter.
func where(types, topics, headers []string, except ...store.Match) store.Filter {
	return store.Filter{Types: types, Where: store.Where{Topics: topics, Headers: headers, Except: except}}
}

// specOf is a subscription with a filter.
func specOf(r store.Ref, f store.Filter) store.Spec {
	return store.Spec{Ref: r, Types: f.Types, Where: f.Where, Shards: 1}
}

// sorts publishes whereMessages.
func (e *env) sorts() []postbag.Message {
	e.Helper()
	msgs := e.messages(len(whereMessages), "a", "b", "")
	for i, m := range whereMessages {
		msgs[i].Topic, msgs[i].Type, msgs[i].Headers = m.topic, m.typ, m.headers
	}
	return e.publish(msgs...)
}

// picked returns some of msgs, by number.
func picked(msgs []postbag.Message, numbers []int) (out []postbag.Message) {
	for _, i := range numbers {
		out = append(out, msgs[i])
	}
	return out
}

func whereReads(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	var refs []store.Ref
	for i, f := range whereFilters {
		refs = append(refs, store.Ref{Box: box, Subscription: "s" + string(rune('a'+i))})
		e.declare(specOf(refs[i], f.filter))
	}
	msgs := e.sorts()
	for i, f := range whereFilters {
		for _, r := range e.pager().of(refs[i]).expectTaken(len(msgs), picked(msgs, f.takes)...) {
			n := slices.IndexFunc(msgs, func(m postbag.Message) bool { return m.ID == r.ID })
			switch {
			case !r.Filtered:
				checkWhole(e.TB, &r, &msgs[n])
			case r.Err != nil || r.Slot != store.SlotOf(&msgs[n]):
				e.Errorf("filter %q: a refused message has slot %d and error %v", f.filter.String(), r.Slot, r.Err)
			default:
				checkBare(e, r)
			}
		}
	}
}

// names are n prefixes that no message has, and then more.
func names(n int, more ...string) (out []string) {
	for i := range n {
		out = append(out, "never"+strconv.Itoa(i)+".*")
	}
	return append(out, more...)
}

func whereLongest(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	n := store.MaxConditions - 1
	e.declare(specOf(ref, where(names(n, "a"), names(n, "orders.*"), nil, store.Match{Types: names(n, "b"), Topics: names(n, "users")})))
	msgs := e.sorts()
	e.pager().expectTaken(len(msgs), msgs[2])
}

// wherePatterns: a store may ask its database by patterns, to which some signs are special.
func wherePatterns(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	special := []string{"100%", "a_b", `c\d`, `\`, "%", "_", `e\%`, "[f]", "g?", "h'"}
	var prefixes []string
	for _, s := range special {
		prefixes = append(prefixes, s+".*")
	}
	other := store.Ref{Box: box, Subscription: "other"}
	e.declare(specOf(ref, where(prefixes, nil, nil)), specOf(other, where(nil, prefixes, nil)))
	beside := []string{"100", "1000.x", "aXb.x", "cd.x", `c\\d.x`, "x.x", "f.x", "gg.x", "e%.x", `e\.x`}
	msgs := e.messages(2*len(special)+2*len(beside), "a", "b")
	var byType, byTopic []postbag.Message
	for i := range msgs {
		msgs[i].Topic, msgs[i].Type = "none", "none"
		s, one := slices.Concat(special, beside)[i/2], i < 2*len(special)
		if one {
			s += ".x"
		}
		if i%2 == 0 {
			msgs[i].Type = s
		} else {
			msgs[i].Topic = s
		}
	}
	msgs = e.publish(msgs...)
	for i := range 2 * len(special) {
		if i%2 == 0 {
			byType = append(byType, msgs[i])
		} else {
			byTopic = append(byTopic, msgs[i])
		}
	}
	e.pager().expectTaken(len(msgs), byType...)
	e.pager().of(other).expectTaken(len(msgs), byTopic...)
	if in, ok := e.Store.(store.Inspector); ok {
		items, _, err := in.List(e.ctx, store.Query{Ref: ref, Types: prefixes, Limit: len(msgs)})
		if e.check(err, "list"); len(items) != len(byType) {
			e.Errorf("a listing by %q has %d messages, not %d", prefixes, len(items), len(byType))
		}
	}
}

func whereDeclared(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	f := where([]string{"a"}, []string{"x", "y.*"}, []string{"h=1", "g"}, store.Match{Topics: []string{"z", "x"}}, store.Match{Types: []string{"b"}})
	e.declare(specOf(ref, f))
	e.declare(specOf(ref, where([]string{"a"}, []string{"y.*", "x", "x"}, []string{"g", "h=1"}, store.Match{Types: []string{"b"}}, store.Match{Topics: []string{"x", "z"}})))
	for i, other := range []store.Filter{
		{Types: f.Types},
		where(f.Types, f.Topics[:1], f.Headers, f.Except...),
		where(f.Types, f.Topics, []string{"h=2", "g"}, f.Except...),
		where(f.Types, f.Topics, f.Headers, f.Except[:1]...),
		where(nil, f.Topics, f.Headers, f.Except...),
	} {
		if err := e.Store.Declare(e.ctx, []store.Spec{specOf(ref, other)}); !errors.Is(err, store.ErrFilterDiffers) {
			e.Errorf("declaration %d with another filter: %v", i, err)
		}
	}
	st := e.look(ref)
	if got := st.Where.Clone(); !slices.Equal(got.Topics, f.Topics) || !slices.Equal(got.Headers, []string{"g", "h=1"}) || len(got.Except) != 2 || st.TypesBy != "" {
		e.Errorf("the view has the filter %+v by %q", st.Where, st.TypesBy)
	}
	wide := store.Ref{Box: box, Subscription: "wide"}
	e.declare(store.Spec{Ref: wide, Types: f.Types, Where: f.Where, Shards: 3})
	if st := e.look(wide); len(st.Shards) != 3 || !slices.Equal(st.Types, f.Types) || len(st.Where.Except) != 2 {
		e.Errorf("the view of a subscription with %d shards has the filter %q, %+v", len(st.Shards), st.Types, st.Where)
	}
}

// declareRoutes declares routes with a match each, of which each excludes those above it.
func (e *env) declareRoutes(matches ...store.Match) (refs []store.Ref) {
	e.Helper()
	for i, m := range matches {
		refs = append(refs, store.Ref{Box: box, Subscription: "route" + string(rune('a'+i))})
		e.declare(specOf(refs[i], where(m.Types, m.Topics, m.Headers, matches[:i]...)))
	}
	return refs
}

func whereRoutes(e *env) {
	e.check(e.Create(e.ctx, box), "create the box")
	refs := e.declareRoutes(store.Match{Topics: []string{"orders.*"}}, store.Match{Headers: []string{"region=eu"}}, store.Match{Headers: []string{"tier", "region"}}, store.Match{})
	msgs := e.sorts()
	faulty := e.message("a")
	faulty.Headers = map[string]string{store.FaultHeader: "it is odd"}
	msgs = append(msgs, e.publish(faulty)...)
	for i, takes := range [][]int{{2, 3}, {1, 7}, nil, {0, 4, 5, 6}} {
		e.pager().of(refs[i]).expectTaken(len(msgs), picked(msgs, takes)...)
	}
}

func whereUnreadable(e *env) {
	if e.Undecodable == nil {
		e.Skip("every row of the database can be read")
	}
	e.check(e.Create(e.ctx, box), "create the box")
	refs := e.declareRoutes(store.Match{Headers: []string{"never=there"}}, store.Match{})
	e.check(e.Undecodable(e.ctx, box), "plant a row that nobody can read")
	readable := e.publish(e.message("a"))
	for i, want := range []bool{false, true} {
		c := e.pager().of(refs[i])
		c.await(2)
		for _, r := range c.got {
			own := r.ID == readable[0].ID
			if r.Filtered != (own != want) {
				e.Errorf("route %d: of the row that can be read (%v), filtered is %v", i, own, r.Filtered)
			}
			if !own && !r.Filtered && r.Err == nil {
				e.Error("the row that nobody can read comes without an error")
			}
		}
	}
}

func whereListed(e *env) {
	e.inspector()
	e.check(e.Create(e.ctx, box), "create the box")
	f := whereFilters[13]
	e.declare(specOf(ref, f.filter))
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	l.msgs = e.sorts()
	if o, ok := e.Store.(store.Operator); ok {
		e.discards(o, f.takes)
	}
	for i, it := range e.list(store.Query{Oldest: true}) {
		if want := slices.Contains(f.takes, i); (it.State == store.StatePending) != want {
			e.Errorf("message %d, which nobody has read, is listed as %s; taken by the filter: %v", i, it.State, want)
		}
	}
	c := e.pager()
	c.expectTaken(len(l.msgs), picked(l.msgs, f.takes)...)
	l.settle(store.Settlement{To: c.req.From, Tally: tallyJudged(c.got)})
	for i := range l.msgs {
		want := store.StateFiltered
		if slices.Contains(f.takes, i) {
			want = store.StateDelivered
		}
		if items := e.shown(l.msgs[i].ID); len(items) != 1 || items[0].State != want {
			e.Errorf("message %d is shown as %+v, not %s", i, items, want)
		}
	}
	slices.Reverse(l.msgs)
	back := func(numbers []int) (out []int) {
		for _, n := range numbers {
			out = append(out, len(l.msgs)-1-n)
		}
		slices.Sort(out)
		return out
	}
	var refused []int
	for i := range l.msgs {
		if !slices.Contains(f.takes, i) {
			refused = append(refused, i)
		}
	}
	l.listed("delivered", store.Query{State: store.StateDelivered}, back(f.takes)...)
	l.listed("filtered", store.Query{State: store.StateFiltered}, back(refused)...)
}

// discards tries a discard of each message; one that the filter refuses is not pending, and takes none.
func (e *env) discards(o store.Operator, takes []int) {
	e.Helper()
	if !e.features.Editing {
		return
	}
	for i, it := range e.list(store.Query{Oldest: true}) {
		n, err := o.Command(e.ctx, why, ref, store.Discard, []int64{it.Seq})
		e.check(err, "discard")
		if want := slices.Contains(takes, i); (n == 1) != want {
			e.Errorf("a discard of unread message %d was queued for %d messages, taken by the filter: %v", i, n, want)
		}
	}
}

// whereErased: without its headers the message is one that the filter takes.
func whereErased(e *env) {
	ed := e.editor()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(specOf(ref, where(nil, nil, nil, store.Match{Headers: []string{"region=eu"}})))
	r := e.relay("r")
	l := &lot{env: e, s: e.Store, r: r, lease: r.take(ref)[0]}
	msgs := e.sorts()
	erase := func() store.Erased {
		got, err := ed.Erase(e.ctx, why, box, []postbag.ID{msgs[1].ID})
		e.check(err, "erase")
		return got
	}
	if got := erase(); got.Messages != 0 || len(got.Refused) != 1 {
		e.Errorf("a message that is refused and not passed: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
	c := e.pager()
	c.expectTaken(len(msgs), picked(msgs, []int{0, 2, 4, 5, 6})...)
	l.settle(store.Settlement{To: c.req.From, Tally: tallyJudged(c.got)})
	if got := erase(); got.Messages != 1 || len(got.Refused) != 0 {
		e.Errorf("a message that is refused and passed: %d are erased, %d refused", got.Messages, len(got.Refused))
	}
}

// tallyJudged tallies records as delivered, and as filtered.
func tallyJudged(records []store.Record) []store.Tally {
	var kept, refused []store.Record
	for _, r := range records {
		if r.Filtered {
			refused = append(refused, r)
		} else {
			kept = append(kept, r)
		}
	}
	return slices.Concat(tally(store.TallyDelivered, kept...), tally(store.TallyFiltered, refused...))
}

func whereSet(e *env) {
	s := e.steward()
	e.check(e.Create(e.ctx, box), "create the box")
	e.declare(specOf(ref, whereFilters[1].filter))
	here, there := e.pager(), e.pager()
	there.s = e.other()
	for i, f := range whereFilters[1:] {
		if i > 0 {
			before := e.epochOf()
			e.check(s.SetFilter(e.ctx, why, ref, f.filter), "set the filter")
			if e.epochOf() == before {
				e.Error("a command for the filter leaves the epoch; relays would not hear of it")
			}
		}
		msgs := e.sorts()
		for _, c := range []*pager{there, here} { // by what each has read before
			c.expectTaken(len(msgs), picked(msgs, f.takes)...)
		}
		st, want := e.look(ref), f.filter.Clone()
		if got := st.Where.Clone(); !slices.Equal(got.Topics, want.Topics) || !slices.Equal(got.Headers, want.Headers) || len(got.Except) != len(want.Except) {
			e.Errorf("the view has the filter %+v, not %+v", got, want)
		}
	}
	e.declare(specOf(ref, store.Filter{})) // the operator's stays
	last := whereFilters[len(whereFilters)-1].filter
	if view := e.viewOr(ref); view.TypesBy != why.Who || !slices.Equal(view.Where.Topics, last.Topics) || len(view.Where.Except) != 1 {
		e.Errorf("the overview has the filter %+v by %q", view.Where, view.TypesBy)
	}
	if o, ok := e.Store.(store.Operator); ok {
		got, err := o.Audited(e.ctx, 1)
		e.check(err, "audit log")
		if len(got) != 1 || !strings.Contains(got[0].What, ref.String()) || !strings.Contains(got[0].What, "except topics orders") {
			e.Errorf("the audit log has %+v, want an entry that says the filter", got)
		}
	}
}

func whereRefused(e *env) {
	e.open(1)
	other := store.Ref{Box: box, Subscription: "other"}
	for _, f := range []store.Filter{
		where(nil, []string{""}, nil), where(nil, []string{"a*"}, nil), where(nil, []string{"\xff"}, nil),
		where(nil, nil, []string{""}), where(nil, nil, []string{"=x"}), where(nil, nil, []string{"a\x00=x"}),
		where(nil, nil, nil, store.Match{}), where(nil, nil, nil, store.Match{Topics: []string{"*"}}),
		{Types: []string{"b*"}},
		{Types: names(store.MaxConditions + 1)},
		where(nil, nil, nil, slices.Repeat([]store.Match{{Types: []string{"a"}}}, store.MaxExcept+1)...),
	} {
		if err := e.Store.Declare(e.ctx, []store.Spec{specOf(other, f)}); err == nil || errors.Is(err, store.ErrFilterDiffers) {
			e.Errorf("a declaration with filter %q: %v", f.String(), err)
		}
		if s, ok := e.Store.(store.Steward); ok {
			if err := s.SetFilter(e.ctx, why, ref, f); err == nil {
				e.Errorf("filter %q was set", f.String())
			}
		}
	}
	if st := e.look(ref); !st.Where.Empty() || st.TypesBy != "" {
		e.Errorf("commands that were refused left the filter %+v by %q", st.Where, st.TypesBy)
	}
}

func whereReplay(e *env) {
	e.replayer()
	e.open(1)
	msgs := e.sorts()
	first := e.pager().expect(msgs...)
	f := whereFilters[13]
	e.replay(store.Replay{Through: first[len(first)-1].Seq, Types: f.filter.Types, Where: f.filter.Where})
	e.pager().of(again).expectTaken(len(msgs), picked(msgs, f.takes)...)
	v := e.viewOf(again)
	if v == nil || v.Replay == nil || len(v.Replay.Where.Except) != 1 || len(v.Where.Except) != 1 {
		e.Errorf("the replay is shown as %+v", v)
	}
}
