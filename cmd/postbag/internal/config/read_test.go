package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// whole has every setting that goes together.
const whole = `
name: relay-1
ttl: 20s
grace: 5s
keep: 24h
maintenance: false
store: {dsn_env: DATABASE_URL, kind: postgresql, create: true, max_conns: 8}
x-retry: &retry {min: 1s, max: 2m, factor: 1.5, max_attempts: 7, quick: 2}
destinations:
  broker:
    nats:
      url: nats://127.0.0.1:4222
      stream: ORDERS
      user_env: NATS_USER
      password_file: /run/secrets/nats
  hook:
    webhook:
      url_env: HOOK_URL
      secrets_env: [HOOK_SECRET, HOOK_OLD_SECRET]
      allow_private: [10.0.0.0/8, "::1/128"]
      timeout: 3s
subscriptions:
  - to: broker
  - name: partners
    box: orders
    to: hook
    from: "2026-01-31T12:00:00Z"
    types: [order.*, invoice.sent]
    shards: 16
    order: none
    on_reject: skip
    retry: *retry
    rate: {messages: 2.5, bytes: 1MiB, burst: 7, burst_bytes: 2048, shared: true}
    timeout: 10s
    batch: 50
    retry_batch: 5
    in_flight: 200
    max_held: 300
    concurrency: 12
    format: {kind: plain, names: {id: Message-Id, time: "-"}, reserved: true, dispatched_at: true, content_type: text/plain}
  - name: events
    to: broker
    format: {kind: cloudevents, source: /orders, mode: structured, subject: topic, extensions: {tenant-id: tenant}, amqp_prefix: "cloudEvents:"}
  - name: old
    to: broker
    format: {kind: debezium, route: "x.${routedByValue}", fields: "type:header:eventType,tenant:envelope", expand_json: true, tombstone: true}
admin: {listen: 9090}
log: {format: json, level: debug}
`

func TestFileIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	f, err := Parse("postbag.yaml", []byte(whole), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	f.problems = nil
	no := false
	want := &File{
		Name: "relay-1", TTL: 20 * time.Second, Grace: 5 * time.Second, Keep: 24 * time.Hour, Maintenance: &no,
		Store: Store{Kind: "postgresql", DSNEnv: "DATABASE_URL", Create: true, MaxConns: 8},
		Destinations: map[string]Destination{
			"broker": {Kind: "nats", Settings: &testNATS{
				testAddress: testAddress{URL: "nats://127.0.0.1:4222"}, Stream: "ORDERS", UserEnv: "NATS_USER", PasswordFile: "/run/secrets/nats",
			}},
			"hook": {Kind: "webhook", Settings: &testWebhook{
				testAddress: testAddress{URLEnv: "HOOK_URL"}, SecretsEnv: []string{"HOOK_SECRET", "HOOK_OLD_SECRET"}, Timeout: 3 * time.Second,
				AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
			}},
		},
		Subscriptions: []Subscription{
			{Name: "default", Box: "outbox", To: "broker", Order: "key", OnReject: "block"},
			{
				Name: "partners", Box: "orders", To: "hook", From: "2026-01-31T12:00:00Z", Types: []string{"order.*", "invoice.sent"},
				Shards: 16, Order: "none", OnReject: "skip", Timeout: 10 * time.Second, Batch: 50, RetryBatch: 5, InFlight: 200, MaxHeld: 300, Concurrency: 12,
				Retry: Retry{Min: time.Second, Max: 2 * time.Minute, Factor: 1.5, MaxAttempts: 7, Quick: 2},
				Rate:  Rate{Messages: 2.5, Bytes: 1 << 20, Burst: 7, BurstBytes: 2048, Shared: true},
				Format: &Format{
					Kind: "plain", Names: FormatNames{ID: "Message-Id", Time: "-"}, Reserved: true, DispatchedAt: true, ContentType: "text/plain",
				},
			},
			{
				Name: "events", Box: "outbox", To: "broker", Order: "key", OnReject: "block",
				Format: &Format{
					Kind: "cloudevents", Source: "/orders", Mode: "structured", Subject: "topic",
					Extensions: map[string]string{"tenant-id": "tenant"}, AMQPPrefix: "cloudEvents:",
				},
			},
			{
				Name: "old", Box: "outbox", To: "broker", Order: "key", OnReject: "block",
				Format: &Format{
					Kind: "debezium", Route: "x.${routedByValue}", Fields: "type:header:eventType,tenant:envelope",
					ExpandJSON: true, Tombstone: true,
				},
			},
		},
		Admin: Admin{Listen: "127.0.0.1:9090"},
		Log:   Log{Format: "json", Level: "debug"},
	}
	want.fill() // what the file leaves out
	if !reflect.DeepEqual(f, want) {
		t.Errorf("read\n%+v\nwant\n%+v", f, want)
	}
}

