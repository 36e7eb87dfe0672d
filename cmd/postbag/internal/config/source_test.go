package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// files writes each text into a file, and returns their paths.
func files(t *testing.T, texts ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		path := filepath.Join(dir, string(rune('a'+i))+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

const base = `
ttl: 20s
store: {dsn: shop.db, max_conns: 8}
destinations:
  events: {nats: {url: nats://one, stream: ORDERS}}
  hook: {webhook: {url: https://one, secrets_env: [A, B], timeout: 3s}}
subscriptions: [{to: events, batch: 7}, {name: hook, to: hook}]
`

func TestALaterFileAddsSettingsAndOverridesEarlierOnes(t *testing.T) {
	t.Parallel()
	f, err := Source{Paths: files(t, base, `
ttl: 30s
destinations:
  events: {nats: {url: nats://two}}
  hook: {stdout: {}}
  third: {stdout: }
subscriptions: [{to: third}]
`)}.Read(testKinds())
	if err != nil {
		t.Fatal(err)
	}
	events, _ := f.Destinations["events"].Settings.(*testNATS)
	if f.TTL != 30*time.Second || f.Store.MaxConns != 8 || events == nil || events.URL != "nats://two" || events.Stream != "ORDERS" {
		t.Errorf("settings are not merged: %+v, %+v", f, events)
	}
	if d := f.Destinations["hook"]; d.Kind != "stdout" || f.Destinations["third"].Kind != "stdout" {
		t.Errorf("another kind does not take the place of the first: %+v", d)
	}
	if len(f.Subscriptions) != 1 || f.Subscriptions[0].To != "third" {
		t.Errorf("a list does not take the place of the first: %+v", f.Subscriptions)
	}
}

// Settings of a list whose place another took were still thought to be there.
func TestALaterListTakesThePlaceOfAllThatTheEarlierOneSays(t *testing.T) {
	t.Parallel()
	paths := files(t, base,
		"subscriptions: [{to: events, retry: {min: 30s, rules: [{min: 1s}]}}]\n",
		"subscriptions: [{to: events, retry: {pauses: [30s], rules: [{pauses: [1s]}]}}]\n")
	f, err := Source{Paths: paths}.Read(testKinds())
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Subscriptions[0].Retry; len(r.Pauses) != 1 || r.Pauses[0] != 30*time.Second || len(r.Rules) != 1 || r.Rules[0].Min != 0 {
		t.Errorf("the retries are %+v", r)
	}
}

func TestMistakesOfSeveralFilesNameTheirFile(t *testing.T) {
	t.Parallel()
	paths := files(t, base, "\nkeep: 3h\ngrace: 2h\nsubscriptions: [{to: nowhere}]\nttll: 3s\n")
	_, err := Source{Paths: paths}.Read(testKinds())
	want := []string{paths[1] + ":3: grace is 2h0m0s", paths[1] + ":4: subscriptions[0].to names none", paths[1] + ":5: there is no setting"}
	if err == nil || len(Mistakes(err)) != len(want) {
		t.Fatalf("the mistakes are %v", err)
	}
	for i, line := range strings.Split(err.Error(), "\n") {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("mistake %d is %s, want %s", i, line, want[i])
		}
	}
	paths = files(t, base+"grace: 2h\n", "keep: 3h\n")
	if _, err = (Source{Paths: paths}).Read(testKinds()); err == nil || !strings.HasPrefix(err.Error(), paths[0]+":8: grace") {
		t.Errorf("a mistake of the first file is %v", err)
	}
}

func TestAProfileOverridesTheRestOfItsFile(t *testing.T) {
	t.Parallel()
	text := base + `
profiles:
  production:
    ttl: 1m
    destinations: {events: {nats: {url: nats://production}}}
    log: {format: json}
  tests: {store: {dsn: tests.db}}
`
	for profile, want := range map[string]string{"": "nats://one shop.db text", "production": "nats://production shop.db json", "tests": "nats://one tests.db text"} {
		f, err := Source{Paths: files(t, text), Profile: profile}.Read(testKinds())
		if err != nil {
			t.Fatal(err)
		}
		events, _ := f.Destinations["events"].Settings.(*testNATS)
		if got := strings.Join([]string{events.URL, f.Store.DSN, f.Log.Format}, " "); got != want || events.Stream != "ORDERS" {
			t.Errorf("profile %q is %s, want %s", profile, got, want)
		}
	}
	for want, s := range map[string]Source{
		`there is none called "staging"; there are production, tests`: {Paths: files(t, text), Profile: "staging"},
		"has no profiles; leave --profile":                            {Paths: files(t, base), Profile: "production"},
		// A mistake in a profile is found whichever is chosen.
		`there is no setting "ttll" in profiles.b`:     {Paths: files(t, base+"profiles: {a: {}, b: {ttll: 3s}}\n"), Profile: "a"},
		`there is no setting "ttll"`:                   {Paths: files(t, base+"profiles: {a: {}, b: {ttll: 3s}}\n"), Profile: "b"},
		"a.yaml:8: profiles.a b is no name":            {Paths: files(t, base+"profiles: {a b: {}}\n")},
		`there is no setting "profiles" in profiles.a`: {Paths: files(t, base+"profiles: {a: {profiles: {}}}\n")},
		`there is no setting "profiles"; there are`:    {Paths: files(t, base+"profiles: {a: {profiles: {}}}\n"), Profile: "a"},
	} {
		if _, err := s.Read(testKinds()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestEnvironmentVariablesAreExpanded(t *testing.T) {
	t.Setenv("POSTBAG_TEST_HOST", "nats-7")
	t.Setenv("POSTBAG_TEST_CONNS", "12")
	t.Setenv("POSTBAG_TEST_EMPTY", "")
	t.Setenv("POSTBAG_TEST_ON", "true")
	f, err := Parse("f.yaml", []byte(`
ttl: ${POSTBAG_TEST_TTL:-45s}
name: a-$${b}-${POSTBAG_TEST_EMPTY:-c}${POSTBAG_TEST_EMPTY}$${
store: {dsn: "${POSTBAG_TEST_DIR:-/var}/shop.db", max_conns: "${POSTBAG_TEST_CONNS}", create: "${POSTBAG_TEST_ON}"}
destinations: {main: {nats: {url: "nats://${POSTBAG_TEST_HOST}:4222", password_file: "${POSTBAG_TEST_HOST}/password"}}}
subscriptions: [{types: ["${POSTBAG_TEST_HOST}.*"], headers: {app_env: "${POSTBAG_TEST_HOST}"}, format: {kind: debezium, route: "x.${routedByValue}"}}]
`), testKinds())
	if err != nil {
		t.Fatal(err)
	}
	main, _ := f.Destinations["main"].Settings.(*testNATS)
	if f.TTL != 45*time.Second || f.Name != "a-${b}-c${" || f.Store.DSN != "/var/shop.db" || f.Store.MaxConns != 12 || !f.Store.Create ||
		main.URL != "nats://nats-7:4222" || main.PasswordFile != "nats-7/password" || f.Subscriptions[0].Types[0] != "nats-7.*" || f.Subscriptions[0].Headers["app_env"] != "nats-7" ||
		f.Subscriptions[0].Format.Route != "x.${routedByValue}" {
		t.Errorf("it is read as %+v, %+v", f, main)
	}
}

func TestAnUnsetVariableIsAMistakeUnlessOnlyTheFormIsChecked(t *testing.T) {
	t.Setenv("POSTBAG_TEST_SECRET", "nats://u:CANARY@a")
	t.Setenv("N_HOLDS", "${HOME}")
	const rest = "store: {dsn: '${POSTBAG_TEST_NO_DSN}', max_conns: '${POSTBAG_TEST_NO_CONNS}'}\n"
	text := rest + "destinations: {m: {nats: {url: '${POSTBAG_TEST_NO_URL}', max_pending: '${POSTBAG_TEST_NO_NUMBER}'}}}\n"
	paths := files(t, text)
	_, err := Source{Paths: paths}.Read(testKinds())
	if err == nil || !strings.Contains(err.Error(), ":1: store.dsn names the environment variable POSTBAG_TEST_NO_DSN, which is not set; export it") ||
		!strings.Contains(err.Error(), ":2: destinations.m.nats.max_pending names the environment variable POSTBAG_TEST_NO_NUMBER") {
		t.Errorf("the error is %v", err)
	}
	if _, err := (Source{Paths: paths, Elsewhere: true}).Read(testKinds()); err != nil {
		t.Errorf("for another machine: %v", err)
	}
	for text, want := range map[string]string{
		"{url: '${POSTBAG_TEST_SECRET}'}":             "url holds a user, password or token",
		"{url: nats://a, user_env: '${HOME}'}":        "user_env is no name of an environment variable",
		"{url: 'nats://${no name}'}":                  "has a ${ without the name of a variable",
		"{url: 'nats://${HOME}${no name}'}":           "has a ${ without the name of a variable",
		"{url: 'nats://${N_:-a-${HOME}}'}":            "or a variable in the value of another",
		"{url: nats://a, recheck: '${N_:-${HOME}}'}":  "recheck has a ${",
		"{url: nats://a, recheck: '${N_HOLDS}'}":      "recheck is no duration",
		"{url: nats://a, max_pending: '${HOME}'}":     "max_pending is no whole number",
		"{url: nats://a, tls: '${HOME}'}":             "tls is neither true nor false",
		"{url: nats://a, recheck: '${PB_NO:-5}'}":     "recheck is no duration",
		"{url: nats://a, max_pending: '${N_:-0}'}":    "max_pending is zero, which would mean its default",
		"{url: nats://a, max_pending: '${N_:-9999}'}": "max_pending is 9999; choose between 1 and 1000",
	} {
		_, err := Parse("f.yaml", []byte("store: {dsn: a.db}\ndestinations: {m: {nats: "+text+"}}\n"), testKinds())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
}

func TestFlagsSetWhatAFileWould(t *testing.T) {
	t.Parallel()
	d, mistake := testKinds().DestinationAt("HTTPS://partner")
	if mistake != "" {
		t.Fatal(mistake)
	}
	for _, set := range [][2]string{{"url", "https://partner"}, {"secrets_env", "A"}, {"secrets_env", "B"}, {"timeout", "3s"}, {"allow_private", "10.0.0.0/8"}} {
		if err := d.Set(set[0], set[1]); err != nil {
			t.Error(err)
		}
	}
	w, _ := d.Settings.(*testWebhook)
	if w.URL != "https://partner" || len(w.SecretsEnv) != 2 || w.Timeout != 3*time.Second || len(w.AllowPrivate) != 1 {
		t.Errorf("the settings are %+v", w)
	}
	for _, set := range [][3]string{
		{"stream", "A", "is no setting of a destination of kind webhook"}, {"timeout", "5", "is no duration"}, {"allow_private", "localhost", "is no range"},
	} {
		if err := d.Set(set[0], set[1]); err == nil || !strings.Contains(err.Error(), set[2]) {
			t.Errorf("%s %s: %v", set[0], set[1], err)
		}
	}
}
