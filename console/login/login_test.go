package login_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/console/login"
	"github.com/postbag/postbag/store/memstore"
)

const password = "canary-correct-horse"

// hashed is a hash of the password, made once: it takes its time on purpose.
var hashed = sync.OnceValue(func() string {
	h, err := login.Hash(password)
	if err != nil {
		panic(err)
	}
	return h
})

// site is a console behind a login, as a browser with its cookies sees it.
type site struct {
	t       *testing.T
	handler http.Handler
	console *console.Console // behind the login
	cookies map[string]*http.Cookie
	log     *bytes.Buffer
	file    string
	from    string
	headers http.Header
}

func newSite(t *testing.T, lines string, change func(*login.Options)) *site {
	t.Helper()
	s := &site{t: t, cookies: make(map[string]*http.Cookie), log: new(bytes.Buffer), file: filepath.Join(t.TempDir(), "access"), from: "192.0.2.1:1234", headers: make(http.Header)}
	s.write(lines)
	logger := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	access, err := login.Open(s.file, logger)
	if err != nil {
		t.Fatal(err)
	}
	o := login.Options{Access: access, Logger: logger, Secure: true}
	if change != nil {
		change(&o)
	}
	l, err := login.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: memstore.New(memstore.Options{})}}, Stranger: l.Stranger})
	if err != nil {
		t.Fatal(err)
	}
	s.handler, s.console = l.Wrap(h), h
	return s
}

func (s *site) write(lines string) {
	s.t.Helper()
	if err := os.WriteFile(s.file, []byte(lines), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) ask(method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://console.example"+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	maps.Copy(r.Header, s.headers)
	r.RemoteAddr = s.from
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		s.cookies[c.Name] = c
		if c.MaxAge < 0 {
			delete(s.cookies, c.Name)
		}
	}
	return w
}

func (s *site) get(path string) *httptest.ResponseRecorder { return s.ask(http.MethodGet, path, nil) }

func (s *site) login(name, password, to string) *httptest.ResponseRecorder {
	return s.ask(http.MethodPost, "/login", url.Values{"name": {name}, "password": {password}, "to": {to}})
}

// is checks a code and where it leads.
func is(t *testing.T, w *httptest.ResponseRecorder, code int, location string) {
	t.Helper()
	if w.Code != code || w.Header().Get("Location") != location {
		t.Errorf("it answers %d to %q, want %d to %q: %s", w.Code, w.Header().Get("Location"), code, location, w.Body)
	}
}

const overview = "/api/v1/overview"

func TestAUserOfTheFileLogsInAndOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	is(t, s.get("/"), 303, "login")
	is(t, s.get(overview), 401, "")
	is(t, s.get("/style.css"), 200, "")
	if w := s.get("/login"); w.Code != 200 || !strings.Contains(w.Body.String(), `name="password"`) || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page of the login is %d %s", w.Code, w.Body)
	}
	is(t, s.login("ann", "wrong-password", ""), 401, "")
	is(t, s.login("bob", password, ""), 401, "")
	is(t, s.get(overview), 401, "")
	is(t, s.login("ann", password, ""), 303, "./")
	if w := s.get("/"); w.Code != 200 || !strings.Contains(w.Body.String(), "ann") || !strings.Contains(w.Body.String(), "Log out") {
		t.Errorf("the page is %d %s", w.Code, w.Body)
	}
	session := s.cookies["postbag_session"]
	if !session.HttpOnly || !session.Secure || session.SameSite != http.SameSiteLaxMode || session.Domain != "" {
		t.Errorf("the cookie is %+v", session)
	}
	is(t, s.ask(http.MethodPost, "/logout", nil), 303, "login")
	s.cookies["postbag_session"] = session
	is(t, s.get(overview), 401, "")
}

func TestALoginGivesANewSessionAndEndsTheOneBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	s.cookies["postbag_session"] = &http.Cookie{Name: "postbag_session", Value: "chosen-by-another"}
	s.login("ann", password, "")
	first := s.cookies["postbag_session"]
	s.login("ann", password, "")
	second := s.cookies["postbag_session"]
	if first.Value == "chosen-by-another" || first.Value == second.Value || len(first.Value) < 40 {
		t.Errorf("the sessions are %s and %s", first.Value, second.Value)
	}
	is(t, s.get(overview), 200, "")
	s.cookies["postbag_session"] = first
	is(t, s.get(overview), 401, "")
}

