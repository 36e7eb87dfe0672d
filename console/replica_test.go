package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// primary is a store that has a replica.
type primary struct {
	*memstore.Store

	lost         atomic.Bool
	slow         atomic.Int64 // how long a mark takes
	asked, marks atomic.Int32
}

func (p *primary) Watermark(ctx context.Context) (store.Watermark, error) {
	p.marks.Add(1)
	if p.lost.Load() {
		return store.Watermark{}, errors.New("no connection")
	}
	at := time.Now()
	select {
	case <-time.After(time.Duration(p.slow.Load())):
		return store.Watermark{At: at}, nil
	case <-ctx.Done():
		return store.Watermark{}, errors.New("the driver's own words")
	}
}

func (p *primary) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	p.asked.Add(1)
	if p.lost.Load() {
		return nil, "", errors.New("no connection")
	}
	return p.Store.List(ctx, q)
}

func (p *primary) Overview(ctx context.Context) (store.Overview, error) {
	if p.lost.Load() {
		return store.Overview{}, errors.New("no connection")
	}
	return p.Store.Overview(ctx)
}

// replica is one that has the messages of a store of its own, so that an answer shows where it comes from.
type replica struct {
	*memstore.Store

	lag, hangs atomic.Int64 // times
	fault      atomic.Value // what Reached fails with, in an boxedError
	ends       atomic.Value // what a question fails with
	asked      atomic.Int32
}

type boxedError struct{ error }

func (r *replica) Reached(_ context.Context, m store.Watermark) (time.Time, error) {
	if f, is := r.fault.Load().(boxedError); is && f.error != nil {
		return time.Time{}, f.error
	}
	return m.At.Add(-time.Duration(r.lag.Load())), nil
}

func (*replica) Close() error { return nil }

func (r *replica) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	r.asked.Add(1)
	if f, is := r.ends.Load().(boxedError); is && f.error != nil {
		return nil, "", f.error
	}
	if d := time.Duration(r.hangs.Load()); d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return nil, "", errors.New("the driver's own words")
		}
	}
	return r.Store.List(ctx, q)
}

// pair is a console of a primary with three dead messages, whose replica has two.
type pair struct {
	primary *primary
	replica *replica
	console http.Handler
}

// withDead makes a store with n dead messages.
func withDead(t *testing.T, n int) *memstore.Store {
	t.Helper()
	m := memstore.New(memstore.Options{})
	d := boxtest.New(t, created(t, m))
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return m.Append(ctx, tx, boxtest.Outbox.Box, boxtest.Messages(n, "a"))
	}))
	records := d.Read()
	var parks []store.Park
	for _, r := range records {
		parks = append(parks, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused"})
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	return m
}

func inPair(t *testing.T, test func(t *testing.T, p *pair)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pair{primary: &primary{Store: withDead(t, 3)}, replica: &replica{Store: withDead(t, 2)}}
		c, err := console.New(console.Options{Commands: true, Who: "somebody", Databases: []console.Database{{
			Name: "shop", Store: p.primary, Replica: func(context.Context) (store.Reader, error) { return p.replica, nil },
		}}})
		if err != nil {
			t.Fatal(err)
		}
		p.console = c
		test(t, p)
	})
}

func (p *pair) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.console.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w
}

// listed says how many messages a list has, and what its headers say.
func (p *pair) listed(t *testing.T) (n int, from string) {
	t.Helper()
	w := p.get("/api/v1/databases/shop/boxes/outbox/messages?state=dead")
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return strings.Count(w.Body.String(), `"id"`), strings.TrimSpace(strings.Join([]string{w.Header().Get("Postbag-Read-From"), w.Header().Get("Postbag-Read-Age"), w.Header().Get("Postbag-Read-Why")}, " "))
}

// wants asks for a list.
func (p *pair) wants(t *testing.T, n int, from string) {
	t.Helper()
	if got, said := p.listed(t); got != n || said != from {
		t.Errorf("%d messages are read, of %d, and the answer says %q where it is to say %q", got, n, said, from)
	}
}

