package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/pagetest"
	"github.com/postbag/postbag/store"
)

func TestPagesDrawTheLastHourAndSayItInWordsAndInATable(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		boxtest.New(t, r.Store)
		r.pass(5 * time.Second)
		publish(t, r.Store, 10)
		r.pass(5 * time.Second)
		for _, path := range []string{"/", boxPage} {
			page := r.ask(http.MethodGet, path).Body.String()
			if _, faults := pagetest.Read(page); len(faults) > 0 {
				t.Errorf("%s: %s", path, strings.Join(faults, "\n"))
			}
			if n := strings.Count(page, `<svg role="img" aria-label="`); n != 4 {
				t.Errorf("%s has %d charts:\n%s", path, n, page)
			}
			if !strings.Contains(page, "Published: 2.0/s now, at most 2.0/s.") || !strings.Contains(page, "Waiting in the last minute. Messages: 10 now, at most 10.") || strings.Count(page, `<td class="number">10</td>`) < 1 {
				t.Errorf("%s does not say in words what it shows:\n%s", path, page)
			}
		}
	})
}

func TestAPageSaysForHowLongABoxNeedsALook(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		d := boxtest.New(t, r.Store)
		r.pass(10 * time.Minute)
		if page := r.ask(http.MethodGet, "/").Body.String(); !strings.Contains(page, "good</span>") {
			t.Fatalf("the box is not good:\n%s", page)
		}
		publish(t, r.Store, 1)
		records := d.Read()
		d.Settle(&d.Lease, store.Settlement{To: d.At, Park: []store.Park{{Seq: records[0].Seq, Slot: records[0].Slot, State: store.ParkDead, Attempts: 1}}, Tally: boxtest.Tally(store.TallyParked, records...)})
		r.pass(3 * time.Minute)
		for _, path := range []string{"/", boxPage} {
			page := r.ask(http.MethodGet, path).Body.String()
			if !strings.Contains(page, "eeds a look, for 2m55s") {
				t.Errorf("%s does not say since when:\n%s", path, page)
			}
			if at := strings.Index(page, "is dead"); at < 0 || path == "/" && at > strings.Index(page, "<svg") {
				t.Errorf("%s does not say what is wrong before it draws anything:\n%s", path, page)
			}
		}
	})
}

func TestChartsAreMadeOnlyOfBoxesThatMayBeSeen(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		if err := r.CreateBox(t.Context(), "more"); err != nil {
			t.Fatal(err)
		}
		if err := r.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "a"}, Shards: 1}, {Ref: store.Ref{Box: "more", Subscription: "a"}, Shards: 1}}); err != nil {
			t.Fatal(err)
		}
		publish(t, r.Store, 7)
		r.pass(5 * time.Second)
		for grants, want := range map[string]string{"viewer@shop": "Messages: 7 now", "viewer@shop/more": "Messages: 0 now", "viewer@shop/outbox": "Messages: 7 now"} {
			page := r.askAs(&console.User{Name: "ann", Rights: rights(t, grants)}, "/").Body.String()
			if !strings.Contains(page, want) {
				t.Errorf("with %s the page has no %s:\n%s", grants, want, page)
			}
			if strings.Contains(page, "databases/shop/samples") != (grants == "viewer@shop") {
				t.Errorf("with %s the page leads to samples that may not be seen, or to none:\n%s", grants, page)
			}
		}
	})
}

// askAs asks the console as a user.
func (r *running) askAs(u *console.User, path string) *httptest.ResponseRecorder {
	w, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.h.ServeHTTP(w, request.WithContext(console.WithUser(request.Context(), u)))
	return w
}
