package remote

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// token must go to the console alone, and stand in no error.
	token = "pbt_CANARYc4n4ry"
	about = `{"product":"postbag","api":1,"databases":["shop"],"commands":true,"payloads":true}`
)

// TestMain names a proxy that takes nothing. The environment is read once, so no test could name one.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	if err := os.Setenv("HTTP_PROXY", "http://127.0.0.1:1"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// consoleThat serves what a test says, behind an answer to the first question.
func consoleThat(t *testing.T, rest http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/about" {
			says(w, http.StatusOK, about)
			return
		}
		rest(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func says(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// ask opens a client and asks for the state of a box with a name that must not be in an error.
func ask(t *testing.T, o Options) error {
	t.Helper()
	c, err := Open(t.Context(), o)
	if err == nil {
		_, err = c.Messages(t.Context(), store.Query{Ref: store.Ref{Box: "outbox"}, Key: "secret-key"}, 1, func([]operations.Message) error { return nil })
		c.Close()
	}
	if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "secret-key")) {
		t.Errorf("the error has what is secret: %v", err)
	}
	return err
}

// wants checks the code and the words of an error.
func wants(t *testing.T, err error, code exit.Code, words string) {
	t.Helper()
	if exit.Of(err) != code || err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("it ends with %d: %v; want %d: %s", exit.Of(err), err, code, words)
	}
}

func TestATokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		says(w, http.StatusOK, about)
	}))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/api/v1/about", code))
		wants(t, ask(t, Options{URL: s.URL, Token: token}), exit.Failed, "the server leads to http://127.0.0.1")
		s.Close()
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("another server was asked %d times", n)
	}
}

func TestATokenGoesByHTTPSAloneButToThisMachine(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://192.0.2.1", "http://console.example/", "http://127.0.0.1.example"} {
		wants(t, ask(t, Options{URL: url, Token: token}), exit.Usage, "--server is http and no loopback address")
	}
	for _, url := range []string{"ftp://127.0.0.1", "//127.0.0.1", "127.0.0.1:9292", ""} {
		wants(t, ask(t, Options{URL: url, Token: token}), exit.Usage, "--server is no address of a console")
	}
}

func TestEachRequestHasTheTokenBelowThePathOfTheConsole(t *testing.T) {
	t.Parallel()
	var paths []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.Header.Get("Authorization")+" "+r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/about") {
			says(w, http.StatusOK, about)
			return
		}
		says(w, http.StatusOK, `{"messages":[]}`)
	}))
	defer s.Close()
	for _, base := range []string{"/ops/postbag", "/ops/postbag/"} {
		paths = nil
		if err := ask(t, Options{URL: s.URL + base, Token: token}); err != nil {
			t.Fatal(err)
		}
		want := "[Bearer " + token + " /ops/postbag/api/v1/about Bearer " + token + " /ops/postbag/api/v1/databases/shop/boxes/outbox/messages]"
		if got := fmt.Sprint(paths); got != want {
			t.Errorf("it asks %s, want %s", got, want)
		}
	}
}

func TestWhatIsNoConsoleIsToldApart(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]http.HandlerFunc{
		"is no console of Postbag": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>Log in</html>")
		},
		"and no word of a console":         func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusTeapot, `[]`) },
		"it does not say that it is one":   func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, `{"product":"other"}`) },
		"its answer is not what a console": func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, `"about"`) },
		"speaks version 2 of its API":      func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, `{"product":"postbag","api":2}`) },
		"it is of an older version: upgrade": func(w http.ResponseWriter, _ *http.Request) {
			says(w, http.StatusNotFound, `{"error":"there is no such page"}`)
		},
		"a proxy before the console answers":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"the console shows you no database; a": func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, `{"product":"postbag","api":1}`) },
	} {
		s := httptest.NewServer(answer)
		if err := ask(t, Options{URL: s.URL}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
		s.Close()
	}
}

