package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// held is a store whose lists and overviews wait for a channel to be closed, if there is one, and count themselves.
type held struct {
	*memstore.Store

	lists, looks           chan struct{}
	asked, looked, panicky atomic.Int32
	// hangs: an overview takes until its time is over.
	hangs atomic.Bool
	// takes is how long a list takes.
	takes time.Duration
	// serves is the console.
	serves http.Handler
}

// ask asks the console without a network.
func (h *held) ask(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.serves.ServeHTTP(w, httptest.NewRequest(method, path, http.NoBody))
	return w
}

// until waits for a channel, but no longer than its time. What it then says is in a driver's own words.
func until(ctx context.Context, c chan struct{}) error {
	if c == nil {
		return nil
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return errors.New("the driver's own words")
	}
}

func (h *held) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	h.asked.Add(1)
	pass(h.takes)
	if err := until(ctx, h.lists); err != nil {
		return nil, "", err
	}
	return h.Store.List(ctx, q)
}

func (h *held) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	h.asked.Add(1)
	if err := until(ctx, h.lists); err != nil {
		return nil, err
	}
	return h.Store.Show(ctx, box, id)
}

func (h *held) Overview(ctx context.Context) (store.Overview, error) {
	h.looked.Add(1)
	if h.panicky.Load() > 0 {
		panic("nobody thought of that")
	}
	if h.hangs.Load() {
		<-ctx.Done()
	}
	if err := until(ctx, h.looks); err != nil {
		return store.Overview{}, err
	}
	return h.Store.Overview(ctx)
}

// inBubble has time pass only where everything waits. It gives a console of one store, which is asked without a network.
func inBubble(t *testing.T, test func(t *testing.T, h *held, ask func(path string) *httptest.ResponseRecorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &held{Store: created(t, memstore.New(memstore.Options{}))}
		c, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: h}}})
		if err != nil {
			t.Fatal(err)
		}
		h.serves = c
		test(t, h, func(path string) *httptest.ResponseRecorder { return h.ask(http.MethodGet, path) })
	})
}

// pass lets time pass in a bubble, where nobody waits for it.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the clock is the bubble's

// state is what an overview says of the one database.
func state(t *testing.T, w *httptest.ResponseRecorder) console.DatabaseState {
	t.Helper()
	var o console.Overview
	if err := json.Unmarshal(w.Body.Bytes(), &o); err != nil || len(o.Databases) != 1 {
		t.Fatalf("the overview is %s: %v", w.Body, err)
	}
	return o.Databases[0]
}

func TestADatabaseIsAskedOneThingBesideTheOverviewAndNoLongerThanTheTimeOut(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		h.lists = make(chan struct{})
		codes := make(chan int, 8)
		for range cap(codes) {
			go func() { codes <- ask(messages).Code }()
		}
		synctest.Wait()
		if n := h.asked.Load(); n != 1 {
			t.Errorf("%d questions are under way at a time", n)
		}
		if v := state(t, ask("/api/v1/overview")); v.Error != "" || len(v.Boxes) != 1 {
			t.Errorf("beside searches the overview is %+v", v)
		}
		seen := make(map[int]int)
		for range cap(codes) {
			seen[<-codes]++
		}
		if seen[http.StatusGatewayTimeout] < 1 || seen[http.StatusGatewayTimeout]+seen[http.StatusServiceUnavailable] != cap(codes) {
			t.Errorf("the answers are %v", seen)
		}
	})
}

func TestASearchKeepsNoOtherPageWaiting(t *testing.T) {
	t.Parallel()
	for _, search := range []string{"?topic=a", "?key=a", "?type=a", "?error=a&state=dead", "?after=2026-01-31T12:00:00Z", "?state=filtered", "?id=0190a1b2-0000-7000-8000-000000000001"} {
		inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
			h.lists = make(chan struct{})
			codes := make(chan int, 3)
			for range cap(codes) - 1 {
				go func() { codes <- ask(messages + search).Code }()
			}
			synctest.Wait()
			go func() { codes <- ask(messages).Code }()
			synctest.Wait()
			if n := h.asked.Load(); n != 2 {
				t.Errorf("%s: %d questions are under way, not one search and one page", search, n)
			}
			close(h.lists)
			for range cap(codes) {
				if code := <-codes; code != http.StatusOK {
					t.Errorf("%s: a page answers %d", search, code)
				}
			}
		})
	}
}

func TestADatabaseIsAskedTwoThingsAtATimeWhateverTheyAre(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		h.lists = make(chan struct{})
		codes := make(chan int, 3)
		for _, path := range []string{messages + "?topic=a", messages, "/api/v1/overview"} {
			go func() { codes <- ask(path).Code }()
			synctest.Wait()
		}
		if lists, looks := h.asked.Load(), h.looked.Load(); lists != 2 || looks != 0 {
			t.Errorf("%d lists and %d overviews are under way", lists, looks)
		}
		close(h.lists)
		for range cap(codes) {
			if code := <-codes; code != http.StatusOK {
				t.Errorf("a page answers %d", code)
			}
		}
	})
}

func TestHoweverManyLookTheStateIsReadOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		h.looks = make(chan struct{})
		answers := make(chan *httptest.ResponseRecorder, 20)
		for range cap(answers) {
			go func() { answers <- ask("/api/v1/overview") }()
		}
		synctest.Wait()
		close(h.looks)
		for range cap(answers) {
			if v := state(t, <-answers); v.Error != "" {
				t.Errorf("an overview is %+v", v)
			}
		}
		if n := h.looked.Load(); n != 1 {
			t.Errorf("for %d looks the store was read %d times", cap(answers), n)
		}
	})
}

func TestTheStateIsReadAgainAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		var rates []bool
		for _, wait := range []time.Duration{0, time.Second, time.Second, time.Hour} {
			pass(wait)
			rates = append(rates, state(t, ask("/api/v1/overview")).Boxes[0].Rate != nil)
		}
		if n := h.looked.Load(); n != 3 {
			t.Errorf("the store was read %d times, want 3", n)
		}
		if !slices.Equal(rates, []bool{false, false, true, false}) {
			t.Errorf("there are rates: %v; want one of two seconds, and none of an hour", rates)
		}
	})
}

func TestADatabaseThatAnswersTooLateIsShownAsItWas(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		good := state(t, ask("/api/v1/overview"))
		pass(time.Minute)
		h.looks = make(chan struct{})
		v := state(t, ask("/api/v1/overview"))
		if v.Good || !strings.Contains(v.Error, "did not answer in time") || !v.Now.Equal(good.Now) || len(v.Boxes) != 1 {
			t.Errorf("it is shown as %+v", v)
		}
		if page := ask("/").Body.String(); !strings.Contains(page, "Below is what it said last.") || !strings.Contains(page, ">outbox</a> <span") {
			t.Errorf("the page is\n%s", page)
		}
	})
}

func TestAMistakeInAStoreEndsNoConsole(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		h.panicky.Store(1)
		if v := state(t, ask("/api/v1/overview")); v.Good || !strings.Contains(v.Error, "please report it: nobody thought of that") {
			t.Errorf("it is shown as %+v", v)
		}
		h.panicky.Store(0)
		if v := state(t, ask("/api/v1/overview")); v.Error != "" {
			t.Errorf("afterwards it is shown as %+v", v)
		}
	})
}

func TestASearchForAnIDThatSaysNoTimeSaysWhatElseToSearchBy(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		h.lists = make(chan struct{})
		const old, drawn = "01234567-89ab-4cde-8f01-23456789abcd", "01234567-89ab-7cde-8f01-23456789abcd"
		for path, other := range map[string]bool{messages + "/" + old: true, messages + "?id=" + old: true, messages + "/" + drawn: false} {
			w := ask(path)
			if w.Code != http.StatusGatewayTimeout || strings.Contains(w.Body.String(), "search by topic, key or time") != other {
				t.Errorf("%s answers %d: %s", path, w.Code, w.Body)
			}
		}
	})
}

func TestNoStoreIsAskedForABoxThatCannotBe(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *held, ask func(string) *httptest.ResponseRecorder) {
		for _, path := range []string{"/messages", "/messages/01234567-89ab-7cde-8f01-23456789abcd"} {
			if w := ask("/api/v1/databases/shop/boxes/NO%20BOX" + path); w.Code != http.StatusNotFound || h.asked.Load() != 0 {
				t.Errorf("%s answers %d, and the store was asked %d times", path, w.Code, h.asked.Load())
			}
		}
	})
}

func TestADatabaseThatIsAwayAtFirstIsOpenedWhenItIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := created(t, memstore.New(memstore.Options{}))
		calls, away := 0, true
		h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Open: func(context.Context) (store.Store, error) {
			if calls++; away {
				return nil, errors.New("the plug is out")
			}
			return m, nil
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			return w
		}
		if v := state(t, ask("/api/v1/overview")); v.Good || v.Error != "the plug is out" {
			t.Errorf("it is shown as %+v", v)
		}
		if w := ask(messages); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "the plug is out") || calls != 1 {
			t.Errorf("after %d tries a question is answered with %d: %s", calls, w.Code, w.Body)
		}
		away = false
		pass(2 * time.Second)
		for range 2 {
			if v := state(t, ask("/api/v1/overview")); v.Error != "" || len(v.Boxes) != 1 || calls != 2 {
				t.Errorf("after %d tries it is shown as %+v", calls, v)
			}
			pass(time.Minute)
		}
	})
}

func TestADatabaseHasAStoreOrAWayToOpenOne(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	open := func(context.Context) (store.Store, error) { return m, nil }
	for _, d := range []console.Database{{Name: "shop"}, {Name: "shop", Store: m, Open: open}} {
		if _, err := console.New(console.Options{Databases: []console.Database{d}}); err == nil || !strings.Contains(err.Error(), "neither Store nor Open, or both") {
			t.Errorf("of %+v it says %v", d, err)
		}
	}
}
