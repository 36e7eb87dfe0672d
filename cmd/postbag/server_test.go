package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// clerk is somebody who has a token of a console, and no database.
type clerk struct {
	t *testing.T
	// config names the database for those who have it.
	config string
	flags  []string
}

// clerkWith serves the console of a configuration, and gives somebody a token with some grants.
func clerkWith(t *testing.T, config string, grants ...string) *clerk {
	t.Helper()
	return clerkOf(t, config, []string{"--payloads", "--commands"}, grants...)
}

func clerkOf(t *testing.T, config string, console []string, grants ...string) *clerk {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	line := cli(t, append([]string{"console", "token", "ann", "--token-file", file}, grants...)...).ok().out
	access := write(t, "access", line)
	served := start(t, append([]string{"console", "-c", config, "--listen", "0", "--access", access}, console...)...)
	c := &clerk{t: t, config: config, flags: []string{"--server", consoleAddress(t, served), "--token-file", file}}
	t.Cleanup(func() {
		token, err := os.ReadFile(file)
		if err != nil || strings.Contains(served.err.String(), strings.TrimSpace(string(token))) {
			t.Errorf("the token is in the log of the console: %v", err)
		}
	})
	return c
}

// asks runs a command through the console.
func (c *clerk) asks(args ...string) *outcome {
	c.t.Helper()
	return cli(c.t, append(slices.Clone(args), c.flags...)...)
}

// same runs a command with the database and through the console. Both must say the same, byte by byte where nothing in it is an age.
func (c *clerk) same(args ...string) *outcome {
	c.t.Helper()
	want := cli(c.t, append(slices.Clone(args), "-c", c.config)...)
	got := c.asks(args...)
	if got.code != want.code || timeless(args, got.out) != timeless(args, want.out) || timeless(args, got.err) != timeless(args, want.err) {
		c.t.Errorf("postbag %s\nthrough the console ends with %d:\n%s%s\nwith the database it ends with %d:\n%s%s", strings.Join(args, " "), got.code, got.out, got.err, want.code, want.out, want.err)
	}
	return got
}

