package config

import "testing"

func TestDeadLettersMayBeSentByTheSettingItself(t *testing.T) {
	t.Parallel()
	const text = `
store: {dsn: a.db}
destinations: {broker: {nats: {url: "nats://127.0.0.1:4222"}}, hook: {nats: {url: "nats://127.0.0.1:4223"}}}
subscriptions:
- {to: broker, dead_to: letters}
- {to: broker, name: b, dead_to: {box: dead, to: hook}}
- {to: broker, name: c, dead_to: {box: dead, to: hook}}
`
	f, err := Parse("postbag.yaml", []byte(text), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Subscriptions); n != 4 {
		t.Fatalf("there are %d subscriptions, want the three and that of the box dead", n)
	}
	for i, want := range []string{"letters", "dead", "dead"} {
		if d := f.Subscriptions[i].DeadTo; d == nil || d.Box != want {
			t.Errorf("the dead letters of subscription %d go to %+v, want %s", i, d, want)
		}
	}
	if s := f.Subscriptions[3]; s.Box != "dead" || s.Name != "default" || s.To != "hook" || s.Batch == 0 || s.Order != "key" {
		t.Errorf("the subscription of the dead letters is %+v", s)
	}
}
