package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestConfigCheckSaysWhatAConfigurationDoes(t *testing.T) {
	t.Parallel()
	path := hookConfig(t, &place{yaml: "{dsn: shop.db}"}, "http://127.0.0.1:8080")
	cli(t, "config", "check", "-c", path).ok().says("is right", "outbox/default goes to hook")
	var c checked
	cli(t, "config", "check", "-c", path, "--json").ok().json(&c)
	if len(c.Subscriptions) != 1 || c.Subscriptions[0].To != "hook" {
		t.Errorf("it says %+v", c)
	}
	if _, err := os.Stat("shop.db"); !os.IsNotExist(err) {
		t.Errorf("the check made the store (%v)", err)
	}
}

func TestConfigCheckLooksIntoTheEnvironmentUnlessTold(t *testing.T) {
	t.Parallel()
	text := `
store: {dsn_env: POSTBAG_TEST_NO_SUCH}
destinations:
  hook: {webhook: {url: "https://example.com/", secrets_env: [POSTBAG_TEST_BAD_SECRET]}}
  broker: {nats: {url_file: /no/such/file}}
  third: {kafka: {url_env: POSTBAG_TEST_NO_SUCH_URL}}
subscriptions: [{to: hook}]
`
	path := write(t, "postbag.yaml", text)
	cli(t, "config", "check", "-c", path).ends(exit.Usage,
		path+":2: store cannot work: the environment variable POSTBAG_TEST_NO_SUCH is not set; export it",
		path+":4: destinations.hook.webhook cannot work: webhook: secret 1",
		path+":5: destinations.broker.nats cannot work: /no/such/file cannot be read",
		path+":6: destinations.third.kafka cannot work: the environment variable POSTBAG_TEST_NO_SUCH_URL")
	cli(t, "config", "check", "-c", path, "--form-only").ok()
}

func TestConfigCheckLooksIntoFilesOfSecrets(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", os.Getenv(hookSecret)+"\n")
	pem := write(t, "ca.pem", "no certificate")
	path := write(t, "postbag.yaml", fmt.Sprintf(`
store: {dsn: shop.db}
destinations:
  hook: {webhook: {url: "https://example.com/", secrets_file: [%q], ca_file: %q}}
`, secret, pem))
	cli(t, "config", "check", "-c", path).ends(exit.Usage, "ca_file holds no certificate")
}

func TestConfigCheckNamesEachMistakeForPrograms(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", "store: {dsn: a.db}\nttl: 5\ndestinations:\n  m: {stdout: {nonsense: 1}}\n")
	var c checked
	cli(t, "config", "check", "-c", path, "--json").ends(exit.Usage, path+":2: ttl is no duration").json(&c)
	if c.Right || len(c.Mistakes) != 2 || c.Mistakes[0].Line != 2 || c.Mistakes[1].Line != 4 ||
		!strings.HasPrefix(c.Mistakes[0].Text, "ttl is no duration") || !strings.Contains(c.Mistakes[1].Text, "nonsense") {
		t.Errorf("it says %+v", c)
	}
	cli(t, "config", "check", "-c", path+".none", "--json").ends(exit.Usage).json(&c)
	if len(c.Mistakes) != 1 || !strings.Contains(c.Mistakes[0].Text, "cannot be read") {
		t.Errorf("of a file that is missing it says %+v", c)
	}
}

func TestSeveralFilesAndAProfileAreReadAsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := write(t, "base.yaml", "store: {dsn: "+filepath.Join(dir, "none.db")+"}\ndestinations: {m: {stdout: {}}}\n")
	more := write(t, "more.yaml", "subscriptions: [{box: orders}]\nprofiles: {tests: {store: {dsn: "+filepath.Join(dir, "tests.db")+"}}}\n")
	cli(t, "config", "check", "-c", base, "-c", more).ok().says("is right", "orders/default goes to m")
	cli(t, "status", "-c", base, "-c", more).ends(exit.Usage, "none.db")
	cli(t, "migrate", "up", "-c", base, "-c", more, "--profile", "tests", "--box", "orders").ok()
	cli(t, "status", "-c", base, "-c", more, "--profile", "tests").ok().says("orders")
	cli(t, "status", "-c", base, "--profile", "tests").ends(exit.Usage, "has no profiles; leave --profile")
	cli(t, "status", "--store", "a.db", "--profile", "tests").ends(exit.Usage, "--profile goes with -c")
	cli(t, "relay", "-c", base, "-c", filepath.Join(dir, "no.yaml")).ends(exit.Usage, "no.yaml cannot be read")
	cli(t, "relay", "-c", base, "-c", "").ends(exit.Usage, "-c is empty; name a file")
}

// A variable that a file of another machine names need not be set here.
func TestFormOnlyIgnoresUnsetEnvironmentVariables(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", "store: {dsn: '${POSTBAG_TEST_NO_SUCH}'}\ndestinations: {m: {nats: {url: '${POSTBAG_TEST_NO_SUCH}'}}}\n")
	cli(t, "config", "check", "-c", path, "--form-only").ok()
	cli(t, "config", "check", "-c", path).ends(exit.Usage, path+":1: store.dsn names the environment variable POSTBAG_TEST_NO_SUCH, which is not set")
}

