package login_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/console/login"
)

// audit is what an operator may see, and a viewer may not.
const audit = "/api/v1/databases/shop/audit"

// bears has the site ask with a token.
func (s *site) bears(token string) *site {
	s.headers.Set("Authorization", "Bearer "+token)
	return s
}

func TestATokenHasTheRightsOfItsLineAndNoMore(t *testing.T) {
	t.Parallel()
	reads, readsHash := login.NewToken()
	works, worksHash := login.NewToken()
	s := newSite(t, "token bot "+readsHash+" viewer\ntoken bot "+worksHash+" operator@shop\n", nil)
	is(t, s.bears(reads).get(overview), 200, "")
	is(t, s.bears(reads).get(audit), 403, "")
	is(t, s.bears(works).get(audit), 200, "")
	is(t, s.bears(works).get("/api/v1/databases/other/audit"), 404, "")
	if len(s.cookies) > 0 {
		t.Errorf("a token opened a session: %v", s.cookies)
	}
	if strings.Contains(s.log.String(), reads) || strings.Contains(s.log.String(), works) {
		t.Errorf("the log has a token: %s", s.log)
	}
}

func TestATokenIsLongAndRandomAndTheFileHasOnlyItsHash(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for range 100 {
		token, hash := login.NewToken()
		if !regexp.MustCompile(`^pbt_[A-Za-z0-9_-]{43}$`).MatchString(token) || seen[token] || strings.Contains(hash, token[4:]) {
			t.Fatalf("a token is %s with the hash %s", token, hash)
		}
		seen[token] = true
	}
}

func TestAWrongTokenLetsNobodyInWhateverElseTheRequestHas(t *testing.T) {
	t.Parallel()
	_, hash := login.NewToken()
	wrong, _ := login.NewToken()
	s := newSite(t, "user ann "+hashed()+" admin\nuser bea - admin\ntoken bot "+hash+" viewer\n", func(o *login.Options) {
		o.Headers.User, o.Proxies = "X-User", []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	is(t, s.login("ann", password, ""), 303, "./")
	is(t, s.get(audit), 200, "")
	w := s.bears(wrong).get(audit)
	is(t, w, 401, "")
	if w.Header().Get("WWW-Authenticate") == "" || !strings.Contains(w.Body.String(), "postbag console token") {
		t.Errorf("it says %v %s", w.Header(), w.Body)
	}
	s.headers.Set("X-User", "bea")
	is(t, s.get(audit), 401, "")
	if strings.Contains(s.log.String()+w.Body.String(), wrong) {
		t.Error("the wrong token is in the log, or in the answer")
	}
}

func TestACookieAddsNothingToAToken(t *testing.T) {
	t.Parallel()
	token, hash := login.NewToken()
	s := newSite(t, "user ann "+hashed()+" admin\ntoken bot "+hash+" viewer\n", nil)
	is(t, s.login("ann", password, ""), 303, "./")
	is(t, s.bears(token).get(audit), 403, "")
}

func TestAPageOfAnotherSiteCannotUseABrowsersCookieBesideAToken(t *testing.T) {
	t.Parallel()
	token, hash := login.NewToken()
	s := newSite(t, "user ann "+hashed()+" admin\ntoken bot "+hash+" admin\n", nil)
	is(t, s.login("ann", password, ""), 303, "./")
	s.bears(token).headers.Set("Sec-Fetch-Site", "cross-site")
	is(t, s.ask(http.MethodPost, "/api/v1/databases/shop/boxes/outbox/messages/commands", url.Values{"do": {"retry"}}), 403, "")
	is(t, s.get(overview), 403, "")
}

func TestATokenOfAnotherProgramIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	s := newSite(t, "user bea - viewer\n", func(o *login.Options) {
		o.Headers.User, o.Proxies = "X-User", []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	s.headers.Set("X-User", "bea")
	is(t, s.bears("eyJhbGciOiJSUzI1NiJ9.e30.sig").get(overview), 200, "")
	token, _ := login.NewToken()
	s.headers.Set("Authorization", "Basic "+token)
	is(t, s.get(overview), 200, "")
	s.headers["Authorization"] = []string{"Bearer eyJ", "Bearer " + token}
	is(t, s.get(overview), 400, "")
}

func TestATokenEndsWhenItsLineSaysAndWhenItsLineGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		token, hash := login.NewToken()
		s := newSite(t, "token bot "+hash+" expires=2000-01-02T00:00:00Z viewer\n", nil) // fake time begins with the year 2000
		is(t, s.bears(token).get(overview), 200, "")
		pass(24*time.Hour - time.Nanosecond)
		is(t, s.get(overview), 200, "")
		pass(time.Nanosecond)
		is(t, s.get(overview), 401, "")
		s.write("token bot " + hash + " viewer\ngroup a viewer\n")
		pass(2 * time.Second)
		is(t, s.get(overview), 200, "")
		s.write("group support viewer\n")
		pass(2 * time.Second)
		is(t, s.get(overview), 401, "")
	})
}

