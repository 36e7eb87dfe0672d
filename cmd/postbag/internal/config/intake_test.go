package config

import (
	"strings"
	"testing"
)

func TestMistakesInSourcesAreToldWithTheirLine(t *testing.T) {
	t.Parallel()
	const from = "from: {nats: {url: nats://h}}"
	for name, c := range map[string]struct{ text, want string }{
		"no from":          {"sources:\n  - {name: a}\n", "f.yaml:3: sources[0] has no from; say where messages come from"},
		"an empty from":    {"sources:\n  - {from: {}}\n", "f.yaml:3: sources[0].from has no kind; write one of nats, webhook"},
		"another kind":     {"sources:\n  - from: {natz: {}}\n", `f.yaml:3: there is no kind of source "natz" in sources[0].from; did you mean "nats"?`},
		"two kinds":        {"sources:\n  - from: {nats: {url: nats://h}, webhook: {url: http://h}}\n", "sources[0].from has several kinds; keep one, and give the other a source of its own"},
		"no kind":          {"sources:\n  - from: {url: nats://h}\n", "sources[0].from.url stands in the source itself; write its kind first"},
		"another setting":  {"sources:\n  - from: {nats: {url: nats://h, strem: a}}\n", `there is no setting "strem" in sources[0].from.nats; did you mean "stream"?`},
		"no URL":           {"sources:\n  - from: {nats: {stream: a}}\n", "f.yaml:3: sources[0].from.nats has no URL"},
		"an unknown store": {"sources:\n  - {" + from + ", store: b}\n", "f.yaml:3: sources[0].store names a store, but there are no stores; take it out"},
		"a bad box":        {"sources:\n  - {" + from + ", box: 'a b'}\n", "f.yaml:3: sources[0].box is wrong"},
		"a long name":      {"sources:\n  - {" + from + ", name: " + strings.Repeat("n", 101) + "}\n", "f.yaml:3: sources[0].name is wrong: the consumer's name has 101 bytes, more than 100; shorten it"},
		"one name twice":   {"sources:\n  - {" + from + "}\n  - {" + from + "}\n", `f.yaml:4: sources[1] is the second source "inbox"; give each a name of its own`},
		"a bad header":     {"sources:\n  - {" + from + ", id_headers: ['a b']}\n", "f.yaml:3: sources[0].id_headers entry 1 is no name of a header"},
		"a bad key header": {"sources:\n  - {" + from + ", key_header: 'a b'}\n", "f.yaml:3: sources[0].key_header is no name of a header"},
		"another policy":   {"sources:\n  - {" + from + ", faults: skip}\n", `sources[0].faults is "skip"; choose one of park, stop`},
		"a large size":     {"sources:\n  - {" + from + ", max_size: 17MiB}\n", "sources[0].max_size is 17825792; choose between 1 and 16777216"},
		"a subscription that goes nowhere": {
			"sources:\n  - {" + from + "}\nsubscriptions: [{box: inbox}]\n", "destinations is missing or empty",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("f.yaml", []byte("store: {dsn: a.db}\n"+c.text), testKinds())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the mistake is %v, want %q", err, c.want)
			}
		})
	}
}

func TestAFileWithSourcesAloneIsWhole(t *testing.T) {
	t.Parallel()
	f, err := Parse("f.yaml", []byte("stores: {main: {dsn: a.db}}\nsources:\n  - from: {nats: {url: nats://h}}\n    name: orders\n    box: taken\n  - from: {nats: {url: nats://h}}\n"), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Subscriptions) != 0 || f.Sources[0].Name != "orders" || f.Sources[1].Name != "inbox" || f.Sources[1].Box != "inbox" || f.Sources[0].Store != "main" {
		t.Errorf("it is %+v with the subscriptions %+v", f.Sources, f.Subscriptions)
	}
}
