package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// guardedBoxes is a console of two databases. What is hidden in them has hidden in its name.
func guardedBoxes(t *testing.T) (http.Handler, postbag.ID) {
	t.Helper()
	shop, other, id := memstore.New(memstore.Options{}), memstore.New(memstore.Options{}), postbag.NewID()
	for _, box := range []string{"outbox", "hiddenbox"} {
		if err := shop.CreateBox(t.Context(), box); err != nil {
			t.Fatal(err)
		}
		msgs := []postbag.Message{{ID: id, Topic: "of-" + box, Payload: []byte("payload")}}
		if err := shop.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return shop.Append(ctx, tx, box, msgs) }); err != nil {
			t.Fatal(err)
		}
		if err := shop.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: box, Subscription: "default"}, Shards: 1}}); err != nil {
			t.Fatal(err)
		}
		a, of := store.Audit{Who: "who-of-" + box, Why: "a test"}, store.Ref{Box: box, Subscription: "default"}
		if err := shop.SetPaused(t.Context(), a, of, true); err != nil {
			t.Fatal(err)
		}
		plan := store.Operation{Ref: of, Kind: store.OperationDiscard, Of: store.StatePending, Chosen: "{}", AsOf: time.Now(), Matched: 1}
		if _, err := shop.PlanOperation(t.Context(), a, plan); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{
		Databases: []Database{{Name: "shop", Store: shop}, {Name: "hiddendb", Store: other}}, Payloads: true, Commands: true, Edits: true,
		Stranger: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, h)
	return h, id
}

// run has a console run until the test ends.
func run(t *testing.T, h *Console) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- h.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for h.c.live.stopped() {
		runtime.Gosched()
	}
}

// stopped says whether it does not run.
func (l *live) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running == nil
}

func as(h http.Handler, u *User, path string) *httptest.ResponseRecorder {
	return asks(h, u, http.MethodGet, path)
}