func TestADatabaseIsChosenByItsName(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		says(w, http.StatusOK, `{"product":"postbag","api":1,"databases":["shop","books"]}`)
	}))
	defer s.Close()
	wants(t, ask(t, Options{URL: s.URL}), exit.Usage, "name one with --database: shop, books")
	wants(t, ask(t, Options{URL: s.URL, Database: "none"}), exit.NotFound, "name one with --database: shop, books")
	c, err := Open(t.Context(), Options{URL: s.URL, Database: "books"})
	if err != nil || c.database != "books" {
		t.Errorf("it chooses %v: %v", c, err)
	}
	c.Close()
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		token  string
		code   exit.Code
		words  string
	}{
		{401, `{"error":"log in"}`, "", exit.Usage, "put a token into POSTBAG_TOKEN"},
		{401, `{"error":"it is over"}`, token, exit.Usage, "refuses the token: it is over"},
		{403, `{"error":"it needs the role operator"}`, token, exit.Failed, "it needs the role operator"},
		{404, `{"error":"there is no such box","kind":"box"}`, token, exit.NotFound, "no such box"},
		{404, `{"error":"gone","kind":"not-found"}`, token, exit.NotFound, "gone"},
		{400, `{"error":"a slip","kind":"invalid"}`, token, exit.Usage, "a slip"},
		{502, `{"error":"the database is away"}`, token, exit.Unavailable, "the database is away"},
		{504, `{"error":"too late"}`, token, exit.Unavailable, "too late"},
		{500, `{"error":"a mistake"}`, token, exit.Failed, "a mistake"},
	} {
		s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) { says(w, c.status, c.body) })
		wants(t, ask(t, Options{URL: s.URL, Token: c.token}), c.code, c.words)
	}
}

func TestAConsoleThatHasNoPlaceIsAskedAgainAFewTimes(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		if asked.Add(1) == 2 {
			says(w, http.StatusOK, `{"messages":[]}`)
			return
		}
		says(w, http.StatusServiceUnavailable, `{"error":"busy"}`)
	})
	if err := ask(t, Options{URL: s.URL}); err != nil || asked.Load() != 2 {
		t.Errorf("it asked %d times: %v", asked.Load(), err)
	}
	wants(t, ask(t, Options{URL: s.URL}), exit.Unavailable, "busy")
	if n := asked.Load(); n != 2+mostTries {
		t.Errorf("it asked %d times", n)
	}
}

func TestACommandIsSentOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "1")
		says(w, http.StatusServiceUnavailable, `{"error":"busy"}`)
	})
	c, err := Open(t.Context(), Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wants(t, c.post(t.Context(), nil, nil, "anything"), exit.Unavailable, "busy")
	if n := asked.Load(); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	s := consoleThat(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "messages") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"messages":[`)
			_ = http.NewResponseController(w).Flush()
		}
		<-end
	})
	defer close(end)
	wants(t, ask(t, Options{URL: s.URL, Timeout: 200 * time.Millisecond}), exit.Unavailable, "did not answer in time")
}

func TestAnAnswerThatBreaksOffIsNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		says(w, http.StatusOK, `{"messages":[]}`)
	})
	wants(t, ask(t, Options{URL: s.URL}), exit.Unavailable, "broke off; try again")
}

func TestWhoEndsTheCommandIsNotToldThatTheServerIsAway(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		end()
		<-r.Context().Done()
	}))
	defer s.Close()
	if _, err := Open(ctx, Options{URL: s.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
}

func TestAServerThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	wants(t, ask(t, Options{URL: s.URL}), exit.Unavailable, "cannot be reached")
}

func TestACertificateIsCheckedAgainstTheAuthorities(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/about") {
			says(w, http.StatusOK, about)
			return
		}
		says(w, http.StatusOK, `{"messages":[]}`)
	}))
	defer s.Close()
	wants(t, ask(t, Options{URL: s.URL, Token: token}), exit.Usage, "with --ca-file")
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	if err := ask(t, Options{URL: s.URL, Token: token, Authorities: pool}); err != nil {
		t.Errorf("with the authority it says %v", err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	wants(t, ask(t, Options{URL: "https" + strings.TrimPrefix(plain.URL, "http")}), exit.Usage, "does not speak TLS")
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := strings.Repeat(" ", 1<<20)
		for range largest>>20 + 1 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	wants(t, ask(t, Options{URL: s.URL}), exit.Failed, "ask for less")
}