func TestNoSecretIsOnAPageOrInTheLog(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	var all strings.Builder
	for _, w := range []*httptest.ResponseRecorder{s.login("ann", password+"x", ""), s.get("/login"), s.login("ann", password, ""), s.get("/"), s.get(overview), s.get("/api/v1/openapi.json")} {
		all.WriteString(w.Body.String())
	}
	all.WriteString(s.log.String())
	for _, secret := range []string{password, hashed(), hashed()[len(hashed())-20:], s.cookies["postbag_session"].Value} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%s is in\n%s", secret, all.String())
		}
	}
	if !strings.Contains(s.log.String(), "user=ann") {
		t.Errorf("the log is %s", s.log)
	}
}

func TestASessionEndsWhenItRestsTooLongOrGetsTooOld(t *testing.T) {
	t.Parallel()
	lines := "user ann " + hashed() + " viewer\n"
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, lines, nil)
		s.login("ann", password, "")
		pass(29 * time.Minute)
		is(t, s.get(overview), 200, "")
		pass(30 * time.Minute)
		is(t, s.get(overview), 401, "")
		s.login("ann", password, "")
		for range 30 {
			pass(24*time.Minute - time.Second)
			is(t, s.get(overview), 200, "")
		}
		pass(time.Minute)
		is(t, s.get(overview), 401, "")
	})
}

// pass lets time pass in a bubble.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the bubble's

func TestAUserHasABoundedNumberOfSessions(t *testing.T) {
	t.Parallel()
	lines := "user ann " + hashed() + " viewer\n"
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, lines, nil)
		var first *http.Cookie
		for range 11 {
			delete(s.cookies, "postbag_session")
			is(t, s.login("ann", password, ""), 303, "./")
			if first == nil {
				first = s.cookies["postbag_session"]
			}
			pass(time.Minute)
		}
		is(t, s.get(overview), 200, "")
		s.cookies["postbag_session"] = first
		is(t, s.get(overview), 401, "")
	})
}

func TestTriesAreLimitedByNameAndByAddress(t *testing.T) {
	t.Parallel()
	lines := "user ann " + hashed() + " viewer\n"
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, lines, nil)
		for range 10 {
			is(t, s.login("ann", "wrong-password", ""), 401, "")
		}
		is(t, s.login("ann", password, ""), 429, "")
		s.from = "192.0.2.2:1"
		is(t, s.login("ann", password, ""), 429, "") // the name, from elsewhere
		is(t, s.login("bob", password, ""), 401, "")
		s.from = "192.0.2.1:2"
		is(t, s.login("carl", password, ""), 429, "") // the address, with another name
		pass(16 * time.Second)
		is(t, s.login("ann", password, ""), 303, "./")
		for i := range 10 {
			s.from = "[2001:db8::" + string(rune('a'+i%6)) + "]:1"
			s.login("dora", "wrong-password", "")
		}
		s.from = "[2001:db8::ffff]:1"
		is(t, s.login("ann", password, ""), 429, "") // its network has tried too often
	})
}

func TestAChangeOfTheFileHoldsAtOnceAndABadOneDoesNot(t *testing.T) {
	t.Parallel()
	lines := "user ann " + hashed() + " viewer\n"
	other, err := login.Hash("another password")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, lines, nil)
		s.login("ann", password, "")
		pass(2 * time.Second)
		s.write("user ann nonsense viewer\n")
		is(t, s.get(overview), 200, "")
		if !strings.Contains(s.log.String(), "cannot be read") || strings.Contains(s.log.String(), "nonsense") {
			t.Errorf("the log is %s", s.log)
		}
		pass(2 * time.Second)
		s.write("user ann " + hashed() + " viewer@other\n") // the role goes
		is(t, s.get("/api/v1/databases/shop/relays"), 404, "")
		pass(2 * time.Second)
		s.write("user ann " + other + " viewer\n# a new password ends sessions\n")
		is(t, s.get(overview), 401, "")
	})
}