func TestWrongTokensOfOneAddressAreLimitedAndRightOnesAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		token, hash := login.NewToken()
		wrong, _ := login.NewToken()
		s := newSite(t, "user ann "+hashed()+" viewer\ntoken bot "+hash+" viewer\n", nil)
		for range 50 {
			is(t, s.bears(token).get(overview), 200, "")
		}
		for range 10 {
			is(t, s.bears(wrong).get(overview), 401, "")
		}
		w := s.get(overview)
		is(t, w, 429, "")
		if w.Header().Get("Retry-After") == "" {
			t.Error("it does not say when to try again")
		}
		is(t, s.bears(token).get(overview), 200, "")
		s.headers.Del("Authorization")
		is(t, s.login("ann", password, ""), 303, "./") // people log in from there all the same
		s.bears(wrong).from = "192.0.2.2:1234"
		is(t, s.get(overview), 401, "")
	})
}

func TestALineOfATokenThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	_, hash := login.NewToken()
	for want, line := range map[string]string{
		"is no hash of a token":         "token bot " + hashed() + " viewer",
		"expires is neither":            "token bot " + hash + " expires=soon viewer",
		"has no grant":                  "token bot " + hash + " expires=2027-01-31",
		"gives no role":                 "token bot " + hash + " root",
		"stands twice":                  "token bot " + hash + " viewer\ntoken other " + hash + " admin",
		"has a name of more than 256":   "token " + strings.Repeat("b", 257) + " " + hash + " viewer",
		"the line is none of user NAME": "token bot " + hash,
	} {
		path := filepath.Join(t.TempDir(), "access")
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := login.Open(path, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hash) {
			t.Errorf("of %s it says %v, want %s", line, err, want)
		}
	}
}

func TestATokenWorksForAConsoleThatAServiceMounts(t *testing.T) {
	t.Parallel()
	token, hash := login.NewToken()
	s := newSite(t, "token bot "+hash+" viewer\n", nil)
	mounted := http.StripPrefix("/ops/postbag", s.handler)
	r := httptest.NewRequest(http.MethodGet, "https://service.example/ops/postbag"+overview, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	mounted.ServeHTTP(w, r)
	is(t, w, 200, "")
}

func TestAStreamEndsWithTheLineOfItsToken(t *testing.T) {
	t.Parallel()
	inLogin(t, func(t *testing.T, s *site) {
		token, hash := login.NewToken()
		s.write("token bot " + hash + " viewer\n")
		clear(s.cookies)
		pass(2 * time.Second) // until the file is read again
		ended := s.bears(token).streamed()
		pass(time.Minute)
		select {
		case text := <-ended:
			t.Fatalf("the stream ended while its token was good: %s", text)
		default:
		}
		s.write("group support viewer\n")
		began := time.Now()
		if text := <-ended; time.Since(began) > 10*time.Second || !strings.Contains(text, "event: end") {
			t.Errorf("after %v it says %s", time.Since(began), text)
		}
	})
}
