package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestAConsoleThatWouldBeOpenToOthersIsRefused(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	access := write(t, "access", "user ann - viewer\n")
	for want, args := range map[string][]string{
		"has no login":                                  {"--listen", "0.0.0.0:0", "--tls-cert", "a", "--tls-key", "b"},
		"passwords would go there in the open":          {"--listen", "0.0.0.0:0", "--access", access},
		"console.access is missing":                     {"--behind-proxy", "10.1.2.3"},
		"console.proxy.addresses names no address":      {"--access", access, "--behind-proxy", "proxy.example"},
		"console.tls has one of two files":              {"--access", access, "--tls-cert", "a"},
		"the access file of the console cannot be read": {"--access", access + "-none"},
	} {
		cli(t, append([]string{"console", at.flag, at.where}, args...)...).ends(exit.Usage, want)
	}
}

func TestSettingsOfTheConsoleThatLetAnybodyInAreMistakes(t *testing.T) {
	t.Parallel()
	for want, settings := range map[string]string{
		"console.access is missing":            "{proxy: {addresses: [10.0.0.1], user_header: X-User}}",
		"console.proxy.addresses is missing":   "{access: a, proxy: {user_header: X-User}}",
		"console.proxy.user_header is missing": "{access: a, proxy: {addresses: [10.0.0.1], groups_header: X-Groups}}",
		"console.proxy.addresses names no":     "{access: a, proxy: {addresses: [proxy]}}",
		"console.tls has one of two files":     "{tls: {cert_file: a}}",
		"console.oidc.issuer is missing":       "{access: a, oidc: {client_id: a}}",
		"console.oidc.client_id is missing":    "{access: a, oidc: {issuer: 'https://a', url: 'https://a'}}",
		"console.oidc.issuer is no https":      "{access: a, oidc: {issuer: 'http://login.example', url: 'https://a', client_id: a}}",
		"console.oidc.url is no https":         "{access: a, oidc: {issuer: 'https://login.example', client_id: a}}",
		"console.listen is no address":         "{listen: nowhere}",
	} {
		path := write(t, "postbag.yaml", "store: {dsn: a.db}\ndestinations: {out: {stdout: {}}}\nconsole: "+settings+"\n")
		cli(t, "config", "check", "-c", path).ends(exit.Usage, want)
	}
}

func TestALineOfAUserLetsThemInOverTLS(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	line := cliWith(t, canary+"\n", "console", "user", "ann", "viewer", "payloads").ok().out
	if strings.Contains(line, canary) || !strings.HasPrefix(line, "user ann $argon2id$") {
		t.Fatalf("the line is %s", line)
	}
	cert, key := selfSigned(t)
	path := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nconsole: {listen: '0', access: "+write(t, "access", line)+", tls: {cert_file: "+cert+", key_file: "+key+"}}\n")
	served := start(t, "console", "-c", path)
	root := consoleAddress(t, served)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ask := func(path string, form url.Values, session *http.Cookie) (code int, cookies []*http.Cookie) {
		method := http.MethodGet
		if form != nil {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(t.Context(), method, root+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if session != nil {
			r.AddCookie(session)
		}
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Body.Close() }()
		body, _ := io.ReadAll(w.Body)
		if strings.Contains(string(body), canary) {
			t.Errorf("%s shows the password", path)
		}
		return w.StatusCode, w.Cookies()
	}
	if code, _ := ask("/api/v1/overview", nil, nil); code != http.StatusUnauthorized {
		t.Errorf("somebody without a login gets %d", code)
	}
	code, cookies := ask("/login", url.Values{"name": {"ann"}, "password": {canary}}, nil)
	if code != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure {
		t.Fatalf("the login answers %d with %v", code, cookies)
	}
	if code, _ := ask("/api/v1/overview", nil, cookies[0]); code != http.StatusOK {
		t.Errorf("who is logged in gets %d", code)
	}
	if log := served.err.String(); strings.Contains(log, canary) || strings.Contains(log, "argon2id") || !strings.Contains(log, "somebody logged in") {
		t.Errorf("the log is %s", log)
	}
}

func TestALineOfAUserThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	cliWith(t, "short\n", "console", "user", "ann").ends(exit.Usage, "choose one of 8")
	cliWith(t, "long enough\n", "console", "user", "ann", "root").ends(exit.Usage, "gives no role")
	cliWith(t, "long enough\n", "console", "user", "ann lee").ends(exit.Usage, "choose one without")
	cliWith(t, "", "console", "user", "ann").ends(exit.Usage, "there is no password")
}

// selfSigned writes the certificate of httptest, with its key, to files.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pair := server.TLS.Certificates[0]
	raw, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert = write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	return cert, write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
}

func TestTheConsoleSendsBrowsersToTheProviderOfItsSettings(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"`+issuer.URL+`","authorization_endpoint":"`+issuer.URL+`/authorize","token_endpoint":"`+issuer.URL+`/token","jwks_uri":"`+issuer.URL+`/keys"}`)
	}))
	defer issuer.Close()
	settings := "store: " + at.yaml + "\ndestinations: {out: {stdout: {}}}\nconsole: {listen: '0', access: " + write(t, "access", "group ops viewer\n") +
		", oidc: {issuer: '" + issuer.URL + "', client_id: postbag, url: 'https://console.example', client_secret_file: "
	cli(t, "console", "-c", write(t, "postbag.yaml", settings+"/none}}\n")).ends(exit.Usage, "client_secret_file")
	served := start(t, "console", "-c", write(t, "postbag.yaml", settings+write(t, "secret", canary+"\n")+"}}\n"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, consoleAddress(t, served)+"/provider", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	to := w.Header.Get("Location")
	for _, part := range []string{issuer.URL + "/authorize?", "client_id=postbag", "redirect_uri=https%3A%2F%2Fconsole.example%2Fcallback", "code_challenge_method=S256", "scope=openid+email", "nonce=", "state="} {
		if !strings.Contains(to, part) {
			t.Errorf("the browser goes to %q, without %s", to, part)
		}
	}
	if strings.Contains(to+served.err.String(), canary) {
		t.Error("the secret of the client is in an address, or in the log")
	}
}