func TestABadFileIsRefusedWithItsLineAndTheFix(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"":                                 "lets nobody in; add a line",
		"\n# a comment\nann x viewer":      ":3: the line is none of user NAME HASH GRANT",
		"user ann $2y$10$abc viewer":       ":1: the third word of the user \"ann\" is no argon2id hash; make one with postbag console user",
		"group a viewer\nuser ann - admin": "has no end, so it may be half of one",
		"user ann - root":                  ":1: \"root\" gives no role; write viewer",
		"user ann -":                       ":1: the line is none",
		"group ops":                        ":1: the line is none",
		"user a - viewer\nuser a - admin":  ":2: the user \"a\" stands twice",
		"group a viewer\ngroup a admin":    ":2: the group \"a\" stands twice",
		"group a viewer@":                  "does not say where",
		"user \xff - viewer":               "not UTF-8",
		"user ann $argon2id$v=19$m=4294967295,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdA viewer": "costs too much",
		"user ann $argon2id$v=19$m=65536,t=0,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdA viewer":      "costs too much or too little",
		"user ann $argon2id$v=19$m=65536,t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdA viewer":                      "no argon2id hash",
	} {
		path := filepath.Join(t.TempDir(), "access")
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := login.Open(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", lines, err, want)
		}
	}
	if _, err := login.Open(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestAProxysHeaderCountsFromItsAddressAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann - viewer\nuser carl "+hashed()+" viewer\ngroup ops viewer\n", func(o *login.Options) {
		o.Headers = login.ProxyHeaders{User: "X-Forwarded-User", Groups: "X-Forwarded-Groups"}
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	})
	for _, one := range []struct {
		from   string
		user   []string
		groups string
		code   int
	}{
		{"10.1.2.3:5", []string{"ann"}, "", 200},
		{"[::ffff:10.1.2.3]:5", []string{"ann"}, "", 200},
		{"[fd00::1]:5", []string{"ann"}, "", 200},
		{"10.1.2.3:5", []string{"bob"}, "dev, ops", 200},
		{"10.1.2.3:5", []string{"bob"}, "dev", 401},
		{"10.1.2.3:5", []string{"carl"}, "", 401}, // has a password: a proxy does not vouch for that line
		{"10.1.2.3:5", nil, "ops", 401},
		{"10.1.2.3:5", []string{""}, "ops", 401},
		{"10.1.2.3:5", []string{"ann", "bob"}, "", 400},
		{"10.2.2.3:5", []string{"ann"}, "ops", 401},
		{"127.0.0.1:5", []string{"ann"}, "ops", 401},
		{"@", []string{"ann"}, "ops", 401},
	} {
		s.from, s.headers = one.from, http.Header{}
		if one.user != nil {
			s.headers["X-Forwarded-User"] = one.user
		}
		if one.groups != "" {
			s.headers.Set("X-Forwarded-Groups", one.groups)
		}
		s.headers.Set("X-Forwarded-For", "10.1.2.3")
		if w := s.get(overview); w.Code != one.code {
			t.Errorf("%v in %q from %s gets %d, want %d", one.user, one.groups, one.from, w.Code, one.code)
		}
	}
}

func TestTheAddressBehindAProxyIsTheOneThatTheProxySaw(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", func(o *login.Options) {
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	for _, one := range []struct{ from, forwarded, want string }{
		{"10.0.0.1:5", "198.51.100.7", "from=198.51.100.7"},
		{"10.0.0.1:5", "203.0.113.9, 198.51.100.8, 10.0.0.2", "from=198.51.100.8"},
		{"10.0.0.1:5", "198.51.100.7, nonsense", "from=10.0.0.1"},
		{"10.0.0.1:5", "198.51.100.7:4711", "from=198.51.100.7"},
		{"10.0.0.1:5", "203.0.113.9, [2001:db8::1]:4711", "from=2001:db8::1"},
		{"192.0.2.9:5", "198.51.100.9", "from=192.0.2.9"},
	} {
		s.log.Reset()
		s.from = one.from
		s.headers = http.Header{"X-Forwarded-For": {one.forwarded}}
		s.login("nobody", "wrong-password", "")
		if !strings.Contains(s.log.String(), one.want+"\n") {
			t.Errorf("from %s with %s the log says %s", one.from, one.forwarded, s.log)
		}
	}
}

func TestWhoPassesTheProxyByIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", func(o *login.Options) {
		o.Proxies, o.OnlyProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, true
	})
	s.headers = http.Header{"X-Forwarded-For": {"10.0.0.1"}}
	for _, path := range []string{"/", "/login", "/style.css", overview} {
		is(t, s.get(path), 403, "")
	}
	is(t, s.login("ann", password, ""), 403, "")
	s.from = "10.0.0.1:7"
	is(t, s.login("ann", password, ""), 303, "./")
}

func TestWhatIsTypedAsANameIsNotLoggedUnlessItIsOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	s.login(password, "wrong-password", "")
	s.login("ann", "wrong-password", "")
	if log := s.log.String(); strings.Contains(log, password) || !strings.Contains(log, "user=ann") {
		t.Errorf("the log is %s", log)
	}
}

func TestAPageOfAnotherSiteNeitherLogsInNorOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	for _, headers := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}, {"Origin": {"null"}}} {
		s.headers = headers
		is(t, s.login("ann", password, ""), 403, "")
		is(t, s.ask(http.MethodPost, "/logout", nil), 403, "")
		is(t, s.ask(http.MethodPost, overview, nil), 403, "")
	}
	for _, headers := range []http.Header{{"Sec-Fetch-Site": {"same-origin"}}, {"Origin": {"https://console.example"}}} {
		s.headers = headers
		is(t, s.login("ann", password, ""), 303, "./")
	}
}

// elsewhere is a provider at which nobody arrives.
type elsewhere struct{ login.Provider }

func (elsewhere) Address(context.Context, login.Attempt) (string, error) {
	return "https://login.example/authorize", nil
}

func TestAPageOfAnotherSiteUsesUpNoTriesOfItsVisitor(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", func(o *login.Options) { o.Provider = elsewhere{} })
	s.headers = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"image"}}
	for range 20 {
		is(t, s.get("/provider"), 403, "")
	}
	s.headers = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"document"}} // a link to it
	for range 10 {
		is(t, s.get("/provider"), 303, "https://login.example/authorize")
	}
	is(t, s.get("/provider"), 429, "")
	s.headers = nil
	is(t, s.login("ann", password, ""), 303, "./") // its tries are others
}

func TestALoginLeadsBackAndNowhereElse(t *testing.T) {
	t.Parallel()
	lines := "user ann " + hashed() + " viewer\n"
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, lines, nil)
		for to, want := range map[string]string{
			"": "./", "page/x?state=dead&key=a%20b": "./page/x?state=dead&key=a%20b", "//evil.example": ".///evil.example", "https://evil.example": "./https://evil.example",
			"/\\evil.example": "./", "../../other": "./", "%2e%2e/%2E%2e/other": "./", "a\r\nSet-Cookie: b": "./", "javascript:alert(1)": "./javascript:alert(1)",
		} {
			pass(time.Minute)
			is(t, s.login("ann", password, to), 303, want)
		}
		if w := s.get("/login?to=%22%3E%3Cscript%3E"); strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("the page is %s", w.Body)
		}
	})
}

func TestALoginThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
	is(t, s.login(strings.Repeat("a", 9<<10), password, ""), 400, "")
	is(t, s.login(strings.Repeat("a", 300), password, ""), 401, "")
	is(t, s.login("ann", strings.Repeat("a", 2000), ""), 401, "")
}

func TestOptionsThatLetAnybodyInAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []login.Options{{}, {Access: &login.Access{}, Headers: login.ProxyHeaders{User: "X-User"}}, {Access: &login.Access{}, Headers: login.ProxyHeaders{Groups: "X-Groups"}}, {Access: &login.Access{}, Idle: -1}} {
		if _, err := login.New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for _, p := range []string{"", "short", strings.Repeat("a", 1025)} {
		if _, err := login.Hash(p); err == nil {
			t.Errorf("a password of %d bytes is taken", len(p))
		}
	}
}
