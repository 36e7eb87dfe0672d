package login_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// streamed opens a stream, and returns what it said when it has ended.
func (s *site) streamed() (ended <-chan string) {
	out := make(chan string, 1)
	r := httptest.NewRequest(http.MethodGet, "https://console.example/api/v1/events", http.NoBody)
	maps.Copy(r.Header, s.headers)
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	go func() {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		out <- w.Body.String()
	}()
	return out
}

// inLogin has a console with the user ann, who has logged in, run in a bubble.
func inLogin(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "user ann "+hashed()+" viewer\n", nil)
		s.login("ann", password, "")
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.console.Run(ctx) }()
		synctest.Wait()
		test(t, s)
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAnOpenStreamKeepsNoSessionFromEnding(t *testing.T) {
	t.Parallel()
	inLogin(t, func(t *testing.T, s *site) {
		began := time.Now()
		text := <-s.streamed()
		if at := time.Since(began); at < 30*time.Minute || at > 30*time.Minute+10*time.Second {
			t.Errorf("the stream ended after %v, want half an hour", at)
		}
		if n := strings.Count(text, "event: state"); n < 300 || !strings.Contains(text, "event: end\ndata: {\"error\":\"your session has ended") {
			t.Errorf("after %d states it says %s", n, text[max(0, len(text)-300):])
		}
		is(t, s.get("/"), http.StatusSeeOther, "login")
	})
}

func TestALogoutEndsTheStreamsOfItsSession(t *testing.T) {
	t.Parallel()
	inLogin(t, func(t *testing.T, s *site) {
		ended := s.streamed()
		synctest.Wait()
		s.ask(http.MethodPost, "/logout", nil)
		began := time.Now()
		if text := <-ended; time.Since(began) > 10*time.Second || !strings.Contains(text, "event: end") {
			t.Errorf("after %v it says %s", time.Since(began), text)
		}
	})
}

func TestAPageThatAsksAgainByItselfKeepsNoSessionFromEnding(t *testing.T) {
	t.Parallel()
	inLogin(t, func(t *testing.T, s *site) {
		for range 40 {
			pass(time.Minute)
			r := httptest.NewRequest(http.MethodGet, "https://console.example/", http.NoBody)
			r.Header.Set("Postbag-Again", "1")
			for _, c := range s.cookies {
				r.AddCookie(c)
			}
			s.handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		is(t, s.get("/"), http.StatusSeeOther, "login")
	})
}
