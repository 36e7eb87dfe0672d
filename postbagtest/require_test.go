package postbagtest_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/postbagtest"
)

type order struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

var orderCreated = postbag.Event[order]{
	Type: "order.created",
	Key:  func(o order) string { return o.ID },
}

// recorded returns a Recorder that holds msgs.
func recorded(t *testing.T, msgs ...postbag.Message) *postbagtest.Recorder[postbagtest.Tx] {
	t.Helper()
	rec := &postbagtest.Recorder[postbagtest.Tx]{}
	if err := rec.Sender(t, postbag.PublisherOptions{}).Publish(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestAWantComparesOnlyTheFieldsThatItSets(t *testing.T) {
	t.Parallel()
	id := postbag.NewID()
	rec := recorded(t, postbag.Message{
		ID: id, Type: "t", Topic: "topic", Key: "k", ShardKey: "s", Headers: map[string]string{"a": "1", "b": "2"},
		Payload: []byte(`{"n": 1.50, "l": [1, 2]}`), NotBefore: time.Now().Add(time.Hour),
	})
	for _, tc := range []struct {
		name string
		want postbagtest.Want
		says string // how it misfits; "" if it fits
	}{
		{"nothing", postbagtest.Want{}, ""},
		{"the box", postbagtest.Want{Box: "outbox"}, ""},
		{"another box", postbagtest.Want{Box: "inbox"}, `box is "outbox", want "inbox"`},
		{"the id", postbagtest.Want{ID: id}, ""},
		{"another id", postbagtest.Want{ID: postbag.ID{1}}, "want 01000000-0000-0000-0000-000000000000"},
		{"the type", postbagtest.Want{Type: "t"}, ""},
		{"another type", postbagtest.Want{Type: "T"}, `type is "t", want "T"`},
		{"the topic", postbagtest.Want{Topic: "topic"}, ""},
		{"another topic", postbagtest.Want{Topic: "top"}, `topic is "topic", want "top"`},
		{"the key", postbagtest.Want{Key: "k"}, ""},
		{"another key", postbagtest.Want{Key: "l"}, `key is "k", want "l"`},
		{"no key", postbagtest.Want{NoKey: true}, `key is "k", want none`},
		{"the shard key", postbagtest.Want{ShardKey: "s"}, ""},
		{"another shard key", postbagtest.Want{ShardKey: "k"}, `shard key is "s", want "k"`},
		{"a header", postbagtest.Want{Headers: map[string]string{"a": "1"}}, ""},
		{"another value", postbagtest.Want{Headers: map[string]string{"a": "2"}}, `header "a" is "1", want "2"`},
		{"another header", postbagtest.Want{Headers: map[string]string{"c": ""}}, `header "c" is missing, want ""`},
		{"the payload", postbagtest.Want{Payload: []byte(`{"n": 1.50, "l": [1, 2]}`)}, ""},
		{"another payload", postbagtest.Want{Payload: []byte(`{}`)}, `want "{}"`},
		{"an empty payload", postbagtest.Want{Payload: []byte{}}, `want ""`},
		{"the JSON", postbagtest.Want{JSON: json.RawMessage(`{"l":[1,2],"n":1.50}`)}, ""},
		{"other JSON", postbagtest.Want{JSON: map[string]any{"n": 2}}, `want the JSON "{\"n\":2}"`},
		{"invalid JSON", postbagtest.Want{JSON: make(chan int)}, "the JSON wanted cannot be encoded"},
		{"scheduled", postbagtest.Want{Scheduled: true}, ""},
		{"ordered", postbagtest.Want{Ordered: true}, "it did not come by PublishOrdered"},
		{"a check that passes", postbagtest.Want{Check: func(postbag.Message) error { return nil }}, ""},
		{"a check that fails", postbagtest.Want{Check: func(postbag.Message) error { return errors.New("too old") }}, "too old"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for name, require := range map[string]func(postbagtest.TB, ...postbagtest.Want){
				"RequirePublished": rec.RequirePublished,
				"RequireIncluded":  rec.RequireIncluded,
			} {
				got := failure(func(tb *failing) { require(tb, tc.want) })
				if (got != "") != (tc.says != "") || !strings.Contains(got, tc.says) {
					t.Errorf("%s says %q, want %q", name, got, tc.says)
				}
			}
		})
	}
}

func TestAWantCanDemandAbsentFields(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{Payload: []byte("not JSON")})
	rec.RequirePublished(t, postbagtest.Want{NoKey: true})
	for name, tc := range map[string]struct {
		want postbagtest.Want
		says string
	}{
		"scheduled": {postbagtest.Want{Scheduled: true}, "it is not scheduled"},
		"JSON":      {postbagtest.Want{JSON: 1}, `payload is "not JSON", which is not JSON, want "1"`},
	} {
		if got := failure(func(tb *failing) { rec.RequirePublished(tb, tc.want) }); !strings.Contains(got, tc.says) {
			t.Errorf("%s: says %q, want %q", name, got, tc.says)
		}
	}
	long := recorded(t, postbag.Message{Payload: []byte("9007199254740993")})
	long.RequirePublished(t, postbagtest.Want{JSON: int64(9007199254740993)})
	if got := failure(func(tb *failing) { long.RequirePublished(tb, postbagtest.Want{JSON: int64(9007199254740992)}) }); got == "" {
		t.Error("two long numbers are taken for one")
	}
	two := recorded(t, postbag.Message{Payload: []byte("1 1")})
	if got := failure(func(tb *failing) { two.RequirePublished(tb, postbagtest.Want{JSON: 1}) }); !strings.Contains(got, "is not JSON") {
		t.Errorf("two values are taken for one: %q", got)
	}
}

