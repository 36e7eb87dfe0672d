package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestEachMistakeIsNamedWithItsLineAndFix(t *testing.T) {
	t.Parallel()
	const good = "store: {dsn: shop.db}\ndestinations: {main: {nats: {url: nats://localhost}}}\n"
	f := func(name, text, want string) {
		t.Helper()
		_, err := Parse("f.yaml", []byte(text), testKinds())
		switch {
		case err == nil:
			t.Errorf("%s: it was taken", name)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: the error is\n%v\nwant one that says\n%s", name, err, want)
		case !strings.Contains(err.Error(), ";"):
			t.Errorf("%s: the error has no fix: %v", name, err)
		case strings.Contains(err.Error(), "CANARY"):
			t.Errorf("%s: the error holds the secret: %v", name, err)
		}
	}
	routed := good + "subscriptions:\n  - name: o\n    routes:\n      "
	f("routes without a list", routed+"no_fallback: true\n", "f.yaml:5: subscriptions[0].routes has no list")
	f("routes without a word on the rest", routed+"list: [{name: a, where: {types: [a]}}]\n", "f.yaml:5: subscriptions[0].routes does not say what becomes of messages that no route takes")
	f("a fallback and none", routed+"list: [{name: a, where: {types: [a]}}]\n      fallback: {name: b}\n      no_fallback: true\n", "f.yaml:8: subscriptions[0].routes.no_fallback stands beside a fallback")
	f("a hidden route", routed+"no_fallback: true\n      list:\n        - {name: a, where: {topics: [x.*]}}\n        - {name: b, where: {topics: [x.y]}}\n", "f.yaml:9: subscriptions[0].routes.list[1] gets no message: route 1 takes all that it takes")
	f("too many routes", routed+"no_fallback: true\n      list:\n"+manyRoutes(102), "f.yaml:109: subscriptions[0].routes.list[101] is one too many: the last filter would have 101 exceptions, 100 at most")
	f("too many routes for a fallback", routed+"fallback: {name: rest}\n      list:\n"+manyRoutes(101), "f.yaml:108: subscriptions[0].routes.list[100] is one too many: the last filter would have 101 exceptions, 100 at most")
	f("a route of everything", routed+"no_fallback: true\n      list: [{name: a}]\n", "routes.list[0] takes all messages")
	f("a route without a name", routed+"no_fallback: true\n      list: [{where: {types: [a]}}]\n", "routes.list[0] has no name")
	f("two routes of one name", routed+"no_fallback: true\n      list: [{name: a, where: {types: [a]}}, {name: a, where: {types: [b]}}]\n", "is the second subscription outbox/o.a")
	f("a route to nowhere", routed+"no_fallback: true\n      list: [{name: a, where: {types: [a]}, to: other}]\n", "f.yaml:7: subscriptions[0].routes.list[0].to names none of the destinations")
	f("a fallback with a filter", routed+"list: [{name: a, where: {types: [a]}}]\n      fallback: {name: b, where: {types: [b]}}\n", "routes.fallback.where is for the routes above it")
	f("routes beside types", good+"subscriptions: [{types: [a], routes: {list: [{name: a, where: {types: [a]}}], no_fallback: true}}]\n", "stands beside types or where")
	f("no such match", routed+"match: any\n      no_fallback: true\n      list: [{name: a, where: {types: [a]}}]\n", "f.yaml:6: subscriptions[0].routes.match is \"any\"; choose one of first, all")
	f("a retry of a route", routed+"no_fallback: true\n      list:\n        - name: a\n          where: {types: [a]}\n          retry: {max_attempts: -1}\n", "f.yaml:10: subscriptions[0].routes.list[0].retry.max_attempts is -1")
	f("no topic", good+"subscriptions: [{where: {topics: ['a*']}}]\n", "subscriptions[0].where is wrong: \"a*\" is no topic")
	f("no header", good+"subscriptions: [{where: {headers: ['=a']}}]\n", "is no condition on a header")
	f("an exception of everything", good+"subscriptions: [{where: {except: [{}]}}]\n", "takes all messages, so that nothing is left")
	f("nothing", "", "store names no place")
	f("a comment alone", "# hello\n", "destinations is missing")
	f("no YAML", "store: {dsn: [", "no YAML")
	f("a tab", "store:\n\tdsn: x\n", "f.yaml:2: is no YAML: a tab stands in place of spaces; indent with spaces")
	f("no UTF-8", "name: \xff\n", "UTF-8")
	f("two documents", good+"---\nname: x\n", "more than one document")
	f("a list at the top", "- a\n", "is no mapping")
	f("a text at the top", "hello\n", "is no mapping")
	f("too deep", "name: "+strings.Repeat("[", 1000), "nested deeper")
	f("too deep by indent", strings.Repeat(" ", 1000)+"a: b", "nested deeper")
	f("too deep by dashes", strings.Repeat("- ", 1000)+"b", "nested deeper")
	f("an alias of itself", good+"x-a: &a {b: *a}\nlog: *a\n", "there is no setting \"b\"")
	f("an alias of nothing", good+"log: *nothing\n", "f.yaml:3: log is an alias of an anchor that does not stand above it")
	f("a merge key", good+"x-a: &a {}\nlog:\n  <<: *a\n", "f.yaml:5: merge keys")
	f("a tag", good+"name: !!str x\n", "f.yaml:3: name has a YAML tag")
	f("a setting without a value", good+"name:\n", "name has no value")
	f("an unknown setting", good+"tttl: 15s\n", `f.yaml:3: there is no setting "tttl"; did you mean "ttl"?`)
	f("a setting with hyphens", good+"subscriptions: [{in-flight: 3}]\n", `did you mean "in_flight"?`)
	f("a setting like no other", good+"colour: red\n", "there are admin, boxes, console, destinations, grace")
	f("a setting twice", good+"name: a\nname: b\n", "f.yaml:4: name is there twice")
	f("a duration without a unit", good+"ttl: 15\n", "write a number and a unit")
	f("an invalid duration", good+"ttl: soon\n", "is no duration")
	f("a duration out of bounds", good+"ttl: 1h\n", "f.yaml:3: ttl is 1h0m0s; choose between 1s and 10m0s")
	f("a negative duration", good+"grace: -1s\n", "grace is -1s")
	f("an invalid truth", good+"maintenance: perhaps\n", "neither true nor false")
	f("a truth in quotes", good+"maintenance: \"true\"\n", "neither true nor false")
	f("a list for a value", good+"name: [a, b]\n", "write a single value")
	f("a value for a list", good+"subscriptions: [{types: order}]\n", "is no list")
	f("a value for a mapping", good+"log: text\n", "log is no mapping")
	f("a list for a mapping", "store: [a]\n", "store is no mapping")
	f("a NUL", good+"name: \"a\\0b\"\n", "NUL")
	f("no store", "destinations: {main: {nats: {url: nats://localhost}}}\n", "store names no place")
	f("two DSNs", "store: {dsn: a.db, dsn_env: A}\ndestinations: {m: {stdout: {}}}\n", "f.yaml:1: store names 2 places")
	f("a password in the DSN", "store: {dsn: 'postgres://u:CANARY@h/d'}\ndestinations: {m: {stdout: {}}}\n", "store.dsn holds a password")
	f("a header without a name", good+"subscriptions: [{headers: {'': a}}]\n", "f.yaml:3: subscriptions[0].headers is wrong: postbag: headers[\"\"] has a header without a name")
	f("a header that relays use", good+"boxes: {outbox: {headers: {Postbag-Id: CANARY}}}\n", "f.yaml:3: boxes.outbox.headers is wrong: postbag: headers[\"Postbag-Id\"] begins with Postbag-")
	f("a header with a NUL", good+"subscriptions: [{headers: {a: \"CANARY\\0\"}}]\n", "headers.a holds a NUL character")
	f("headers that are too large", good+"subscriptions: [{headers: {a: "+strings.Repeat("x", 70_000)+"}}]\n", "65536 allowed")
	f("headers that are too large beside those of the box", good+
		"boxes: {outbox: {headers: {a: "+strings.Repeat("x", 40_000)+"}}}\nsubscriptions: [{headers: {b: "+strings.Repeat("x", 40_000)+"}}]\n",
		"f.yaml:4: subscriptions[0].headers is wrong beside boxes.outbox.headers")
	f("a box that nobody reads", good+"boxes: {outbx: {}}\n", "f.yaml:3: boxes.outbx is a box that no subscription reads")
	f("a box that is read and said to be unread", good+"boxes: {outbox: {unread: true}}\n", "f.yaml:3: boxes.outbox.unread is said of a box that a subscription reads")
	f("headers of an unread box", good+"boxes: {spare: {unread: true, headers: {a: b}}}\n", "f.yaml:3: boxes.spare.headers are added at delivery, and no subscription reads the box")
	f("neither a subscription nor an unread box", good+"subscriptions: []\nboxes: {}\n", "f.yaml:3: subscriptions is empty")
	f("an invalid box", good+"boxes: {Outbox: {}}\n", "f.yaml:3: boxes.Outbox is wrong")
	f("a list for headers", good+"subscriptions: [{headers: [a]}]\n", "headers is no mapping")
	const there = "destinations: {m: {stdout: {}}}\n"
	f("supersede without an order of keys", good+"subscriptions: [{on_reject: supersede, order: shard}]\n", "f.yaml:3: subscriptions[0].on_reject is supersede, which compares the messages of a key")
	f("exactly once without transactions", good+"subscriptions: [{exactly_once: true}]\n", "f.yaml:3: subscriptions[0].exactly_once needs a destination with transactions")
	f("store and stores", "store: {dsn: a.db}\nstores: {a: {dsn: b.db}}\n"+there, "f.yaml:1: store stands beside stores")
	f("stores that is empty", "stores: {}\n"+there, "f.yaml:1: stores is empty")
	f("an invalid store's name", "stores: {'a b': {dsn: b.db}}\n"+there, "is no name")
	f("a password in one of the stores", "stores:\n  a: {dsn: 'postgres://u:CANARY@h/d'}\n"+there, "f.yaml:2: stores.a.dsn holds a password")
	f("a subscription of no store", "stores: {a: {dsn: a.db}, b: {dsn: b.db}}\n"+there+"subscriptions: [{}]\n", "store names none of the stores; write one of a, b")
	f("a subscription of another store", "stores: {a: {dsn: a.db}}\n"+there+"subscriptions: [{store: c}]\n", "store names none of the stores; write one of a")
	f("a subscription's store without stores", good+"subscriptions: [{store: c}]\n", "there are no stores; take it out")
	f("a subscription twice in a store", "stores: {a: {dsn: a.db}}\n"+there+"subscriptions: [{}, {store: a}]\n", "is the second subscription a: outbox/default")
	f("a DSN for a variable", "store: {dsn_env: 'postgres://u:CANARY@h/d'}\ndestinations: {m: {stdout: {}}}\n", "write the variable's name")
	f("a DSN for a file", "store: {dsn_file: 'postgres://u:CANARY@h/d'}\ndestinations: {m: {stdout: {}}}\n", "is no path of a file")
	f("an invalid kind", "store: {dsn: x, kind: oracle}\ndestinations: {m: {stdout: {}}}\n", "store.kind is no kind of store; choose one of postgresql, sqlite")
	f("a DSN of another kind", "store: {dsn: 'oracle://h'}\ndestinations: {m: {stdout: {}}}\n", "does not tell the kind of store")
	f("one connection", "store: {dsn: x, max_conns: 1}\ndestinations: {m: {stdout: {}}}\n", "choose between 2 and 1000")
	f("partitions of another kind", "store: {dsn: x.db, partition: 24h}\ndestinations: {m: {stdout: {}}}\n", "store.partition is not for sqlite")
	f("partitions of a fraction", "store: {dsn_env: X, partition: 1500ms}\ndestinations: {m: {stdout: {}}}\n", "is 1.5s; give whole seconds")
	f("a comment over several lines", "store: {dsn: x, sql_comments: {application: \"a\\nb\"}}\ndestinations: {m: {stdout: {}}}\n", "store.sql_comments.application holds a control character")
	f("a long comment", "store: {dsn: x, sql_comments: {application: "+strings.Repeat("a", 65)+"}}\ndestinations: {m: {stdout: {}}}\n", "holds 65 bytes; use at most 64")
	f("a number too large", "store: {dsn: x, max_conns: 99999999999999999999}\ndestinations: {m: {stdout: {}}}\n", "no whole number, or too large")
	f("a fraction", "store: {dsn: x, max_conns: 2.5}\ndestinations: {m: {stdout: {}}}\n", "no whole number")
	f("no destination", "store: {dsn: x}\ndestinations: {}\n", "destinations is missing or empty")
	f("a destination without a URL", "store: {dsn: x}\ndestinations: {m: {nats: {stream: A}}}\n", "destinations.m.nats has no URL")
	f("a destination without anything", "store: {dsn: x}\ndestinations: {m: {}}\n", "f.yaml:2: destinations.m has no kind; write one of nats, webhook, stdout")
	f("two URLs", "store: {dsn: x}\ndestinations: {m: {nats: {url: nats://a, url_env: B}}}\n", "has no URL")
	f("a destination as it once was", "store: {dsn: x}\ndestinations: {m: {url: nats://a}}\n", "f.yaml:2: destinations.m.url stands in the destination itself; write its kind first")
	f("two kinds", "store: {dsn: x}\ndestinations: {m: {nats: {url: nats://a}, stdout: {}}}\n", "destinations.m has several kinds; keep one")
	f("a kind with a slip", "store: {dsn: x}\ndestinations: {m: {natts: {url: nats://a}}}\n", "there is no kind of destination \"natts\" in destinations.m; did you mean \"nats\"?")
	f("an invalid kind of destination", "store: {dsn: x}\ndestinations: {m: {rabbit: {url: nats://a}}}\n", "no kind of destination")
	f("a password in the URL", "store: {dsn: x}\ndestinations: {m: {nats: {url: 'nats://u:CANARY@a'}}}\n", "holds a user, password or token")
	f("a token in the URL", "store: {dsn: x}\ndestinations: {m: {nats: {url: 'nats://CANARY@a'}}}\n", "holds a user, password or token")
	f("a token in the query", "store: {dsn: x}\ndestinations: {m: {webhook: {url: 'https://a/?access_token=CANARY'}}}\n", "holds a user, password or token")
	f("a password for a variable", "store: {dsn: x}\ndestinations: {m: {nats: {url: nats://a, password_env: 'CANARY!'}}}\n", "write the variable's name")
	f("a secret for a variable", "store: {dsn: x}\ndestinations: {m: {webhook: {url: https://a, secrets_env: ['whsec_CANARY+/=']}}}\n", "write the variable's name")
	f("password twice", "store: {dsn: x}\ndestinations: {m: {nats: {url: nats://a, password_env: A, password_file: b}}}\n", "has both password_env and password_file")
	f("a webhook's setting for nats", "store: {dsn: x}\ndestinations: {m: {nats: {url: nats://a, secrets_env: [A]}}}\n", "there is no setting \"secrets_env\" in destinations.m.nats")
	f("a name of a destination", "store: {dsn: x}\ndestinations: {\"a b\": {nats: {url: nats://a}}}\n", "use letters, digits")
	f("a buffer without a unit", good+"subscriptions: [{buffer: 64MB}]\n", "subscriptions[0].buffer is no size; write a number of bytes")
	f("a negative buffer", good+"subscriptions: [{buffer: -1}]\n", "subscriptions[0].buffer is -1; choose between")
	f("an address range", "store: {dsn: x}\ndestinations: {m: {webhook: {url: https://a, allow_private: [localhost]}}}\n", "no range of addresses")
	f("a destination that is not there", good+"subscriptions: [{to: other}]\n", "names none of the destinations; write one of main")
	f("no destination chosen of two", "store: {dsn: x}\ndestinations: {a: {nats: {url: nats://a}}, b: {nats: {url: nats://b}}}\n", "subscriptions[0].to names none of the destinations; write one of a, b")
	f("an empty list of subscriptions", good+"subscriptions: []\n", "subscriptions is empty")
	f("a subscription twice", good+"subscriptions: [{}, {}]\n", "is the second subscription outbox/default")
	f("a box with capitals", good+"subscriptions: [{box: Orders}]\n", "subscriptions[0].box is wrong")
	f("a box with SQL", good+"subscriptions: [{box: 'a; drop table b'}]\n", "subscriptions[0].box is wrong")
	f("a box that is a word of SQL", good+"subscriptions: [{box: select}]\n", "reserved")
	f("a name of a subscription", good+"subscriptions: [{name: '@maintenance'}]\n", "subscriptions[0].name is wrong")
	f("a start", good+"subscriptions: [{from: yesterday}]\n", "neither first nor now nor a time")
	f("a start to come", good+"subscriptions: [{from: -3h}]\n", "neither first nor now nor a time")
	f("a type with stars", good+"subscriptions: [{types: ['*.created']}]\n", "entry 1 is no type")
	f("an order", good+"subscriptions: [{order: fifo}]\n", "choose one of key, shard, none")
	f("an answer to rejections", good+"subscriptions: [{on_reject: panic}]\n", "choose one of block, skip")
	f("dead letters to the box of the messages", good+"subscriptions: [{dead_to: outbox}]\n", "subscriptions[0].dead_to is the box that the messages are in")
	f("dead letters to nowhere", good+"subscriptions: [{dead_to: {to: main}}]\n", "subscriptions[0].dead_to names no box")
	f("dead letters to a box with capitals", good+"subscriptions: [{dead_to: Dead}]\n", "subscriptions[0].dead_to is wrong")
	f("dead letters to a list", good+"subscriptions: [{dead_to: [dead]}]\n", "write a single value")
	f("dead letters to a destination that is not there", good+"subscriptions: [{dead_to: {box: dead, to: other}}]\n", "subscriptions[0].dead_to.to names none of the destinations")
	f("dead letters that come back", good+"subscriptions: [{dead_to: a}, {box: a, dead_to: b}, {box: b, dead_to: outbox}]\n", "subscriptions[2].dead_to names the box outbox, whose dead letters come back to the box b")
	f("dead letters that are sent twice", good+"subscriptions: [{dead_to: {box: dead, to: main}}, {box: dead}]\n", "is the second subscription dead/default")
	f("too many shards", good+"subscriptions: [{shards: 5000}]\n", "choose between 1 and 4096")
	f("a batch", good+"subscriptions: [{batch: 1000000}]\n", "choose between 1 and 100000")
	f("a back-off that shrinks", good+"subscriptions: [{retry: {factor: 0.5}}]\n", "choose between 1 and 100")
	f("a factor that is no number", good+"subscriptions: [{retry: {factor: .nan}}]\n", "is no number")
	f("a rate below what it may be", good+"subscriptions: [{rate: {messages: 0.0001}}]\n", "choose between 0.001 and 1000000")
	f("a rate that is no size", good+"subscriptions: [{rate: {bytes: fast}}]\n", "is no size")
	f("a burst of messages alone", good+"subscriptions: [{rate: {bytes: 1MiB, burst: 5}}]\n", "burst bounds nothing without messages")
	f("a burst of bytes alone", good+"subscriptions: [{rate: {messages: 5, burst_bytes: 1MiB}}]\n", "burst_bytes bounds nothing without bytes")
	f("a shared rate of nothing", good+"subscriptions: [{rate: {shared: true}}]\n", "shared shares nothing")
	f("min above max", good+"subscriptions: [{retry: {min: 1h, max: 1m}}]\n", "more than max")
	f("pauses beside min", good+"subscriptions: [{retry: {min: 1s, pauses: [1s]}}]\n", "retry.min has no effect beside pauses")
	f("a negative pause", good+"subscriptions: [{retry: {pauses: [1s, -1s]}}]\n", "retry.pauses")
	f("too many pauses", good+"subscriptions: [{retry: {pauses: ["+strings.Repeat("1s, ", 101)+"]}}]\n", "has 101 entries; write 100 at most")
	f("an age of nothing", good+"subscriptions: [{retry: {max_age: 0s}}]\n", "retry.max_age")
	f("too many rules", good+"subscriptions: [{retry: {rules: ["+strings.Repeat("{types: [a]}, ", 100)+"{types: [a]}]}}]\n", "retry.rules has 101 entries; write 100 at most")
	f("a rule of no type", good+"subscriptions: [{retry: {rules: [{types: ['*']}]}}]\n", "rules[0].types entry 1 is no type")
	f("a rule with an empty text", good+"subscriptions: [{retry: {rules: [{errors: ['']}]}}]\n", "rules[0].errors has an empty text")
	f("a rule with min above max", good+"subscriptions: [{retry: {rules: [{types: [a], min: 2s, max: 1s}]}}]\n", "rules[0].min is 2s, more than max")
	f("a rule of too many attempts", good+"subscriptions: [{retry: {rules: [{types: [a], max_attempts: 1000001}]}}]\n", "rules[0].max_attempts is 1000001")
	f("rules behind one for all", good+"subscriptions: [{retry: {rules: [{max_attempts: 1}, {types: [a]}]}}]\n", "is for all types and errors, so the rules behind it have no effect")
	f("min above the default max", good+"subscriptions: [{retry: {min: 1h}}]\n", "more than max")
	f("an address to listen on", good+"admin: {listen: 'localhost:http:1'}\n", "no address to listen on")
	f("a port to listen on", good+"admin: {listen: 99999}\n", "no address to listen on")
	f("a format of the log", good+"log: {format: xml}\n", "choose one of text, json")
	f("a level of the log", good+"log: {level: loud}\n", "choose one of debug, info, warn, error")
}

