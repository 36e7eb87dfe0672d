package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
)

// badInput is a command line that must be refused. STORE in args is a good store,
// with its flag. In args, ␣ stands for a space, ␀ for NUL and ÿ for a byte that is no UTF-8.
type badInput struct {
	name string
	args string
	in   string
	code exit.Code
	want string
}

// refuse runs each bad input on each kind of store, and checks that nothing was
// written by any.
func refuse(t *testing.T, inputs []badInput) {
	t.Helper()
	onEachStore(t, func(t *testing.T, at *place) { refuseAt(t, at, inputs) })
}

func refuseAt(t *testing.T, at *place, inputs []badInput) {
	t.Helper()
	before := folder(t, at.folder)
	for _, bad := range inputs {
		args := strings.Fields(strings.ReplaceAll(bad.args, "STORE", at.flag+" "+at.where))
		for i := range args {
			args[i] = strings.NewReplacer("␣", " ", "␀", "\x00", "ÿ", "\xff").Replace(args[i])
		}
		o := cliWith(t, bad.in, args...)
		text := o.out + o.err
		switch {
		case o.code != bad.code:
			t.Errorf("%s: it ended with %d, want %d:\n%s", bad.name, o.code, bad.code, text)
		case !strings.Contains(o.err, bad.want):
			t.Errorf("%s: the error is\n%swant one that says\n%s", bad.name, text, bad.want)
		case !strings.HasPrefix(o.err, "postbag: ") && !strings.Contains(o.err, "\npostbag: "):
			t.Errorf("%s: the error does not begin with the program's name:\n%s", bad.name, text)
		case !strings.ContainsAny(o.err, ";?"):
			t.Errorf("%s: the error has no fix:\n%s", bad.name, text)
		case strings.Contains(text, "panic") || strings.Contains(text, "goroutine "):
			t.Errorf("%s: it panicked:\n%s", bad.name, text)
		}
	}
	var v operations.Status
	cli(t, "status", at.flag, at.where, "--json").ok().json(&v)
	if len(v.Boxes) != 1 || v.Boxes[0].LastSeq != 0 || v.Boxes[0].Scheduled != 0 || len(v.Boxes[0].Subscriptions) != 0 {
		t.Errorf("something was written: %+v", v)
	}
	if o := cli(t, "audit", at.flag, at.where, "--json").ok(); o.out != "" {
		t.Errorf("something was ordered: %s", o.out)
	}
	if after := folder(t, at.folder); after != before {
		t.Errorf("there are files %s, want %s", after, before)
	}
}