func TestRequirePublishedWantsExactlyTheseInThisOrder(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{Key: "a", Type: "t"}, postbag.Message{Key: "b"})
	a, b := postbagtest.Want{Key: "a"}, postbagtest.Want{Key: "b"}
	rec.RequirePublished(t, a, b)
	for _, tc := range []struct {
		name string
		want []postbagtest.Want
		says []string
	}{
		{"one missing", []postbagtest.Want{a, b, {Key: "c", Type: "u"}}, []string{
			"published 2, wanted 3:", `2. missing: type "u", key "c"`,
		}},
		{"one too many", []postbagtest.Want{a}, []string{
			"published 2, wanted 1:", `1. not wanted: box "outbox", topic "outbox", key "b"`,
		}},
		{"the wrong order", []postbagtest.Want{b, a}, []string{
			"0. box \"outbox\", type \"t\", topic \"outbox\", key \"a\"\n   key is \"a\", want \"b\"", `key is "b", want "a"`,
		}},
		{"none", nil, []string{"published 2, wanted 0:"}},
		{"anything else", []postbagtest.Want{a, b, {}}, []string{"2. missing: any message"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := failure(func(tb *failing) { rec.RequirePublished(tb, tc.want...) })
			for _, want := range tc.says {
				if !strings.Contains(got, want) {
					t.Errorf("says %q, want %q", got, want)
				}
			}
		})
	}
}

func TestFailuresNameHeadersInSortedOrder(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{})
	want := postbagtest.Want{Headers: map[string]string{"d": "", "a": "", "c": "", "b": ""}}
	first := failure(func(tb *failing) { rec.RequirePublished(tb, want) })
	for range 50 { // a map's order differs each time
		if got := failure(func(tb *failing) { rec.RequirePublished(tb, want) }); got != first {
			t.Fatalf("says %q, then %q", first, got)
		}
	}
}

func TestRequireNothingFailsIfSomethingWasPublished(t *testing.T) {
	t.Parallel()
	recorded(t).RequireNothing(t)
	rec := recorded(t, postbag.Message{Key: "a"})
	if got := failure(func(tb *failing) { rec.RequireNothing(tb) }); !strings.Contains(got, `0. not wanted: `) {
		t.Errorf("says %q", got)
	}
}