// Ages in JSON and in words, and the clock of the database.
var (
	agesInJSON  = regexp.MustCompile(`("(?:now|[a-z_]*seconds[a-z_]*)": ?)[^,\n}]+`)
	agesInWords = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(ms|s|m|h)\b`)
	spaces      = regexp.MustCompile(` +`)
)

// timeless leaves out of an output what is another a moment later. Of messages that is nothing.
func timeless(args []string, text string) string {
	if args[0] == "messages" || args[0] == "audit" || args[0] == "operations" {
		return text
	}
	text = agesInJSON.ReplaceAllString(text, "${1}AGE")
	return spaces.ReplaceAllString(agesInWords.ReplaceAllString(text, "AGE"), " ")
}

// oddOrders are a dead message with one behind it, messages of other keys and types with what is odd in JSON and in HTML, and a scheduled one.
func oddOrders(t *testing.T, at *place) (config string) {
	t.Helper()
	config, _, relay := ordersBehindADeadOne(t, at)
	if code := relay.end(); code != exit.OK {
		t.Fatalf("the relay ended with %d", code)
	}
	cliWith(t, `{"key":"<b>&</b>\u2028","type":"odd","payload":{"a":"<b>\u003c&"},"headers":{"h":"<&>"}}
{"key":"c","type":"odd.bytes","payload_base64":"AP8K"}
{"key":"c","type":"odd.text","payload":"line\nline <\u2028>"}
{"key":"d","type":"empty"}
{"type":"sale.begins","payload":1,"not_before":"2999-01-31T12:00:00Z"}
`, "publish", "-c", config, "--ndjson").ok()
	cli(t, "subscriptions", "pause", "-c", config, "--who", "<i>bea</i>", "--why", "a \"test\" & more").ok()
	cli(t, "subscriptions", "pause", "-c", config, "--topic", "t", "--for", "2h", "--why", "some").ok()
	cli(t, "subscriptions", "set", "default", "-c", config, "--batch", "7", "--why", "small").ok()
	return config
}

func TestEachCommandThatReadsSaysTheSameThroughAConsole(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := oddOrders(t, at)
		c := clerkWith(t, config, "operator", "payloads")
		for _, line := range []string{
			"status", "status --json", "status --shards", "status --box outbox", "status --box outbox --json", "status --box none", "status --check", "status --check --json",
			"messages list", "messages list --json", "messages list --limit 0", "messages list --limit 2", "messages list --limit 2 --json --oldest", "messages list --limit 3 --subscription default",
			"messages list --state dead --json", "messages list --state blocked", "messages list --state scheduled --json", "messages list --state scheduled", "messages list --error 422",
			"messages list --type odd.*", "messages list --type odd.* --type bad --json", "messages list --key c --json", "messages list --after 2000-01-31 --before 1h",
			"messages list --topic none", "messages list --box none", "messages list --subscription none", "messages list --state none", "messages list --limit -1",
			"messages show 01234567-89ab-7cde-8f01-23456789abcd", "messages show none", "messages show 01234567-89ab-7cde-8f01-23456789abcd --box none",
			"subscriptions list", "subscriptions list --json", "subscriptions list --box outbox", "subscriptions list --box none",
			"subscriptions show none", "subscriptions show default --box none",
			"subscriptions pauses", "subscriptions pauses --json", "subscriptions pauses --box outbox --json", "subscriptions pauses --box none",
			"retention show", "retention show --json", "retention show --box none",
			"audit", "audit --json", "audit --limit 1", "audit --limit 0",
			"replay list", "replay list --json", "replay list --box none", "replay status none",
			"operations list", "operations list --json", "operations list --limit 0", "operations list --limit 1001", "operations show 1", "operations show none",
		} {
			c.same(strings.Fields(line)...)
		}
		c.asks("messages", "list", "--cursor", "none").ends(exit.Usage, "the cursor is malformed") // a store says its name too
		for _, m := range cli(t, "messages", "list", "-c", config, "--json", "--limit", "0").ok().items() {
			for _, form := range [][]string{nil, {"--json"}, {"--format", "raw"}, {"--format", "hex"}, {"--format", "json"}, {"--subscription", "default"}, {"--subscription", "other"}} {
				c.same(append([]string{"messages", "show", m.ID.String()}, form...)...)
			}
		}
		// What the file says of a subscription is not in the store.
		for _, form := range [][]string{nil, {"--json"}} {
			args := append([]string{"subscriptions", "show", "default"}, form...)
			want, got := cli(t, append(slices.Clone(args), at.flag, at.where)...).ok(), c.asks(args...).ok()
			if timeless(args, got.out) != timeless(args, want.out) || !strings.Contains(got.out, "batch") {
				t.Errorf("of a subscription it shows\n%s\nand with the database\n%s", got.out, want.out)
			}
		}
	})
}

func TestPagesThroughAConsoleAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n")
	cliWith(t, strings.Repeat(`{"type":"many","payload":1}`+"\n", 1203), "publish", "-c", config, "--ndjson").ok()
	c := clerkWith(t, config, "viewer")
	c.same("messages", "list").says("holds 1203 messages and has no subscription yet")
	cli(t, "relay", "-c", config, "--drain").ok()
	for _, limit := range []string{"0", "500", "501", "1203", "1204"} {
		c.same("messages", "list", "--limit", limit)
		c.same("messages", "list", "--limit", limit, "--json", "--oldest")
	}
}

func TestStatusThroughAConsoleIsRepeatedWithRates(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n")
	c := clerkWith(t, config, "viewer")
	watched := start(t, append([]string{"status", "--watch", "--every", "100ms", "--json"}, c.flags...)...)
	await(t, "a look has rates", func() bool { return strings.Contains(watched.out.String(), "published_per_second") })
	if code := watched.end(); code != exit.OK {
		t.Errorf("it ended with %d", code)
	}
}

func TestATokenOfAViewerSeesWhatItsLineSaysAndNoMore(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox", "--box", "hidden").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\n")
	cliWith(t, `{"key":"k","type":"a","payload":"the payload","headers":{"h":"the header"}}`+"\n", "publish", "-c", config, "--ndjson").ok()
	cli(t, "relay", "-c", config, "--drain").ok()
	c := clerkWith(t, config, "viewer@store/outbox")
	c.asks("status").ok().says("BOX outbox")
	if o := c.asks("status", "--json").ok(); strings.Contains(o.out, "hidden") {
		t.Errorf("it sees another box: %s", o.out)
	}
	c.asks("status", "--box", "hidden").ends(exit.NotFound, "there is no box hidden")
	c.asks("messages", "list", "--box", "hidden").ends(exit.NotFound, "there is no box hidden")
	c.asks("audit").ends(exit.Failed, "it needs the role operator")
	id := c.asks("messages", "list", "--json").ok().items()[0].ID.String()
	for _, form := range []string{"text", "auto", "hex"} {
		o := c.asks("messages", "show", id, "--format", form).ok().says("does not show payload and headers", "ask an admin for payloads")
		if strings.Contains(o.out, "the payload") || strings.Contains(o.out, "the header") || strings.Contains(o.out, "PAYLOAD") {
			t.Errorf("it shows %s", o.out)
		}
	}
	if o := c.asks("messages", "show", id, "--format", "raw").ends(exit.Failed, "nothing is written"); o.out != "" {
		t.Errorf("of a payload that it may not see it writes %q", o.out)
	}
}

func TestWhatAConsoleHidesIsHiddenFromTheCommandLine(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nconsole: {payloads: true, redact: {headers: [secret], json: ['$.card']}}\n")
	cliWith(t, `{"type":"a","payload":{"card":"4711","n":1},"headers":{"secret":"0815"}}`+"\n", "publish", "-c", config, "--ndjson").ok()
	cli(t, "relay", "-c", config, "--drain").ok()
	c := clerkOf(t, config, nil, "admin", "payloads")
	id := c.asks("messages", "list", "--json").ok().items()[0].ID.String()
	for _, form := range [][]string{{"--json"}, {"--format", "auto"}, {"--format", "hex"}} {
		o := c.asks(append([]string{"messages", "show", id}, form...)...).ok().says("does not show values of headers", "does not show parts of the payload")
		if strings.Contains(o.out, "4711") || strings.Contains(o.out, "0815") || strings.Contains(o.out, "34 37 31 31") {
			t.Errorf("it shows %s", o.out)
		}
	}
	c.asks("messages", "show", id, "--format", "raw").ends(exit.Failed, "parts of the payload")
}

func TestCommandsThatCannotAskAConsoleSaySo(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"migrate up", "migrate status", "export", "publish --topic a", "relay", "consume", "console", "wake", "config check", "maintain", "ledger accept", "inbox list",
		"messages erase 01234567-89ab-7cde-8f01-23456789abcd --why a", "subscriptions remove a --why a", "subscriptions add a --why a", "retention set --delivered 3d --why a",
		"replay start --why a", "operations run", "grants a", "metrics", "version",
	} {
		args := strings.Fields(line)
		cli(t, append(args, "--server", "https://console.example")...).ends(exit.Usage, "cannot ask a console", "where the database can be reached")
	}
	for _, name := range []string{"plan", "apply"} { // 2 says there that something differs
		cli(t, name, "--server", "https://console.example").ends(exit.Failed, "cannot ask a console")
	}
}

func TestFlagsOfAConsoleAndOfAStoreContradictEachOther(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--server and --config are given":     {"-c", "a.yaml", "--server", "https://a"},
		"--server and --store are given":      {"--store", "a.db", "--server", "https://a"},
		"--server and --store-env are given":  {"--store-env", "A", "--server", "https://a"},
		"--server and --store-file are given": {"--store-file", "a", "--server", "https://a"},
		"--profile goes with a store":         {"--profile", "a", "--server", "https://a"},
		"--store-name goes with a store":      {"--store-name", "a", "--server", "https://a"},
		"--store-kind goes with a store":      {"--store-kind", "sqlite", "--server", "https://a"},
		"--database goes with --server":       {"--store", "a.db", "--database", "a"},
		"--token-file goes with --server":     {"--store", "a.db", "--token-file", "a"},
		"--ca-file goes with --server":        {"--store", "a.db", "--ca-file", "a"},
		"is no address of a console":          {"--server", "console.example"},
		"has a user or a password":            {"--server", "https://ann:" + canary + "@console.example"},
		"has more behind its path":            {"--server", "https://console.example/?a=b"},
		"no loopback address":                 {"--server", "http://console.example"},
		"--token-file":                        {"--server", "https://console.example", "--token-file", "none"},
		"--ca-file":                           {"--server", "https://console.example", "--ca-file", "none"},
	} {
		cli(t, append([]string{"status"}, args...)...).ends(exit.Usage, want)
	}
	cli(t, "audit", "--limit", "1001", "--server", "https://console.example").ends(exit.Usage, "a console shows at most 1000 lines")
}

func TestALineOfATokenNamesItsGrantsAndItsEnd(t *testing.T) {
	t.Parallel()
	o := cli(t, "console", "token", "ann", "operator@shop", "--expires", "90d").ok()
	if !regexp.MustCompile(`^token ann \$sha256\$[A-Za-z0-9+/]{43} expires=[0-9T:-]+Z operator@shop\n$`).MatchString(o.out) || !strings.Contains(o.err, "shown this once: pbt_") {
		t.Errorf("it says %s%s", o.out, o.err)
	}
	at, err := time.Parse(time.RFC3339, regexp.MustCompile(`expires=(\S+)`).FindStringSubmatch(o.out)[1])
	if d := time.Until(at); err != nil || d < 90*24*time.Hour-time.Minute || d > 90*24*time.Hour {
		t.Errorf("it ends in %v: %v", d, err)
	}
	var v map[string]string
	cli(t, "console", "token", "ann", "--json").ok().json(&v)
	if !strings.HasPrefix(v["token"], "pbt_") || !strings.HasSuffix(v["line"], " viewer") {
		t.Errorf("in JSON it is %v", v)
	}
	file := filepath.Join(t.TempDir(), "token")
	if o := cli(t, "console", "token", "ann", "--token-file", file).ok(); strings.Contains(o.out+o.err, "pbt_") {
		t.Errorf("the token is in its file, and it says %s%s", o.out, o.err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v: %v", info, err)
	}
	cli(t, "console", "token", "ann", "--token-file", file).ends(exit.Usage, "that is not there yet")
	cli(t, "console", "token", "ann", "root").ends(exit.Usage, "gives no role")
	cli(t, "console", "token", "ann lee").ends(exit.Usage, "choose one without")
	cli(t, "console", "token", "ann", "--expires", "0s").ends(exit.Usage, "--expires is not above zero")
}
