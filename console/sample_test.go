package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// running is a console in a bubble that runs until end is called.
type running struct {
	*held

	h   *console.Console
	end func()
}

// inRunning has a console of one store run in a bubble, where time passes only where everything waits.
func inRunning(t *testing.T, o console.Options, test func(t *testing.T, r *running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &held{Store: created(t, memstore.New(memstore.Options{}))}
		o.Databases = []console.Database{{Name: "shop", Store: h}}
		c, err := console.New(o)
		if err != nil {
			t.Fatal(err)
		}
		h.serves = c
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("it ends with %v", err)
			}
		}()
		test(t, &running{h, c, cancel})
	})
}

// pass lets time pass until all is done that is due.
func (*running) pass(d time.Duration) {
	pass(d)
	synctest.Wait()
}

// samples are those of the one box.
func (r *running) samples(t *testing.T) (v console.Samples) {
	t.Helper()
	w := r.ask(http.MethodGet, "/api/v1/databases/shop/boxes/outbox/samples")
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusOK {
		t.Fatalf("it answers %d: %s", w.Code, w.Body)
	}
	return v
}

func publish(t *testing.T, m *memstore.Store, n int) {
	t.Helper()
	msgs := make([]postbag.Message, n)
	for i := range msgs {
		msgs[i] = postbag.Message{ID: postbag.NewID(), Topic: "orders"}
	}
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, "outbox", msgs) }); err != nil {
		t.Fatal(err)
	}
}

func TestSamplesSayHowFastABoxIsAndWhatWaitsInIt(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		d := boxtest.New(t, r.Store)
		r.pass(5 * time.Second)
		publish(t, r.Store, 10)
		r.pass(5 * time.Second)
		records := d.Read()
		parks := []store.Park{{Seq: records[0].Seq, Slot: records[0].Slot, State: store.ParkDead, Attempts: 1}, {Seq: records[1].Seq, Slot: records[1].Slot, State: store.ParkRetrying, Attempts: 1}}
		tally := boxtest.Tally(store.TallyDelivered, records[2:]...)
		tally = append(tally, boxtest.Tally(store.TallyParked, records[:2]...)...)
		d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: tally})
		r.pass(5 * time.Second)
		all := r.samples(t).Samples
		if len(all) != 4 {
			t.Fatalf("there are %d samples, want 4: %+v", len(all), all)
		}
		published, behind := all[2], all[3]
		if published.Published == nil || *published.Published != 2 || *published.Waiting != 10 || *published.Delivered != 0 {
			t.Errorf("ten messages in five seconds are %+v", published)
		}
		if *behind.Published != 0 || *behind.Delivered != 1.6 || *behind.Waiting != 0 || *behind.Dead != 1 || *behind.Parked != 1 || *behind.Oldest < 5 {
			t.Errorf("eight of them delivered, and two parked, are %+v", behind)
		}
	})
}

func TestAnHourOfSamplesIsKept(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		r.pass(2 * time.Hour)
		all := r.samples(t).Samples
		if n := len(all); n != 721 || all[n-1].At.Sub(all[0].At) != time.Hour {
			t.Errorf("after two hours there are %d", n)
		}
		if n := r.looked.Load(); n != 2*720+1 {
			t.Errorf("the store was read %d times in two hours", n)
		}
		r.end()
		synctest.Wait()
		r.pass(time.Hour)
		if n := r.looked.Load(); n != 2*720+1 {
			t.Errorf("after its end the store was read again, %d times", n)
		}
	})
}

func TestASampleTakesTheOverviewThatSomebodyReadAMomentAgo(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		for range 12 {
			r.pass(4 * time.Second)
			r.ask(http.MethodGet, "/")
			r.pass(time.Second)
		}
		if n := r.looked.Load(); n != 13 {
			t.Errorf("in a minute the store was read %d times, want as often as samples are taken", n)
		}
		if n := len(r.samples(t).Samples); n != 13 {
			t.Errorf("there are %d samples", n)
		}
	})
}

func TestWithoutSamplesADatabaseIsNotRead(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{Sample: -1}, func(t *testing.T, r *running) {
		r.pass(time.Hour)
		if n := r.looked.Load(); n != 0 {
			t.Errorf("nobody looks, and the store was read %d times", n)
		}
		if n := len(r.samples(t).Samples); n != 0 {
			t.Errorf("there are %d samples", n)
		}
	})
}

func TestWhileADatabaseIsAwayThereIsAGapAndNoRateOverIt(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		publish(t, r.Store, 100)
		r.panicky.Store(1)
		r.pass(5 * time.Minute)
		r.panicky.Store(0)
		r.pass(5 * time.Second)
		all := r.samples(t).Samples
		if n := len(all); n < 2 || all[n-1].At.Sub(all[0].At) < 5*time.Minute {
			t.Fatalf("there are %+v", all)
		}
		for _, s := range all[:2] {
			if s.Published != nil {
				t.Errorf("over the gap, or before the first, there is a rate: %+v", s)
			}
		}
	})
}

func TestAConsoleThatRunsIsNotRunAgain(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		if err := r.h.Run(t.Context()); err == nil {
			t.Error("it runs twice")
		}
		r.end()
		synctest.Wait()
		ended, end := context.WithCancel(t.Context())
		end()
		if err := r.h.Run(ended); err != nil {
			t.Errorf("after its end it does not run again: %v", err)
		}
	})
}

func TestSamplesOfADatabaseAreThoseOfItsBoxesTogether(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		r.pass(10 * time.Second)
		if err := r.CreateBox(t.Context(), "more"); err != nil {
			t.Fatal(err)
		}
		if err := r.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "a"}, Shards: 1}, {Ref: store.Ref{Box: "more", Subscription: "a"}, Shards: 1}}); err != nil {
			t.Fatal(err)
		}
		publish(t, r.Store, 3)
		if err := r.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			return r.Append(ctx, tx, "more", []postbag.Message{{ID: postbag.NewID(), Topic: "orders"}})
		}); err != nil {
			t.Fatal(err)
		}
		r.pass(5 * time.Second)
		var all console.Samples
		w := httptest.NewRecorder()
		r.h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/databases/shop/samples", http.NoBody))
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		if n := len(all.Samples); n != 4 || *all.Samples[2].Waiting != 0 || *all.Samples[3].Waiting != 4 {
			t.Errorf("the samples are %+v", all.Samples)
		}
	})
}