func TestAReplicaIsReadAndItsAgeIsShown(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.replica.lag.Store(int64(12 * time.Second))
		p.wants(t, 2, "replica 12.0")
		for _, path := range []string{"/databases/shop/boxes/outbox/messages?state=dead", "/databases/shop/boxes/outbox/errors", "/databases/shop/boxes/outbox/keys", "/databases/shop/audit", "/databases/shop/boxes/outbox", "/databases/shop/relays", "/"} {
			if w := p.get(path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "As of 12.0s ago, from the replica.") {
				t.Errorf("%s does not say where it was read: %d %s", path, w.Code, w.Body)
			}
		}
		v := state(t, p.get("/api/v1/overview"))
		if v.Read == nil || v.Read.From != "replica" || v.Read.Age < 11 || v.Boxes[0].Subscriptions[0].Parked["dead"] != 2 {
			t.Errorf("the overview is not of the replica, or does not say so: %+v", v)
		}
		if n := p.primary.asked.Load(); n != 0 {
			t.Errorf("the primary was asked %d times", n)
		}
		w := p.get("/api/v1/databases/shop/boxes/outbox/messages?format=csv")
		if w.Header().Get("Postbag-Read-From") != "replica" || strings.Count(w.Body.String(), "\n") != 3 {
			t.Errorf("an export is not of the replica: %v %s", w.Header(), w.Body)
		}
	})
}

func TestHowFarAReplicaIsIsAskedOnceInTwoSeconds(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		for range 50 {
			p.listed(t)
		}
		if n := p.primary.marks.Load(); n != 1 {
			t.Errorf("the primary was asked %d times how far it is", n)
		}
		pass(3 * time.Second)
		p.listed(t)
		if n := p.primary.marks.Load(); n != 2 {
			t.Errorf("after 3 s it was asked %d times in all", n)
		}
	})
}

func TestAReplicaThatCannotBeReadIsNotAndThePageSaysWhy(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		set  func(*replica)
		from string
	}{
		"too far behind":   {func(r *replica) { r.lag.Store(int64(31 * time.Second)) }, "primary  the replica is 31.0s behind, and may be 30.0s"},
		"not known":        {func(r *replica) { r.fault.Store(boxedError{store.ErrBehind}) }, "primary  the replica is behind, and by how much is not known yet"},
		"promoted":         {func(r *replica) { r.fault.Store(boxedError{fmt.Errorf("x: %w", store.ErrNoReplica)}) }, "primary  what is named as the replica is none, or was promoted"},
		"another database": {func(r *replica) { r.fault.Store(boxedError{store.ErrOtherDatabase}) }, "primary  what is named as the replica has another database, or another history of it"},
		"old schema":       {func(r *replica) { r.fault.Store(boxedError{store.ErrSchema}) }, "primary  the replica has not the schema that this console needs"},
		"no rights":        {func(r *replica) { r.fault.Store(boxedError{store.ErrDenied}) }, "primary  the role has not the rights that it needs on the replica"},
		"away":             {func(r *replica) { r.fault.Store(boxedError{errors.New("password in here")}) }, "primary  the replica does not answer"},
		"recovery ends it": {func(r *replica) { r.ends.Store(boxedError{store.ErrAgain}) }, "primary  the replica ended the question, to go on with what the primary did"},
		"it fails":         {func(r *replica) { r.ends.Store(boxedError{errors.New("password in here")}) }, "primary  the replica did not answer"},
		"it has no box":    {func(r *replica) { r.ends.Store(boxedError{store.ErrNoBox}) }, "primary  the replica does not have it"},
		"it hangs":         {func(r *replica) { r.hangs.Store(int64(time.Hour)) }, "primary  the replica did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inPair(t, func(t *testing.T, p *pair) {
				one.set(p.replica)
				began := time.Now()
				p.wants(t, 3, one.from)
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %v", took)
				}
				w := p.get("/databases/shop/boxes/outbox/messages?state=dead")
				if why := strings.TrimPrefix(one.from, "primary  "); !strings.Contains(w.Body.String(), "From the primary: "+why+".") {
					t.Errorf("the page does not say why: %s", w.Body)
				}
			})
		})
	}
}

func TestAReplicaThatComesBackIsReadAgain(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.replica.fault.Store(boxedError{errors.New("away")})
		p.wants(t, 3, "primary  the replica does not answer")
		p.replica.fault.Store(boxedError{})
		pass(3 * time.Second)
		p.wants(t, 2, "replica 0.0")
	})
}

// Commands, and what is counted before one, are of the primary. Behind a command nothing is shown that is older.
func TestAfterACommandNothingIsReadThatIsOlder(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.replica.lag.Store(int64(5 * time.Second))
		p.wants(t, 2, "replica 5.0")
		w := p.get("/api/v1/databases/shop/boxes/outbox/messages?state=dead&subscription=default&count=true")
		if !strings.Contains(w.Body.String(), `"messages":3`) && !strings.Contains(w.Body.String(), `"count":3`) {
			t.Errorf("what a command would be for is not counted on the primary: %s", w.Body)
		}
		form := url.Values{"do": {"pause"}, "why": {"a test"}}
		request := httptest.NewRequest(http.MethodPost, "/databases/shop/boxes/outbox/subscriptions/default/commands", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		p.console.ServeHTTP(answer, request)
		if answer.Code != http.StatusSeeOther {
			t.Fatalf("the command failed: %d %s", answer.Code, answer.Body)
		}
		const why = "primary  something was changed here, and the replica may not have it yet"
		p.wants(t, 3, why)
		if w := p.get("/databases/shop/boxes/outbox/subscriptions/default"); !strings.Contains(w.Body.String(), "is paused") {
			t.Errorf("the page does not show the pause: %s", w.Body)
		}
		pass(4 * time.Second)
		p.wants(t, 3, why)
		pass(3 * time.Second)
		p.wants(t, 2, "replica 5.0")
	})
}

