package oidc_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/console/login"
	"github.com/postbag/postbag/console/login/oidc"
	"github.com/postbag/postbag/store/memstore"
)

const secret = "canary-client-secret"

var b64 = base64.RawURLEncoding

// provider is one of OpenID Connect: it has the documents, and the code flow with PKCE. Its user always agrees.
type provider struct {
	*httptest.Server

	key, wrong *rsa.PrivateKey
	// change changes the claims of the next tokens; forged: they are signed with another key; plain: they are not signed.
	change        func(claims map[string]any)
	forged, plain bool

	mu    sync.Mutex
	codes map[string]url.Values
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{codes: make(map[string]url.Values)}
	for _, key := range []**rsa.PrivateKey{&p.key, &p.wrong} {
		made, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		*key = made
	}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		emit(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		emit(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
			"n": b64.EncodeToString(p.key.N.Bytes()), "e": b64.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	return p
}

func emit(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("nonce") == "" || q.Get("response_type") != "code" || !strings.Contains(q.Get("scope"), "openid") {
		http.Error(w, "the flow lacks a part", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	q := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, given, _ := r.BasicAuth()
	if q == nil || b64.EncodeToString(sum[:]) != q.Get("code_challenge") || id != "postbag" || given != secret || r.FormValue("redirect_uri") != q.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		emit(w, map[string]any{"error": "invalid_grant", "error_description": "not with " + given})
		return
	}
	claims := map[string]any{
		"iss": p.URL, "aud": "postbag", "sub": "1", "nonce": q.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		"email": "ann@example.com", "email_verified": true, "groups": []string{"staff", "ops"},
	}
	if p.change != nil {
		p.change(claims)
	}
	emit(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.sign(claims)})
}

func (p *provider) sign(claims map[string]any) string {
	key, header := p.key, `{"alg":"RS256","kid":"1"}`
	if p.forged {
		key = p.wrong
	}
	if p.plain {
		header = `{"alg":"none"}`
	}
	body, _ := json.Marshal(claims)
	text := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString(body)
	if p.plain {
		return text + "."
	}
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + b64.EncodeToString(signature)
}

// browser is one that is at a console which logs in at a provider.
type browser struct {
	t       *testing.T
	handler http.Handler
	cookies map[string]*http.Cookie
	log     *bytes.Buffer
}

func open(t *testing.T, p *provider, lines string) *browser {
	t.Helper()
	path, b := filepath.Join(t.TempDir(), "access"), &browser{t: t, cookies: make(map[string]*http.Cookie), log: new(bytes.Buffer)}
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	access, err := login.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := oidc.New(oidc.Options{Issuer: p.URL, ClientID: "postbag", Secret: secret, URL: "https://console.example/"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := login.New(login.Options{Access: access, Provider: at, Secure: true, Logger: slog.New(slog.NewTextHandler(b.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: memstore.New(memstore.Options{})}}, Stranger: l.Stranger})
	if err != nil {
		t.Fatal(err)
	}
	b.handler = l.Wrap(h)
	return b
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "https://console.example"+path, http.NoBody)
	r.Header.Set("Sec-Fetch-Site", "cross-site") // the provider sends it back
	r.Header.Set("Sec-Fetch-Dest", "document")
	if strings.HasPrefix(path, "/api/") {
		r.Header.Del("Sec-Fetch-Site")
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// atProvider begins a login, and returns the path that the provider sends the browser to.
func (b *browser) atProvider() string {
	b.t.Helper()
	w := b.get("/provider?to=page")
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, w.Header().Get("Location"), http.NoBody)
	if err != nil || w.Code != http.StatusSeeOther {
		b.t.Fatalf("the login begins with %d %s: %v", w.Code, w.Body, err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = answer.Body.Close()
	back, is := strings.CutPrefix(answer.Header.Get("Location"), "https://console.example")
	if !is {
		b.t.Fatalf("the provider answers %s to %q", answer.Status, answer.Header.Get("Location"))
	}
	return back
}

func (b *browser) isIn() bool { return b.get("/api/v1/overview").Code == http.StatusOK }

func TestSomebodyLogsInAtAProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for name, lines := range map[string]string{"a group": "group ops viewer\n", "an email": "user ann@example.com - viewer\n"} {
		b := open(t, p, lines)
		if w := b.get("/"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "login" {
			t.Fatalf("a stranger gets %d", w.Code)
		}
		if page := b.get("/login").Body.String(); !strings.Contains(page, "organisation") || strings.Contains(page, "password") {
			t.Errorf("the page is %s", page)
		}
		if w := b.get(b.atProvider()); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "./page" || !b.isIn() {
			t.Errorf("by %s the login ends with %d %s: %s", name, w.Code, w.Body, b.log)
		}
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("the log is %s", b.log)
		}
	}
}

func TestATokenThatIsNotOfThisLoginIsRefused(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for name, claims := range map[string]map[string]any{
		"of another audience":                    {"aud": "another"},
		"of two audiences, and no client":        {"aud": []string{"postbag", "another"}},
		"made for another client":                {"aud": []string{"postbag", "another"}, "azp": "another"},
		"that is over":                           {"exp": time.Now().Add(-time.Minute).Unix()},
		"of another issuer":                      {"iss": "https://evil.example"},
		"with another nonce":                     {"nonce": "another"},
		"without a nonce":                        {"nonce": nil},
		"with an email that nobody has verified": {"email_verified": false},
		"that does not say if it is verified":    {"email_verified": nil},
		"without a name":                         {"email": ""},
	} {
		p.change = func(all map[string]any) { maps.Copy(all, claims) }
		b := open(t, p, "group ops viewer\n")
		if w := b.get(b.atProvider()); w.Code != http.StatusUnauthorized || b.isIn() {
			t.Errorf("a token %s gets %d: %s", name, w.Code, b.log)
		}
	}
	p.change = nil
	p.forged = true
	b := open(t, p, "group ops viewer\n")
	if w := b.get(b.atProvider()); w.Code != http.StatusUnauthorized || b.isIn() {
		t.Errorf("a token with the signature of another key gets %d", w.Code)
	}
	p.forged, p.plain = false, true
	if w := b.get(b.atProvider()); w.Code != http.StatusUnauthorized || b.isIn() {
		t.Errorf("a token without a signature gets %d", w.Code)
	}
}

func TestAnAnswerOfAnotherLoginIsRefused(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := open(t, p, "group ops viewer\n")
	back, attempt := b.atProvider(), maps.Clone(b.cookies)
	other := open(t, p, "group ops viewer\n")
	if w := other.get(back); w.Code != http.StatusBadRequest || other.isIn() { // that of another browser
		t.Errorf("in another browser it answers %d", w.Code)
	}
	if w := b.get(back); w.Code != http.StatusSeeOther {
		t.Fatalf("the login ends with %d: %s", w.Code, b.log)
	}
	b.cookies = attempt
	if w := b.get(back); w.Code != http.StatusBadRequest || b.isIn() { // a second time
		t.Errorf("the second time it answers %d", w.Code)
	}
	back = b.atProvider()
	if w := b.get(strings.Replace(back, "state=", "state=x", 1)); w.Code != http.StatusBadRequest || b.isIn() {
		t.Errorf("with another state it answers %d", w.Code)
	}
	back = b.atProvider()
	if w := b.get(strings.Replace(back, "code=", "code=x", 1)); w.Code != http.StatusUnauthorized || b.isIn() || strings.Contains(b.log.String(), secret) {
		t.Errorf("with another code it answers %d: %s", w.Code, b.log)
	}
}

func TestSomebodyWithoutRightsIsToldSo(t *testing.T) {
	t.Parallel()
	b := open(t, newProvider(t), "group admins viewer\n")
	if w := b.get(b.atProvider()); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "no rights here") || b.isIn() {
		t.Errorf("it answers %d %s", w.Code, w.Body)
	}
}

func TestAProviderThatIsAwayKeepsNobodyFromTheLoginPage(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := open(t, p, "group ops viewer\n")
	p.Close()
	if w := b.get("/provider"); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "cannot be reached") {
		t.Errorf("it answers %d %s", w.Code, w.Body)
	}
	if _, err := oidc.New(oidc.Options{Issuer: p.URL}); err == nil {
		t.Error("a provider without a client is taken")
	}
}
