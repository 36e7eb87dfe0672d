package config

import (
	"slices"
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