func TestFormOnlyTakesAVariableInEverySettingThatTheFullCheckExpands(t *testing.T) {
	t.Parallel()
	const v = "'${POSTBAG_TEST_NO_SUCH}'"
	check := func(settings string) *outcome {
		text := strings.ReplaceAll(settings, "VAR", v)
		return cli(t, "config", "check", "--form-only", "-c", write(t, "postbag.yaml", text))
	}
	const store, to = "store: {dsn: a.db}\n", "destinations: {m: {stdout: {}}}\n"
	for _, settings := range []string{
		"store: {dsn: VAR, kind: VAR, partition: VAR, max_conns: VAR}\n" + to,
		store + to + "name: VAR\nttl: VAR\nadmin: {listen: VAR}\nlog: {format: VAR, level: VAR}\n",
		store + to + "subscriptions: [{name: VAR, box: VAR, to: VAR, from: VAR, types: [VAR], order: VAR, on_reject: VAR, batch: VAR, buffer: VAR}]\n",
		store + to + "subscriptions: [{exactly_once: VAR, retry: {min: VAR, max: VAR, factor: VAR}}, {name: b, retry: {min: 1h, max: VAR}}]\n",
		store + to + "subscriptions: [{format: {kind: VAR, mode: VAR, source: VAR}}, {name: b, format: {kind: cloudevents, mode: VAR, source: VAR}}]\n",
		"stores: {a: {dsn: a.db}, b: {dsn: b.db}}\n" + to + "subscriptions: [{store: VAR}]\n",
		store + "sources: [{from: {webhook: {listen: VAR, path: VAR, cert_file: VAR, key_file: VAR, max_bytes: VAR, memory: 1MiB, secrets_file: [VAR]}}}]\n",
		store + "sources: [{from: {kafka: {url: VAR, group: VAR, topics: [VAR], since: VAR}}}]\n",
		store + "sources: [{name: VAR, box: VAR, faults: VAR, too_large: VAR, id_headers: [a, VAR], key_header: VAR, max_size: VAR, sums: VAR, from: {nats: {url: VAR, stream: VAR, consumer: VAR, order: VAR}}}]\n",
		store + "sources: [{from: {rabbitmq: {url: VAR, queue: VAR, order: VAR, prefetch: VAR}}}]\n",
	} {
		check(settings).ok()
	}
	for settings, want := range map[string]string{
		"store: {dsn: 'postgres://u:secret@${POSTBAG_TEST_NO_SUCH}/shop'}\n" + to:                                                     "store.dsn holds a password",
		store + "destinations: {m: {nats: {url: 'nats://u:secret@${POSTBAG_TEST_NO_SUCH}'}}}\n":                                       "url holds a user, password or token",
		store + to + "subscriptions: [{box: VAR, order: sideways}]\n":                                                                 "order is \"sideways\"",
		store + to + "subscriptions: [{box: VAR}, {box: VAR}]\n":                                                                      "is the second subscription",
		store + "sources: [{box: VAR, faults: jump, from: {webhook: {listen: nowhere, path: VAR, memory: 1KiB, max_bytes: 1MiB}}}]\n": "listen is no address",
	} {
		check(settings).ends(exit.Usage, want)
	}
}

func TestAFileThatSaysMoreTakesTheVariableOfAnEarlierOneAway(t *testing.T) {
	t.Parallel()
	base := write(t, "base.yaml", "store: {dsn: a.db}\ndestinations: {m: {stdout: {}}}\nlog: {level: '${POSTBAG_TEST_NO_SUCH}'}\n")
	more := write(t, "more.yaml", "log: {level: loud}\n")
	cli(t, "config", "check", "--form-only", "-c", base).ok()
	cli(t, "config", "check", "--form-only", "-c", base, "-c", more).ends(exit.Usage, "log.level is \"loud\"")
}

func TestFlagsSetAnySettingOfTheDestination(t *testing.T) {
	t.Parallel()
	relay := func(args ...string) *outcome {
		return cli(t, append([]string{"relay", "--store", "no.db"}, args...)...)
	}
	for text, args := range map[string][]string{
		"--to-set natts is no setting of a destination of kind nats": {"--to", "nats://127.0.0.1:1", "--to-set", "natts=1"},
		`did you mean "stream"?`:                                {"--to", "nats://127.0.0.1:1", "--to-set", "straem=A"},
		"--to-set max_pending is no whole number":               {"--to", "nats://127.0.0.1:1", "--to-set", "max_pending=many"},
		"--to-set recheck is 48h0m0s; choose between":           {"--to", "nats://127.0.0.1:1", "--to-set", "recheck=2d"},
		"--to-set is no setting; write it as name=value":        {"--to", "nats://127.0.0.1:1", "--to-set", "recheck"},
		"--to-set topology has settings of its own":             {"--to", "amqp://127.0.0.1:1", "--to-set", "topology=x"},
		"--stream is no setting of a destination of kind kafka": {"--to", "kafka://127.0.0.1:1", "--stream", "A"},
		"there is no file no.db":                                {"--to", "nats://127.0.0.1:1", "--to-set", "prefix=a.", "--to-set", "pass_headers=Nats-TTL", "--to-set", "pass_headers=Nats-Rollup"},
	} {
		relay(args...).ends(exit.Usage, text)
	}
}