// folder lists a folder, without what SQLite leaves beside its file.
func folder(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

func TestBadCommandLinesAreRefused(t *testing.T) {
	t.Parallel()
	refuse(t, []badInput{
		{"an unknown command", "relais", "", exit.Usage, `there is no command "relais"; did you mean relay?`},
		{"an unknown command of a group", "messages purge", "", exit.Usage, "see postbag messages --help"},
		{"an unknown command with a flag of the right one", "statsu STORE", "", exit.Usage, `there is no command "statsu"; did you mean status?`},
		{"an unknown command of a group with a flag", "config chekc -c x.yaml", "", exit.Usage, `there is no command "chekc"; did you mean check?`},
		{"a group alone", "migrate", "", exit.Usage, "say which: print, status, up"},
		{"an unknown flag", "status STORE --colour", "", exit.Usage, "unknown flag: --colour; see postbag status --help"},
		{"a flag with a slip", "status --sotre x.db", "", exit.Usage, "unknown flag: --sotre; did you mean --store?"},
		{"a flag of one letter", "status STORE -x", "", exit.Usage, "unknown shorthand flag: 'x' in -x; see postbag status --help"},
		{"a configuration without its flag", "config check x.yaml", "", exit.Usage, "name a configuration file with -c"},
		{"a secret behind an unknown flag", "status STORE --password=" + canary, "", exit.Usage, "unknown flag: --password"},
		{"a flag without its value", "status --store", "", exit.Usage, "flag needs an argument"},
		{"an argument where none belongs", "status STORE postgres://u:" + canary + "@h", "", exit.Usage, "takes no arguments"},
		{"a DSN as a number", "shards set postgres://u:" + canary + "@h STORE --why x", "", exit.Usage, "between 1 and 4096"},
		{"a DSN as a duration", "status STORE --every postgres://u:" + canary + "@h", "", exit.Usage, "--every is no duration"},
		{"two numbers of shards", "shards set 4 5 STORE --why x", "", exit.Usage, "takes one argument"},
		{"no shards", "shards set 0 STORE --why x", "", exit.Usage, "between 1 and 4096"},
		{"too many shards", "shards set 4097 STORE --why x", "", exit.Usage, "between 1 and 4096"},
		{"shards without why", "shards set 4 STORE", "", exit.Usage, "--why is missing"},
		{"shards of all subscriptions", "shards set 4 STORE --why x --subscription=", "", exit.Usage, "--subscription is empty"},
		{"why is too long", "shards set 4 STORE --why " + strings.Repeat("x", 2000), "", exit.Usage, "at most 1024 bytes"},
		{"too often", "status STORE --watch --every 1ms", "", exit.Usage, "choose between 100ms and 1h"},
		{"no store", "status", "", exit.Usage, "no store is given; pass -c FILE, --store DSN, --store-env NAME or --store-file FILE"},
		{"two stores", "status STORE --store-env X", "", exit.Usage, "2 of -c, --store, --store-env and --store-file are given"},
		{"a kind beside a file", "status -c x.yaml --store-kind sqlite", "", exit.Usage, "--store-kind goes without -c"},
		{"an invalid kind", "status STORE --store-kind oracle", "", exit.Usage, "choose one of postgresql, mysql, mariadb, sqlite"},
		{"no lines of the log", "audit STORE --limit 0", "", exit.Usage, "choose between 1 and 100000"},
		{"no configuration to check", "config check", "", exit.Usage, "-c is missing"},
		{"a configuration that is not there", "config check -c /no/such.yaml", "", exit.Usage, "name a file that exists"},
		{"a box that must not be", "migrate up STORE --box Orders", "", exit.Usage, `postbag: --box: box name "Orders" has a character`},
		{"a box with SQL in it", "migrate up STORE --box a;drop␣table␣b", "", exit.Usage, "a letter a to z"},
		{"a role for nothing", "grants shop --for nothing", "", exit.Usage, "--for is"},
		{"a role of two lines", "grants a␀b --for relay", "", exit.Usage, "name a role"},
		{"a role without a box", "grants app --for producer", "", exit.Usage, "name it with --box"},
		{"nothing to wake", "wake", "", exit.Usage, "no relay is named"},
		{"an address of no relay", "wake --admin localhost:x", "", exit.Usage, "no address to listen on"},
		{"a box of no relay", "wake --admin 9090 --box Orders", "", exit.Usage, "a letter a to z"},
		{"a version to print from", "migrate print --store-kind sqlite --after x", "", exit.Usage, "no whole number"},
		{"a partition", "migrate print --store-kind mysql --partition x", "", exit.Usage, "no duration"},
		{"a negative partition", "migrate print --store-kind mysql --partition -1h", "", exit.Usage, "--partition"},
		{"a partition of a fraction", "migrate print --store-kind mysql --partition 1500ms --box outbox", "", exit.Usage, "whole seconds"},
		{"a version beyond all", "migrate print --store-kind sqlite --after 99", "", exit.Usage, "--after"},
		{"a box that is reserved", "migrate up STORE --box postbag_x", "", exit.Usage, "reserved"},
	})
}

func TestBadStoreAddressesAreRefused(t *testing.T) {
	t.Parallel()
	lines := write(t, "lines", "one\ntwo "+canary+"\n")
	empty := write(t, "empty", "")
	secret := write(t, "dsn", "postgres://app:"+canary+"@127.0.0.1:port/shop")
	noDatabase := write(t, "text.db", "this is no database but a text that is long enough to be looked at "+canary)
	refuse(t, []badInput{
		{"a password in a URL", "status --store postgres://u:" + canary + "@h/d", "", exit.Usage, "use --store-env or --store-file"},
		{"a password in the keyword form", "status --store host=h␣password=" + canary, "", exit.Usage, "use --store-env or --store-file"},
		{"a password in the query", "status --store postgres://h/d?password=" + canary, "", exit.Usage, "use --store-env or --store-file"},
		{"a password, escaped", "status --store postgres://u:%43" + canary + "@h/d", "", exit.Usage, "use --store-env or --store-file"},
		{"a DSN for a variable", "status --store-env postgres://u:" + canary + "@h/d", "", exit.Usage, "write the variable's name, not its value"},
		{"a DSN for a file", "status --store-file postgres://u:" + canary + "@h/d", "", exit.Usage, "cannot be read"},
		{"a variable that is not set", "status --store-env POSTBAG_TEST_NO_SUCH", "", exit.Usage, "POSTBAG_TEST_NO_SUCH is not set; export it"},
		{"a file that is not there", "status --store-file /no/such", "", exit.Usage, "name a file that exists"},
		{"a file with two lines", "status --store-file " + lines, "", exit.Usage, "more than one line"},
		{"a file with nothing", "status --store-file " + empty, "", exit.Usage, "is empty"},
		{"an invalid DSN", "status --store-file " + secret, "", exit.Usage, "the PostgreSQL DSN cannot be read"},
		{"a DSN that is none, by environment", "status --store-env POSTBAG_TEST_BAD_DSN", "", exit.Usage, "the PostgreSQL DSN cannot be read"},
		{"a DSN of no kind", "status --store-env POSTBAG_TEST_OTHER_DSN", "", exit.Usage, "does not tell the kind of store"},
		{"a server that is not there", "status --store-env POSTBAG_TEST_DSN", "", exit.Unavailable, "look whether the server runs"},
		{"a sqlite file that is not there", "status --store /no/such.db", "", exit.Usage, "there is no file /no/such.db"},
		{"a sqlite file with options", "status --store sqlite:shop.db?mode=ro", "", exit.Usage, "no options behind a question mark"},
		{"a sqlite file without a name", "status --store sqlite:", "", exit.Usage, "names no file"},
		{"an invalid sqlite file", "status --store " + noDatabase, "", exit.Failed, "no database"},
		{"a folder", "status --store /", "", exit.Usage, "is a folder; name a file"},
		{"a folder that cannot be made in", "migrate up --store /no/such/folder/shop.db", "", exit.Usage, "there is no folder /no/such/folder"},
	})
}

func TestBadRelaysAreRefused(t *testing.T) {
	t.Parallel()
	config := hookConfig(t, &place{yaml: "{dsn: shop.db}"}, "http://127.0.0.1:8080")
	refuse(t, []badInput{
		{"no destination", "relay STORE", "", exit.Usage, "--to is missing"},
		{"two places", "relay STORE --to nats://h --to-env X", "", exit.Usage, "keep one"},
		{"a destination of no kind", "relay STORE --to carrier-pigeon://h", "", exit.Usage, "begin it with one of nats://"},
		{"a destination with a password", "relay STORE --to nats://u:" + canary + "@h", "", exit.Usage, "holds a user, password or token"},
		{"a destination with a token", "relay STORE --to nats://" + canary + "@h", "", exit.Usage, "holds a user, password or token"},
		{"a hook with a token", "relay STORE --to https://h/?token=" + canary, "", exit.Usage, "holds a user, password or token"},
		{"a hook without a secret", "relay STORE --to https://example.com/", "", exit.Usage, "there is no signing secret; name one with --secret-env"},
		{"a hook's secret as an argument", "relay STORE --to https://example.com/ --secret-env whsec_" + canary + "+", "", exit.Usage, "write the variable's name"},
		{"an invalid webhook secret", "relay STORE --to https://example.com/ --secret-env POSTBAG_TEST_BAD_SECRET", "", exit.Usage, "no"},
		{"a private address", "relay STORE --to http://127.0.0.1:8080/ --secret-env " + hookSecret, "", exit.Usage, "loopback"},
		{"an invalid range", "relay STORE --to https://h/ --secret-env " + hookSecret + " --allow-private localhost", "", exit.Usage, "write it as 10.0.0.0/8"},
		{"a stream for standard output", "relay STORE --to stdout: --stream ORDERS", "", exit.Usage, "stream is no setting of a destination of kind stdout"},
		{"an invalid stream", "relay STORE --to nats://h --stream a.b", "", exit.Usage, "no name of a stream"},
		{"an invalid URL from the environment", "relay STORE --to-env POSTBAG_TEST_BAD_NATS", "", exit.Usage, "write it as nats://host:4222"},
		{"a box", "relay STORE --to stdout: --box Orders", "", exit.Usage, "a letter a to z"},
		{"a subscription", "relay STORE --to stdout: --subscription @maintenance", "", exit.Usage, "subscription name"},
		{"a start", "relay STORE --to stdout: --from tomorrow", "", exit.Usage, "neither first nor now nor a time"},
		{"a type", "relay STORE --to stdout: --types *.created", "", exit.Usage, "no type"},
		{"an order", "relay STORE --to stdout: --order fifo", "", exit.Usage, "choose one of key, shard, none"},
		{"a concurrency", "relay STORE --to stdout: --concurrency -1", "", exit.Usage, "choose between 1 and 10000"},
		{"a format of the log", "relay STORE --to stdout: --log-format xml", "", exit.Usage, "choose one of text, json"},
		{"a level of the log", "relay STORE --to stdout: --log-level loud", "", exit.Usage, "choose one of debug, info, warn, error"},
		{"an address to listen on", "relay STORE --to stdout: --admin localhost", "", exit.Usage, "no address to listen on"},
		{"an address that is taken by nobody", "relay STORE --to stdout: --admin 192.0.2.1:9090", "", exit.Failed, "choose another address"},
		{"flags beside a file", "relay -c " + config + " --box x --to stdout:", "", exit.Usage, "--box, --to cannot go with -c"},
		{"a box that is not there", "relay STORE --to stdout: --box orders --drain", "", exit.NotFound, "orders"},
	})
}

func TestBadDestinationsAreRefused(t *testing.T) {
	t.Parallel()
	junk, lines := write(t, "junk", "junk "+canary), write(t, "lines", canary+"\n"+canary)
	large := write(t, "large", strings.Repeat(canary, 10_000))
	var inputs []badInput
	for name, one := range map[string][2]string{
		"credentials that are not there": {"nats: {url: nats://h, credentials_file: /no/such}", "give the path of a file that can be read"},
		"invalid credentials":            {"nats: {url: nats://h, credentials_file: " + junk + "}", "that nsc or nk has written"},
		"an invalid seed":                {"nats: {url: nats://h, nkey_file: " + junk + "}", "that nsc or nk has written"},
		"a password of two lines":        {"nats: {url: nats://h, user_env: POSTBAG_TEST_NATS_USER, password_file: " + lines + "}", "more than one line"},
		"a password that is too large":   {"nats: {url: nats://h, password_file: " + large + "}", "more than 65536 bytes"},
		"a token that is not set":        {"nats: {url: nats://h, token_env: POSTBAG_TEST_NO_SUCH}", "is not set; export it"},
		"a token and a password":         {"nats: {url: nats://h, token_env: POSTBAG_TEST_NATS_PASSWORD, password_env: POSTBAG_TEST_NATS_PASSWORD, user_env: POSTBAG_TEST_NATS_USER}", "use one of them"},
		"an invalid authority":           {"nats: {url: tls://h, ca_file: " + junk + "}", "holds no certificate"},
		"an authority that is not there": {"nats: {url: tls://h, ca_file: /no/such}", "cannot be read; name a PEM file"},
		"a port":                         {"nats: {url: 'nats://h:99999'}", "between 1 and 65535"},
		"a URL without a host":           {"nats: {url: 'nats://'}", "names no host"},
		"a URL with a space":             {"nats: {url: 'nats://a b'}", "cannot be read; write it as nats://host:4222"},
		"a URL of two lines":             {"nats: {url_file: " + lines + "}", "more than one line"},
		"an invalid URL":                 {"nats: {url_file: " + junk + "}", "nats://host:4222"},
		"a place for standard output":    {"stdout: {url: 'stdout:/tmp/file'}", "there is no setting \"url\""},
		"a hook without a host":          {"webhook: {url: 'https://', secrets_env: [" + hookSecret + "]}", "it has no host"},
		"a hook's secret of two lines":   {"webhook: {url: 'https://h/', secrets_file: [" + lines + "]}", "more than one line"},
		"an invalid webhook secret":      {"webhook: {url: 'https://h/', secrets_file: [" + junk + "]}", "secret 1"},
		"a hook's authority":             {"webhook: {url: 'https://h/', secrets_env: [" + hookSecret + "], ca_file: " + junk + "}", "holds no certificate"},
	} {
		file := write(t, "postbag.yaml", "store: {dsn: shop.db}\ndestinations:\n  main: {"+one[0]+"}\n")
		inputs = append(inputs, badInput{name + ", looked at", "config check -c " + file, "", exit.Usage, one[1]})
	}
	refuse(t, inputs)
}

func TestBadMessagesAreRefused(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("k", postbag.MaxKey+1)
	refuse(t, []badInput{
		{"a box that is not there", "publish STORE --box orders --payload x", "", exit.NotFound, "box"},
		{"a box that cannot be", "publish STORE --box Orders --payload x", "", exit.Usage, "a letter a to z"},
		{"an id", "publish STORE --payload x --id 7", "", exit.Usage, "--id is no UUID"},
		{"the zero id", "publish STORE --payload x --id 00000000-0000-0000-0000-000000000000", "", exit.Usage, "--id is no UUID"},
		{"a header without a value", "publish STORE --payload x --header tenant", "", exit.Usage, "write it as name=value"},
		{"a header without a name", "publish STORE --payload x --header =" + canary, "", exit.Usage, "write it as name=value"},
		{"a header of ours", "publish STORE --payload x --header Postbag-Id=" + canary, "", exit.Usage, "Postbag-"},
		{"a header with NUL", "publish STORE --payload x --header a=" + canary + "␀", "", exit.Usage, "NUL"},
		{"a key that is too long", "publish STORE --payload x --key " + long, "", exit.Usage, "Key holds 1025 bytes, 1024 allowed"},
		{"a key that is no text", "publish STORE --payload x --key " + canary + "ÿ", "", exit.Usage, "not valid UTF-8"},
		{"a topic with NUL", "publish STORE --payload x --topic a␀b", "", exit.Usage, "NUL"},
		{"a type that is too long", "publish STORE --payload x --type " + strings.Repeat("t", 300), "", exit.Usage, "255 allowed"},
		{"an invalid time", "publish STORE --payload x --not-before soon", "", exit.Usage, "--not-before is no time"},
		{"a time in the wrong unit", "publish STORE --payload x --not-before 9999999h", "", exit.Usage, "--not-before is no time"},
		{"a negative span", "publish STORE --payload x --not-before -5m", "", exit.Usage, "--not-before is no time"},
		{"two payloads", "publish STORE --payload x --payload-file y", "", exit.Usage, "keep one"},
		{"a payload that is not there", "publish STORE --payload-file /no/such", "", exit.Usage, "name a file that exists"},
		{"a payload that is a folder", "publish STORE --payload-file /", "", exit.Usage, "cannot be read"},
		{"a payload that is too large", "publish STORE --payload-file " + large, "", exit.Usage, "publish a reference"},
		{"skip without lines", "publish STORE --payload x --skip 5", "", exit.Usage, "--skip is for --ndjson"},
		{"a negative skip", "publish STORE --ndjson --skip -1", "", exit.Usage, "--skip is negative"},
		{"a topic beside lines", "publish STORE --ndjson --topic x", "{}", exit.Usage, "--topic cannot go with --ndjson"},
		{"a line that is no JSON", "publish STORE --ndjson", "{}\n" + canary, exit.Usage, "line 2 is no JSON object"},
		{"a line that is cut off", "publish STORE --ndjson", `{"payload":"` + canary, exit.Usage, "line 1 ends in the middle"},
		{"a line with an unknown field", "publish STORE --ndjson", "{}\n\n" + `{"Key2":"` + canary + `"}`, exit.Usage, `line 3 has a field "Key2"`},
		{"a line with a field twice", "publish STORE --ndjson", "{}\n" + `{"topic":"` + canary + `","topic":"b"}`, exit.Usage, `line 2 has the field "topic" twice`},
		{"a line with a header twice", "publish STORE --ndjson", `{"headers":{"a":"` + canary + `","a":"b"}}`, exit.Usage, `line 1 has the header "a" twice`},
		{"a line with a number for a key", "publish STORE --ndjson", `{"key":12345}`, exit.Usage, "write a string"},
		{"a line that is no UTF-8", "publish STORE --ndjson", "{\"payload\":\"" + canary + "\xff\"}", exit.Usage, "not valid UTF-8"},
		{"a line with bad base64", "publish STORE --ndjson", `{"payload_base64":"` + canary + `!"}`, exit.Usage, "no base64"},
		{"a line with a long key", "publish STORE --ndjson", "{}\n" + `{"key":"` + long + `"}`, exit.Usage, "line 2 is wrong: Key holds 1025 bytes"},
		{"a line with a header of ours", "publish STORE --ndjson", `{"headers":{"postbag-id":"` + canary + `"}}`, exit.Usage, "line 1 is wrong: Headers"},
		{"a line with too many headers", "publish STORE --ndjson", `{"headers":{"a":"` + strings.Repeat("x", 70_000) + `"}}`, exit.Usage, "line 1 is wrong: Headers"},
		{
			"one id twice", "publish STORE --ndjson",
			strings.Repeat(`{"id":"01900000-0000-7000-8000-000000000000"}`+"\n", 2), exit.Usage, "line 2 is wrong: ID is that of message 0 too",
		},
		{"lines of another kind", "publish STORE --ndjson", "PK\x03\x04" + strings.Repeat("\x00", 1000), exit.Usage, "line 1 is"},
	})
}

func TestBadSelectionsAreRefused(t *testing.T) {
	t.Parallel()
	const id = "01900000-0000-7000-8000-000000000000"
	refuse(t, []badInput{
		{"a state", "messages list STORE --state broken", "", exit.Usage, "choose one of dead, retrying"},
		{"an id", "messages list STORE --id 7", "", exit.Usage, "no id of a message"},
		{"a time", "messages list STORE --after yesterday", "", exit.Usage, "--after is no time"},
		{"times the wrong way round", "messages list STORE --after 1h --before 2h", "", exit.Usage, "exchange them"},
		{"a key that is too long", "messages list STORE --key " + strings.Repeat("k", 2000), "", exit.Usage, "no message has it"},
		{"a topic with NUL", "messages list STORE --topic a␀", "", exit.Usage, "no message has it"},
		{"a type with stars", "messages list STORE --type *a", "", exit.Usage, "a prefix and .*"},
		{"a cursor", "messages list STORE --cursor x'y", "", exit.Usage, "the cursor is malformed"},
		{"a cursor with a tail", "messages list STORE --cursor 1.0x", "", exit.Usage, "the cursor is malformed"},
		{"a box to show that cannot be", "status STORE --box Orders", "", exit.Usage, "a letter a to z"},
		{"a limit", "messages list STORE --limit -1", "", exit.Usage, "--limit is negative"},
		{"a limit beyond all numbers", "messages list STORE --limit 99999999999999999999", "", exit.Usage, "--limit is no whole number, or too large"},
		{"a switch that is neither", "status STORE --watch=maybe", "", exit.Usage, "--watch is neither true nor false"},
		{"a header twice", "publish STORE --payload x --header a=1 --header a=2", "", exit.Usage, "a --header is given twice"},
		{"a box", "messages list STORE --box a;b", "", exit.Usage, "a letter a to z"},
		{"a box that is not there", "messages list STORE --box orders", "", exit.NotFound, "box"},
		{"a subscription that is not there", "messages list STORE --subscription other", "", exit.NotFound, "subscription"},
		{"nothing to show", "messages show STORE", "", exit.Usage, "takes one argument, the id"},
		{"something that is no id", "messages show " + canary + " STORE", "", exit.Usage, "no id of a message"},
		{"a message that is not there", "messages show " + id + " STORE", "", exit.NotFound, "shows no message " + id},
		{"a format", "messages show " + id + " STORE --format xml", "", exit.Usage, "choose one"},
		{"nothing selected", "messages retry STORE --why x", "", exit.Usage, "nothing is selected"},
		{"no reason", "messages discard STORE --all", "", exit.Usage, "--why is missing"},
		{"an id and a filter", "messages retry " + id + " STORE --why x --type a", "", exit.Usage, "use one of them"},
		{"an id and all", "messages retry " + id + " STORE --why x --all", "", exit.Usage, "use one of them"},
		{"a state that takes no orders", "messages retry STORE --why x --state delivered", "", exit.Usage, "choose one of dead, retrying, blocked, in-flight"},
		{"no subscription", "messages discard STORE --why x --all --subscription=", "", exit.Usage, "--subscription is empty"},
		{"a subscription nobody declared", "messages discard STORE --why x --all", "", exit.NotFound, "subscription"},
		{"an id of nothing", "messages discard " + id + " STORE --why x", "", exit.NotFound, "no message"},
		{"an invalid id", "messages discard " + canary + " STORE --why x", "", exit.Usage, "no id of a message"},
	})
}
