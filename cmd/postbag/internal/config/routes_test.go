package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRoutesAreSubscriptionsThatExcludeThoseAboveThem(t *testing.T) {
	t.Parallel()
	const text = `
store: {dsn: shop.db}
destinations: {main: {nats: {url: nats://localhost}}, other: {nats: {url: nats://localhost}}}
subscriptions:
  - {name: first, to: main}
  - name: o
    to: main
    timeout: 7s
    retry: {max_attempts: 3}
    routes:
      list:
        - {name: a, where: {topics: [x]}, to: other, rate: {messages: 5}}
        - {name: b, where: {headers: [h=1], types: [t.*]}, retry: {min: 1s}}
      fallback: {name: rest, timeout: 1s}
  - {name: last, to: main}
`
	f, err := Parse("f.yaml", []byte(text), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // flags have a file checked again
		var names []string
		for i := range f.Subscriptions {
			names = append(names, f.Subscriptions[i].Name)
		}
		if !slices.Equal(names, []string{"first", "o.a", "o.b", "o.rest", "last"}) {
			t.Fatalf("the subscriptions are %q", names)
		}
		if err := f.Check("again", testKinds()); err != nil {
			t.Fatal(err)
		}
	}
	a, b, rest := &f.Subscriptions[1], &f.Subscriptions[2], &f.Subscriptions[3]
	if a.To != "other" || a.Rate.Messages != 5 || a.Retry.MaxAttempts != 3 || a.Timeout != 7*time.Second || len(a.Where.Except) != 0 {
		t.Errorf("the first route is %+v", a)
	}
	if b.To != "main" || b.Rate.Messages != 0 || b.Retry.MaxAttempts != 20 || b.Retry.Min != time.Second || len(b.Where.Except) != 1 || b.Where.Except[0].Topics[0] != "x" || b.Types[0] != "t.*" {
		t.Errorf("the second route is %+v", b)
	}
	filter := rest.Filter()
	if said, want := filter.String(), "except topics x; except types t.* headers h=1"; said != want || rest.Timeout != time.Second {
		t.Errorf("the fallback takes %q, not %q", said, want)
	}
}

// manyRoutes are the lines of a list of so many routes.
func manyRoutes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "        - {name: r%d, where: {topics: [t%d]}}\n", i, i)
	}
	return b.String()
}

func TestAsManyRoutesAsAFilterHasExceptionsAreRight(t *testing.T) {
	t.Parallel()
	const head = "store: {dsn: shop.db}\ndestinations: {main: {nats: {url: nats://localhost}}}\nsubscriptions:\n- name: o\n  to: main\n  routes:\n      "
	for name, routes := range map[string]string{
		"101, and no fallback":                "no_fallback: true\n      list:\n" + manyRoutes(101),
		"100, and a fallback":                 "fallback: {name: rest}\n      list:\n" + manyRoutes(100),
		"150 that take what others take, too": "match: all\n      no_fallback: true\n      list:\n" + manyRoutes(150),
	} {
		f, err := Parse("f.yaml", []byte(head+routes), testKinds())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range f.Subscriptions {
			if filter := f.Subscriptions[i].Filter(); filter.ValidateNew() != nil {
				t.Errorf("%s: subscription %d: %v", name, i, filter.ValidateNew())
			}
		}
	}
}

func TestSpacesAtTheEndsOfAQuotedFilterArePartOfIt(t *testing.T) {
	t.Parallel()
	const text = `
store: {dsn: shop.db}
destinations: {main: {nats: {url: nats://localhost}}}
subscriptions:
  - to: " main "
    types: [" a ",   plain   , "${UNSET_NAME:-x} "]
    where: {topics: ["t "], headers: ["h= v "], except: [{topics: [" t"], headers: ["k=v "]}]}
    retry: {rules: [{types: ["a "], max_attempts: 3}]}
`
	f, err := Parse("f.yaml", []byte(text), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	s := &f.Subscriptions[0]
	if s.To != "main" || !slices.Equal(s.Types, []string{" a ", "plain", "x"}) || !slices.Equal(s.Retry.Rules[0].Types, []string{"a "}) {
		t.Errorf("the subscription to %q takes types %q and retries %q", s.To, s.Types, s.Retry.Rules[0].Types)
	}
	w := s.Filter().Where
	if w.Topics[0] != "t " || w.Headers[0] != "h= v " || w.Except[0].Topics[0] != " t" || w.Except[0].Headers[0] != "k=v " {
		t.Errorf("the filter is %q", w)
	}
}
