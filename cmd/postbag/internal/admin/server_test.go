package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// away is a store that does not answer.
type away struct{}

var errAway = errors.New("away")

func (away) Overview(context.Context) (store.Overview, error) { return store.Overview{}, errAway }

func (away) List(context.Context, store.Query) ([]store.Item, string, error) { return nil, "", errAway }

func (away) Show(context.Context, string, postbag.ID) ([]store.Item, error) { return nil, errAway }

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return r.Code, r.Body.String()
}

func TestMetricsOfTheRelayAreThereWhenTheStoreIsNot(t *testing.T) {
	t.Parallel()
	h := handler([]Source{{Stats: func() relay.Stats { return relay.Stats{Turns: 7} }, Store: away{}}}, nil)
	code, body := get(t, h, "/metrics")
	if code != http.StatusOK || !strings.Contains(body, "postbag_store_up 0") || !strings.Contains(body, "postbag_store_turns_total 7") {
		t.Errorf("/metrics is %d:\n%s", code, body)
	}
	if strings.Contains(body, "postbag_backlog") {
		t.Error("there is a backlog, which only the store knows")
	}
	if code, _ := get(t, h, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz is %d, want 503", code)
	}
	if code, _ := get(t, h, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz is %d: a store that is away is no reason to restart the relay", code)
	}
}

func TestRelayWhoseLoopIsStuckIsNotHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := handler([]Source{{Stats: func() relay.Stats {
			<-time.After(5 * time.Second)
			return relay.Stats{}
		}, Store: away{}}}, nil)
		if code, body := get(t, h, "/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "stuck") {
			t.Errorf("/healthz is %d %q, want 503", code, body)
		}
	})
}

func TestAProcessIsReadyWhenItsSourcesAreOpen(t *testing.T) {
	t.Parallel()
	open := false
	h := handler([]Source{{Store: away{}, Intakes: func() []prompostbag.SourceStats {
		return []prompostbag.SourceStats{{Source: "orders", Box: "inbox", Open: open}}
	}}}, nil)
	if code, body := get(t, h, "/readyz"); code != http.StatusServiceUnavailable || body != "the source orders is not open\n" {
		t.Errorf("/readyz is %d %q, want 503", code, body)
	}
	if code, _ := get(t, h, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz is %d without a relay", code)
	}
	open = true
	if code, body := get(t, h, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz is %d %q, want 200", code, body)
	}
	if _, body := get(t, h, "/metrics"); !strings.Contains(body, `postbag_source_open{box="inbox",source="orders"} 1`) || strings.Contains(body, "postbag_relay_ready") {
		t.Errorf("/metrics is\n%s", body)
	}
}

// A page that somebody reads slowly is no reason for a relay to end with an error.
func TestAListenerThatIsStillReadFromIsClosedWithoutAnError(t *testing.T) {
	t.Parallel()
	began, over := make(chan struct{}), make(chan struct{})
	pages := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(over)
	})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Start(address, nil, nil, pages, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = http.Get("http://" + address + "/console/") }() //nolint:bodyclose // there is no answer
	<-began
	if err := s.Close(); err != nil {
		t.Errorf("it is closed with %v", err)
	}
	<-over
}

func TestADisabledListenerCanBeClosed(t *testing.T) {
	t.Parallel()
	s, err := Start("", nil, nil, nil, nil)
	if err != nil || s.Close() != nil {
		t.Errorf("it is %v (%v)", s, err)
	}
}

func TestAnAddressInUseIsReported(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, err = Start(taken.Addr().String(), nil, nil, nil, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("the error is %v", err)
	}
}