func TestAReplicaIsReadHoweverOldWhileItsPrimaryDoesNotAnswer(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.wants(t, 2, "replica 0.0")
		p.primary.lost.Store(true)
		pass(2 * time.Minute)
		p.wants(t, 2, "replica 120.0 the primary does not answer")
		v := state(t, p.get("/api/v1/overview"))
		if v.Good || v.Error != "the primary does not answer" || len(v.Boxes) != 1 {
			t.Errorf("the overview does not say that the primary is away: %+v", v)
		}
	})
}

// asPrimary asks a path as a program that wants the primary alone.
func (p *pair) asPrimary(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Header.Set(console.ReadFromHeader, "primary")
	w := httptest.NewRecorder()
	p.console.ServeHTTP(w, r)
	return w
}

// The command line goes by what it is answered: an old state, or that all is well while the primary is away, would lead it astray.
func TestWhoWantsThePrimaryIsAnsweredByNoReplica(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.wants(t, 2, "replica 0.0")
		_ = state(t, p.get("/api/v1/overview"))
		for _, path := range []string{"/api/v1/databases/shop/boxes/outbox/messages?state=dead", "/api/v1/databases/shop/status", "/api/v1/databases/shop/subscriptions"} {
			if w := p.asPrimary(path); w.Code != http.StatusOK || w.Header().Get(console.ReadFromHeader) != "primary" {
				t.Errorf("%s: %d, from %q", path, w.Code, w.Header().Get(console.ReadFromHeader))
			}
		}
		p.primary.lost.Store(true)
		pass(time.Minute)
		_ = state(t, p.get("/api/v1/overview")) // the replica's, which is kept
		for _, path := range []string{"/api/v1/databases/shop/boxes/outbox/messages?state=dead", "/api/v1/databases/shop/status", "/api/v1/databases/shop/subscriptions"} {
			if w := p.asPrimary(path); w.Code != http.StatusBadGateway {
				t.Errorf("the primary is away, and %s answers %d: %s", path, w.Code, w.Body)
			}
		}
	})
}

func TestAReplicaThatIsNoneIsNotReadSinceThePrimaryWentAway(t *testing.T) {
	t.Parallel()
	for _, why := range []error{store.ErrNoReplica, store.ErrOtherDatabase} {
		inPair(t, func(t *testing.T, p *pair) {
			p.wants(t, 2, "replica 0.0")
			p.replica.fault.Store(boxedError{why})
			pass(3 * time.Second)
			if n, from := p.listed(t); n != 3 {
				t.Fatalf("%d messages from %s", n, from)
			}
			p.primary.lost.Store(true)
			pass(3 * time.Second)
			if w := p.get("/api/v1/databases/shop/boxes/outbox/messages?state=dead"); w.Code == http.StatusOK {
				t.Errorf("another database is shown: %s", w.Body)
			}
		})
	}
}

// A question that waited for its place leaves no time for a look at the servers.
func TestALookWithoutTimeSaysNothingOfThePrimary(t *testing.T) {
	t.Parallel()
	inPair(t, func(t *testing.T, p *pair) {
		p.wants(t, 2, "replica 0.0")
		pass(3 * time.Second)
		p.primary.slow.Store(int64(time.Second))
		ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		p.console.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/databases/shop/boxes/outbox/messages?state=dead", http.NoBody))
		p.primary.slow.Store(0)
		p.wants(t, 2, "replica 0.0")
	})
}

func TestAReplicaIsNamedForAStoreThatCanHaveOne(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	open := func(context.Context) (store.Reader, error) { return nil, errors.New("nobody opens it") }
	for words, d := range map[string]console.Database{
		"is of a kind that has none":  {Name: "shop", Store: m, Replica: open},
		"ReplicaLag of Databases[0]":  {Name: "shop", Store: &primary{Store: m}, Replica: open, ReplicaLag: time.Second},
		"ReplicaLag of Databases[0] ": {Name: "shop", Store: m, ReplicaLag: time.Minute},
	} {
		if _, err := console.New(console.Options{Databases: []console.Database{d}}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v was taken: %v", d, err)
		}
	}
}