func TestRequireIncludedGivesEachWantAMessageOfItsOwn(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{Key: "a", Type: "x"}, postbag.Message{Key: "a", Type: "y"}, postbag.Message{Key: "b", Type: "x"})
	a, x, y, any1 := postbagtest.Want{Key: "a"}, postbagtest.Want{Type: "x"}, postbagtest.Want{Type: "y"}, postbagtest.Want{}
	for _, want := range [][]postbagtest.Want{
		{},
		{y},
		{x, x},
		{any1, any1, any1},
		{y, a, x},
		{any1, a, {Key: "a", Type: "x"}}, // the earlier wants must make way
		{a, a, any1},
	} {
		if got := failure(func(tb *failing) { rec.RequireIncluded(tb, want...) }); got != "" {
			t.Errorf("%v: %s", want, got)
		}
	}
	for _, want := range [][]postbagtest.Want{
		{y, y},
		{a, a, a},
		{x, x, x},
		{any1, any1, any1, any1},
		{a, y, {Key: "a", Type: "x"}},
		{{Key: "c"}},
	} {
		if got := failure(func(tb *failing) { rec.RequireIncluded(tb, want...) }); !strings.Contains(got, "are not among the 3 published") {
			t.Errorf("%v: %q", want, got)
		}
	}
}

func TestRequireIncludedShowsTheClosestMessage(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{Key: "a", Type: "x"}, postbag.Message{Key: "b", Type: "y"})
	got := failure(func(tb *failing) {
		rec.RequireIncluded(tb, postbagtest.Want{Key: "b", Type: "z", Topic: "outbox"})
	})
	for _, want := range []string{
		`missing: type "z", topic "outbox", key "b"`,
		`nearest is 1.: type is "y", want "z"`,
		`0. box "outbox", type "x", topic "outbox", key "a"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

func TestEventComparesTheValue(t *testing.T) {
	t.Parallel()
	rec := recorded(t, orderCreated.Message(order{ID: "o-1", Cents: 5}))
	rec.RequirePublished(t, postbagtest.Event(orderCreated, order{ID: "o-1", Cents: 5}))
	other := postbag.Event[order]{Type: "order.shipped", Topic: "ships"}
	for name, tc := range map[string]struct {
		want postbagtest.Want
		says string
	}{
		"another value": {postbagtest.Event(orderCreated, order{ID: "o-1", Cents: 6}), "value is {ID:o-1 Cents:5}, want {ID:o-1 Cents:6}"},
		"another key":   {postbagtest.Event(orderCreated, order{ID: "o-2", Cents: 5}), `key is "o-1", want "o-2"`},
		"another event": {postbagtest.Event(other, order{ID: "o-1", Cents: 5}), `topic is "outbox", want "ships"`},
	} {
		if got := failure(func(tb *failing) { rec.RequirePublished(tb, tc.want) }); !strings.Contains(got, tc.says) {
			t.Errorf("%s: says %q, want %q", name, got, tc.says)
		}
	}
}

func TestValuesDecodesThoseOfItsTypeInOrder(t *testing.T) {
	t.Parallel()
	rec := recorded(
		t,
		orderCreated.Message(order{ID: "1"}), postbag.Message{Type: "other", Payload: []byte("x")}, orderCreated.Message(order{ID: "2"}),
	)
	if got := postbagtest.Values(t, rec, orderCreated); !slices.Equal(got, []order{{ID: "1"}, {ID: "2"}}) {
		t.Errorf("values are %v", got)
	}
	bad := recorded(t, postbag.Message{Type: "order.created", Payload: []byte("x")})
	got := failure(func(tb *failing) { postbagtest.Values(tb, bad, orderCreated) })
	if !strings.Contains(got, `message 0 (box "outbox", type "order.created", topic "outbox"): postbag: decode event`) {
		t.Errorf("says %q", got)
	}
}

func TestALongPayloadIsCutInTheText(t *testing.T) {
	t.Parallel()
	rec := recorded(t, postbag.Message{Payload: []byte(strings.Repeat("x", 10_000))})
	got := failure(func(tb *failing) { rec.RequirePublished(tb, postbagtest.Want{Payload: []byte("y")}) })
	if !strings.Contains(got, `x"... (10000 bytes), want "y"`) || len(got) > 600 {
		t.Errorf("says %d bytes: %.700q", len(got), got)
	}
}