func TestDurationsAreTheSameInFlagsAndFiles(t *testing.T) {
	t.Parallel()
	for _, keep := range []string{"3d", "P3D", "72h", "1d48h"} {
		path := write(t, "postbag.yaml", "store: {dsn: a.db}\nkeep: "+keep+"\ndestinations:\n  m: {stdout: {}}\n")
		cli(t, "config", "check", "-c", path).ok()
		cli(t, "config", "check", "-c", write(t, "postbag.yaml", "store: {dsn: a.db}\nsubscriptions: [{from: "+keep+"}]\ndestinations:\n  m: {stdout: {}}\n")).ok()
		from := config.Subscription{From: keep}
		if at, err := from.Begins(time.Unix(72*3600, 0)); err != nil || at.Unix() != 0 {
			t.Errorf("from %s begins at %v (%v)", keep, at, err)
		}
		if at, err := moment("after", keep, time.Unix(72*3600, 0), -1); err != nil || at.Unix() != 0 {
			t.Errorf("--after %s is %v (%v)", keep, at, err)
		}
	}
	cli(t, "status", "--store", "a.db", "--every", "P1D").ends(exit.Usage, "--every is 24h0m0s; choose between 100ms and 1h")
}

func TestConfigCheckWithoutAFileAnswersProgramsInJSON(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"-c is missing": nil,
		"no such file":  {"-c", filepath.Join(t.TempDir(), "none.yaml")},
	} {
		o := cli(t, append([]string{"config", "check", "--json"}, args...)...)
		o.ends(exit.Usage, want)
		var c checked
		if err := json.Unmarshal([]byte(o.out), &c); err != nil || c.Right || len(c.Mistakes) != 1 || !strings.Contains(c.Mistakes[0].Text, want) {
			t.Errorf("%v: it says %s (%v)", args, o.out, err)
		}
	}
}

func TestErrorsNameFlagsWhereFlagsWereGivenAndSettingsWhereAFileWas(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "a.db")
	cli(t, "migrate", "up", "--store", db).ok()
	for text, args := range map[string][]string{
		"--order is \"foo\"":          {"--to", "stdout:", "--order", "foo"},
		"--concurrency is -3":         {"--to", "stdout:", "--concurrency", "-3"},
		"--to does not tell the kind": {"--to", "foo://x"},
		"--to: there is no signing secret; name one with --secret-env": {"--to", "https://example.com/"},
		"--box is wrong": {"--to", "stdout:", "--box", "a b"},
	} {
		cli(t, append([]string{"relay", "--store", db}, args...)...).ends(exit.Usage, text)
	}
	cli(t, "relay", "--store", db, "--to", "stdout:").ends(exit.NotFound, "no such box; make it with postbag migrate up --box, or with --create")
	path := write(t, "postbag.yaml", "store: {dsn: "+db+"}\ndestinations:\n  m: {nats: {url: 'nats://127.0.0.1:1', stream: 'a b'}}\n")
	cli(t, "relay", "-c", path).ends(exit.Usage, `destination m: stream "a b" is no name of a stream`)
}

// Every command that opens a store says which flag named one that cannot be opened.
func TestEveryCommandNamesTheFlagOfItsStore(t *testing.T) {
	t.Parallel()
	const id = "01900000-0000-7000-8000-000000000000"
	for _, args := range []string{
		"status", "audit", "publish --payload x", "messages list", "messages show " + id, "messages retry " + id + " --why x", "messages discard " + id + " --why x",
		"messages erase " + id + " --why x", "shards set 4 --why x", "ledger accept --why x", "migrate up", "migrate status", "migrate print", "relay --to stdout:",
		"adopt --from watermill --table orders",
	} {
		fields := strings.Fields(args)
		cli(t, append(fields, "--store-env", "POSTBAG_TEST_DSN")...).ends(exit.Unavailable, "postbag: --store-env POSTBAG_TEST_DSN: the store cannot be opened: ")
		cli(t, append(fields, "--store", "/no/such/folder/shop.db")...).ends(exit.Usage, "postbag: --store: there is no ")
		cli(t, fields...).ends(exit.Usage, "no store is given; pass -c FILE, --store DSN, --store-env NAME or --store-file FILE")
	}
	path := write(t, "postbag.yaml", "stores: {main: {dsn_env: POSTBAG_TEST_DSN}}\ndestinations: {m: {stdout: {}}}\n")
	for _, args := range []string{"status", "relay --drain", "migrate status"} {
		cli(t, append(strings.Fields(args), "-c", path)...).ends(exit.Unavailable, "postbag: stores.main.dsn_env POSTBAG_TEST_DSN: the store cannot be opened: ")
	}
}