func TestSmallestFileHasTheDefaults(t *testing.T) {
	t.Parallel()
	f, err := Parse("postbag.yaml", []byte("store: {dsn: shop.db}\ndestinations: {main: {stdout: {}}}\n"), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	s := f.Subscriptions[0]
	if len(f.Subscriptions) != 1 || s.Name != "default" || s.Box != "outbox" || s.To != "main" || s.Order != "key" || f.Log.Level != "info" {
		t.Errorf("the defaults are %+v", f)
	}
}

func TestAFileMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	if _, err := Parse("postbag.yaml", []byte("\xef\xbb\xbfstore: {dsn: shop.db}\ndestinations: {main: {stdout: {}}}\n"), testKinds()); err != nil {
		t.Error(err)
	}
}

func TestAllMistakesAreFoundAtOnceInTheOrderOfTheirLines(t *testing.T) {
	t.Parallel()
	_, err := Parse("postbag.yaml", []byte(`ttl: 15
store:
  dsn: shop.db
  max_conns: many
destinations:
  main: {nats: {url: nats://localhost, attempts: 3}}
  main: {nats: {url: nats://other}}
subscriptions:
  - too: main
    batch: -1
  - box: Orders
`), testKinds())
	if err == nil {
		t.Fatal("a file full of mistakes was taken")
	}
	want := []string{
		`postbag.yaml:1: ttl is no duration`,
		`postbag.yaml:4: store.max_conns is no whole number`,
		`postbag.yaml:6: there is no setting "attempts" in destinations.main.nats`,
		`postbag.yaml:7: destinations.main is there twice`,
		`postbag.yaml:9: there is no setting "too" in subscriptions[0]; did you mean "to"?`,
		`postbag.yaml:10: subscriptions[0].batch is -1`,
		`postbag.yaml:11: subscriptions[1].box is wrong`,
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Errorf("there are %d mistakes, want %d", len(lines), len(want))
	}
	for i := range min(len(lines), len(want)) {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("mistake %d is\n%s, want\n%s", i, lines[i], want[i])
		}
	}
}

func TestFileThatCannotBeReadIsNamedWithTheFix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, make([]byte, MaxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing.yaml"): "name a file that exists",
		dir:                                "name a file that exists",
		large:                              "name another file",
		"/dev/zero":                        "name another file",
	} {
		if _, err := (Source{Paths: []string{path}}).Read(testKinds()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error is %v, want one that names it and says %q", path, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		whole, "", "a: [", "store: &a {dsn: *a}", "? x\n: y", "<<: *a", "- - - -", "!!binary x", "a: |\n  b", "store: {dsn: x}\n---\nb: c", "\t",
		"ttl: 1e9", "x-a: &a [*a]", "destinations: {a: {stdout: {}}}", strings.Repeat("[", 60), "%YAML 1.2\n---\nname: x", "name: \"\\x00\"",
		"retry: {min: .nan}", "name: !!str", "\"a\": &b", "*a : b", "{}: {}", "? {a: b}\n: c", "a:\n  - b\n c", "'", "#", "destinations: {? a}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("f.yaml", text, testKinds())
		if (file == nil) == (err == nil) {
			t.Errorf("the file is %v and the error %v", file, err)
		}
		if err == nil && len(file.Destinations) == 0 {
			t.Error("a file without a destination was taken")
		}
	})
}
