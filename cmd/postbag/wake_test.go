package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// sleeper is a relay that polls seldom, and what it delivers to.
type sleeper struct {
	t       *testing.T
	at      *place
	hook    *hook
	config  string
	address string
}

// asleep starts a relay on a store that tells it of nothing, with more lines of
// configuration.
func asleep(t *testing.T, at *place, more string) *sleeper {
	t.Helper()
	s := &sleeper{t: t, at: at, hook: startHook(t)}
	s.config = hookConfig(t, at, s.hook.url)
	s.address = adminAddress(t, start(t, "relay", "-c", appended(t, s.config, "\nmaintenance: false\npoll: 1m\n"+more)))
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	await(t, "the relay is ready", func() bool {
		code, _ := fetch(t, "http://"+s.address+"/readyz")
		return code == http.StatusOK
	})
	return s
}

// turns is how many looks at its store the relay has taken.
func (s *sleeper) turns() (n int) {
	s.t.Helper()
	_, body := fetch(s.t, "http://"+s.address+"/metrics")
	m := regexp.MustCompile(`(?m)^postbag_store_turns_total (\d+)$`).FindStringSubmatch(body)
	if m == nil {
		s.t.Fatalf("no turns are counted in\n%s", body)
	}
	_, _ = fmt.Sscan(m[1], &n)
	return n
}

// calm waits until the relay polls no more often than every 1.5 s, and has just done
// so. The next poll comes later than what it returns.
func (s *sleeper) calm() (next time.Time) {
	s.t.Helper()
	last, since := s.turns(), time.Now()
	await(s.t, "the relay is calm", func() bool {
		n, now := s.turns(), time.Now()
		if n == last {
			return false
		}
		gap := now.Sub(since)
		last, since, next = n, now, now.Add(gap-200*time.Millisecond) // it may have turned when it was last looked at
		return gap > 1500*time.Millisecond
	})
	return next
}

// hears fails the test unless a message, and what tells the relay of it, has it
// delivered before the relay polls. A busy machine has three tries.
func (s *sleeper) hears(write func()) {
	s.t.Helper()
	for range 3 {
		before, next := len(s.hook.messages()), s.calm()
		write()
		await(s.t, "the message is delivered", func() bool { return len(s.hook.messages()) > before })
		if time.Now().Before(next) {
			return
		}
	}
	s.t.Error("three messages waited until the relay polled")
}

// A message of a program that tells nobody waited for the poll: there was no way to say
// that it is there but PostgreSQL's.
func TestARelayIsWokenByARequestAndACommand(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		s := asleep(t, at, "")
		s.hears(func() {
			cli(t, "publish", at.flag, at.where, "--payload", "1").ok()
			cli(t, "wake", "--admin", s.address, "--box", "outbox").ok().says("woken: " + s.address)
		})
		before := s.turns()
		for range 3 {
			if code := post(t, "http://"+s.address+"/wake"); code != http.StatusNoContent {
				t.Errorf("POST /wake is %d, want 204", code)
			}
			await(t, "the relay looks because it was woken", func() bool { return s.turns() > before })
			before = s.turns()
		}
	})
}

func TestWakeReportsUnknownBoxesAndUnreachableRelays(t *testing.T) {
	t.Parallel()
	s := asleep(t, withBox(t, emptyFile(t)), "")
	for path, want := range map[string]int{
		"/wake": 204, "/wake?box=outbox": 204, "/wake?box=orders": 404, "/wake?store=other": 404, "/wake?box=outbox&store=": 204,
	} {
		if code := post(t, "http://"+s.address+path); code != want {
			t.Errorf("POST %s is %d, want %d", path, code, want)
		}
	}
	if code, _ := fetch(t, "http://"+s.address+"/wake"); code != http.StatusMethodNotAllowed {
		t.Errorf("GET /wake is %d: who looks must change nothing", code)
	}
	cli(t, "wake", "--admin", s.address, "--box", "orders").ends(exit.NotFound, "has no subscription of that box")
	cli(t, "wake", "--admin", s.address, "--box", "no box").ends(exit.Usage, "box")
	cli(t, "wake", "--admin", "127.0.0.1:1", "--admin", s.address).ends(exit.Unavailable, "no relay answers at 127.0.0.1:1").says("woken: " + s.address)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer other.Close()
	cli(t, "wake", "--admin", strings.TrimPrefix(other.URL, "http://")).ends(exit.Failed, "what listens at")
	cli(t, "wake", "--admin", "nowhere").ends(exit.Usage, "--admin is no address to listen on")
	cli(t, "wake").ends(exit.Usage, "no relay is named; pass -c FILE")
	cli(t, "wake", "-c", appended(t, s.config, "\nadmin: {listen: off}\n")).ends(exit.Usage, "admin.listen")
	var out struct{ Woken []string }
	if cli(t, "wake", "--json", "--admin", s.address).ok().json(&out); len(out.Woken) != 1 || out.Woken[0] != s.address {
		t.Errorf("woken are %v", out.Woken)
	}
}

// A producer in SQL alone wakes a relay that listens by NOTIFY in its own transaction.
func TestARelayThatListensIsWokenInSQL(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	at.yaml = strings.TrimSuffix(at.yaml, "}") + ", listen: true}"
	s := asleep(t, at, "")
	producer, err := pgx.Connect(t.Context(), dsnOf(t, at).String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = producer.Close(t.Context()) }()
	s.hears(func() {
		_, err := producer.Exec(t.Context(), `BEGIN; INSERT INTO postbag.outbox (topic, payload) VALUES ('orders', '1'); NOTIFY postbag; COMMIT`)
		if err != nil {
			t.Fatal(err)
		}
	})
}

// appended is a copy of a file with lines in place of those that begin alike, and at its
// end.
func appended(t *testing.T, path, lines string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(line, ":")
		if strings.TrimSpace(line) == "" || !strings.Contains(lines, "\n"+key+":") {
			kept = append(kept, line)
		}
	}
	return write(t, "postbag.yaml", strings.Join(kept, "")+lines)
}

// withBox makes the box of a place.
func withBox(t *testing.T, at *place) *place {
	t.Helper()
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	return at
}

func post(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