func asks(h http.Handler, u *User, method, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, http.NoBody)
	if u != nil {
		r = r.WithContext(WithUser(r.Context(), u))
	}
	if strings.HasPrefix(path, "/api/v1/events") { // a stream ends with the one who asks
		ctx, end := context.WithCancel(r.Context())
		end()
		r = r.WithContext(ctx)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func userWith(t *testing.T, grants ...string) *User {
	t.Helper()
	u := &User{Name: "ann"}
	for _, text := range grants {
		g, err := ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		u.Rights = append(u.Rights, g)
	}
	return u
}

// asked is the path of a route, filled in.
func asked(r *route, id postbag.ID) string {
	if r.path == "/" || r.path == "/api/" { // all that is no other route
		return r.path + "nowhere"
	}
	return strings.NewReplacer("{database}", "shop", "{box}", "outbox", "{subscription}", "default", "{id}", id.String(), "{operation}", "1", "{$}", "").Replace(r.path)
}

func TestEveryRouteAnswersOnlyThoseWhoHaveItsRoleWhereItLooks(t *testing.T) {
	t.Parallel()
	h, id := guardedBoxes(t)
	roles := map[string]Role{"viewer": Viewer, "operator": Operator, "admin": Admin}
	for _, r := range routes() {
		path := asked(&r, id)
		if r.open {
			if code := asks(h, nil, r.verb(), path).Code; code != http.StatusOK {
				t.Errorf("%s is open, and answers %d", path, code)
			}
			continue
		}
		if r.needs == Nobody {
			t.Errorf("%s says no role", path)
		}
		if w := asks(h, nil, r.verb(), path); w.Code != http.StatusUnauthorized || w.Body.Len() > 0 {
			t.Errorf("%s answers %d to somebody who is not logged in", path, w.Code)
		}
		if code := asks(h, userWith(t, "payloads"), r.verb(), path).Code; code == http.StatusOK {
			t.Errorf("%s answers somebody without a role", path)
		}
		for name, role := range roles {
			for place, in := range map[string]struct{ box, all, database bool }{
				"@shop/outbox": {true, false, true}, "@shop": {true, true, true}, "@shop/hiddenbox": {false, false, true}, "@hiddendb": {false, false, false},
			} {
				enough := http.StatusOK
				if strings.HasSuffix(path, "/nowhere") {
					enough = http.StatusNotFound
				}
				if r.form != nil { // a form without a reason
					enough = http.StatusBadRequest
				}
				if role < r.needs {
					enough = http.StatusForbidden
				}
				want := enough
				switch {
				case !strings.Contains(path, "/shop"):
				case !in.database, strings.Contains(path, "/outbox") && !in.box:
					want = http.StatusNotFound
				case r.partly && strings.HasSuffix(path, "/operations/1") && !in.box: // it is one of outbox
					want = http.StatusNotFound
				case r.partly:
				case !strings.Contains(path, "/outbox") && !in.all:
					want = http.StatusForbidden
				}
				if w := asks(h, userWith(t, name+place), r.verb(), path); w.Code != want {
					t.Errorf("%s answers %d to %s, want %d: %s", path, w.Code, name+place, want, w.Body)
				}
			}
		}
	}
}

func TestWhatAUserMayNotSeeIsInNoAnswer(t *testing.T) {
	t.Parallel()
	h, id := guardedBoxes(t)
	u := userWith(t, "admin@shop/outbox", "payloads@shop/outbox")
	for _, r := range routes() {
		if r.open { // it knows no user
			continue
		}
		path := asked(&r, id)
		if body := asks(h, u, r.verb(), path).Body.String(); strings.Contains(body, "hiddenbox") || strings.Contains(body, "hiddendb") {
			t.Errorf("%s says %s", path, body)
		}
	}
	const missing = "/api/v1/databases/shop/boxes/missing"
	if a, b := as(h, u, missing), as(h, u, "/api/v1/databases/shop/boxes/hiddenbox"); a.Code != b.Code || a.Body.String() != b.Body.String() {
		t.Errorf("a box that is not there answers %d %s, and a hidden one %d %s", a.Code, a.Body, b.Code, b.Body)
	}
	if a, b := as(h, u, "/api/v1/databases/none/relays"), as(h, u, "/api/v1/databases/hiddendb/relays"); a.Code != b.Code || a.Body.String() != b.Body.String() {
		t.Errorf("a database that is not there answers %d %s, and a hidden one %d %s", a.Code, a.Body, b.Code, b.Body)
	}
	for _, path := range []string{"/api/v1/databases/shop/boxes/outbox/operations", "/api/v1/databases/shop/boxes/outbox/operations/2"} {
		if w := as(h, u, path); strings.Contains(w.Body.String(), "hidden") {
			t.Errorf("%s answers %d %s", path, w.Code, w.Body)
		}
	}
	if w := as(h, u, "/api/v1/databases/shop/boxes/outbox/operations/2"); w.Code != http.StatusNotFound {
		t.Errorf("the operation of a hidden box answers %d %s", w.Code, w.Body)
	}
	if body := as(h, userWith(t, "viewer@shop"), "/api/v1/overview").Body.String(); !strings.Contains(body, "hiddenbox") {
		t.Errorf("who may see all boxes sees %s", body)
	}
}

func TestPayloadsAreARightOfTheirOwn(t *testing.T) {
	t.Parallel()
	h, id := guardedBoxes(t)
	path := "/api/v1/databases/shop/boxes/outbox/messages/" + id.String() + "?payload=true"
	for want, grants := range map[int][]string{
		http.StatusOK:        {"viewer@shop", "payloads@shop/outbox"},
		http.StatusForbidden: {"admin@shop", "payloads@shop/hiddenbox", "payloads@hiddendb"},
		http.StatusNotFound:  {"payloads@shop"},
	} {
		if w := as(h, userWith(t, grants...), path); w.Code != want {
			t.Errorf("with %v it answers %d, want %d: %s", grants, w.Code, want, w.Body)
		}
	}
}

// failing is a store whose error names a box.
type failing struct{ *memstore.Store }

func (failing) Overview(context.Context) (store.Overview, error) {
	return store.Overview{}, errors.New("the table of hiddenbox is gone")
}

func TestAnErrorThatMayNameAnotherBoxIsForThoseWhoMaySeeAll(t *testing.T) {
	t.Parallel()
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: failing{memstore.New(memstore.Options{})}}}, Stranger: http.NotFound})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/api/v1/overview", "/api/v1/databases/shop/boxes/outbox"} {
		if body := as(h, userWith(t, "viewer@shop/outbox"), path).Body.String(); strings.Contains(body, "hidden") || !strings.Contains(body, "cannot be read") {
			t.Errorf("%s says %s", path, body)
		}
		if body := as(h, userWith(t, "viewer@shop"), path).Body.String(); !strings.Contains(body, "hiddenbox is gone") {
			t.Errorf("%s says %s", path, body)
		}
	}
}

func TestACommandIsAuditedWithTheNameOfItsUser(t *testing.T) {
	t.Parallel()
	h, _ := guardedBoxes(t)
	r := httptest.NewRequest(http.MethodPost, "/api/v1/databases/shop/boxes/outbox/subscriptions/default/commands", strings.NewReader("do=resume&why=over"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	u := userWith(t, "operator@shop/outbox")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(WithUser(r.Context(), u)))
	if w.Code != http.StatusOK {
		t.Fatalf("it answers %d: %s", w.Code, w.Body)
	}
	if body := as(h, userWith(t, "operator@shop"), "/api/v1/databases/shop/audit?limit=1").Body.String(); !strings.Contains(body, `"who":"ann","why":"over"`) {
		t.Errorf("the audit log says %s", body)
	}
}

func TestAnEditNeedsTheRightToSeePayloads(t *testing.T) {
	t.Parallel()
	h, id := guardedBoxes(t)
	for want, grants := range map[int][]string{
		http.StatusOK:        {"operator@shop/outbox", "payloads@shop/outbox"},
		http.StatusForbidden: {"admin@shop", "payloads@shop/hiddenbox"},
		http.StatusNotFound:  {"payloads@shop"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/databases/shop/boxes/outbox/messages/"+id.String()+"/edits", strings.NewReader("payload=new&why=a+test"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(WithUser(r.Context(), userWith(t, grants...))))
		if w.Code != want {
			t.Errorf("with %v it answers %d, want %d: %s", grants, w.Code, want, w.Body)
		}
	}
}