// Zero is what a setting has that is left out: written, it would be taken for the default, which may be anything.
func TestAnExplicitZeroIsRefused(t *testing.T) {
	t.Parallel()
	const form = "store: {dsn: x.db%s}\n%s\ndestinations: {m: {nats: {url: nats://a%s}}}\nsubscriptions: [{%s}]\n"
	for where, line := range map[string][4]string{
		"keep":                                {"", "keep: 0s"},
		"grace":                               {"", "grace: P0D"},
		"ttl":                                 {"", "ttl: 0"},
		"poll":                                {"", "poll: 0ms"},
		"store.max_conns":                     {", max_conns: 0"},
		"destinations.m.nats.recheck":         {"", "", ", recheck: 0s"},
		"destinations.m.nats.max_pending":     {"", "", ", max_pending: 0"},
		"subscriptions[0].in_flight":          {"", "", "", "in_flight: 0"},
		"subscriptions[0].buffer":             {"", "", "", "buffer: 0MiB"},
		"subscriptions[0].timeout":            {"", "", "", "timeout: 0m"},
		"subscriptions[0].retry.factor":       {"", "", "", "retry: {factor: 0.0}"},
		"subscriptions[0].retry.max_attempts": {"", "", "", "retry: {max_attempts: 0}"},
	} {
		_, err := Parse("f.yaml", fmt.Appendf(nil, form, line[0], line[1], line[2], line[3]), testKinds())
		if err == nil || !strings.Contains(err.Error(), where+" is ") || len(Mistakes(err)) != 1 {
			t.Errorf("%s: %v", where, err)
		}
	}
	if _, err := Parse("f.yaml", fmt.Appendf(nil, form, "", "", "", "retry: {quick: 0}"), testKinds()); err != nil {
		t.Errorf("zero, where it means none: %v", err)
	}
}
