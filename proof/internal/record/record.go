package record

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// Payload is what the N-th message of a key was published with.
type Payload func(key string, n int) []byte

// Faults are what a test did to its servers and relays, and when. The zero Faults are none. Methods may be called concurrently.
type Faults struct {
	mu  sync.Mutex
	all []history.Fault
}

// Note notes a fault that began at from and ends now, once for each relay that it hits.
func (f *Faults) Note(kind string, from time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, history.Fault{Kind: kind, Begin: since(from), End: since(time.Now())})
}

// Count is how many were noted.
func (f *Faults) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.all)
}

// origin is when the times of histories begin.
var origin = time.Now()

func since(t time.Time) time.Duration { return t.Sub(origin) }

// manyArrivals is from when on a history is judged in a file rather than in memory.
const manyArrivals = 300_000

// Judge compares what arrived with how many messages of each key were committed, one after another, and with what; a nil payload
// leaves the bytes out.
func Judge(t testing.TB, arrivals []Arrival, committed map[string]int, payload Payload, faults *Faults, o history.Options) *history.Report {
	t.Helper()
	return judge(t, arrivals, committed, payload, faults, o, manyArrivals)
}

// judge is Judge with another limit to what is judged in memory.
func judge(t testing.TB, arrivals []Arrival, committed map[string]int, payload Payload, faults *Faults, o history.Options, many int) *history.Report {
	t.Helper()
	if len(arrivals) < many {
		var h history.History
		write(&h, arrivals, committed, payload, faults)
		return h.Check(o)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "history")
	w, err := history.Create(name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	write(w, arrivals, committed, payload, faults)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := history.CheckFiles([]string{name}, o, history.Space{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Require judges, and fails the test if a promise was broken.
func Require(t testing.TB, arrivals []Arrival, committed map[string]int, payload Payload, faults *Faults, o history.Options) *history.Report {
	t.Helper()
	r := Judge(t, arrivals, committed, payload, faults, o)
	if !r.Held() {
		t.Errorf("a promise was broken:\n%s", r)
	}
	return r
}

// Line is what the tests log of a report.
func Line(r *history.Report) string {
	return fmt.Sprintf("distinct %d, lost %d, phantoms %d, inversions %d, duplicates %d", r.Of(history.Lost).N("delivered"),
		r.Of(history.Lost).Broken, r.Of(history.Phantom).Broken, r.Of(history.Order).Broken, r.Of(history.Duplicates).N("duplicates"))
}

// write records it all. That each message of a key was committed before the next was begun is all that is known of the
// writers' times, so these are numbers of their own: they are compared with nothing else.
func write(to history.Recorder, arrivals []Arrival, committed map[string]int, payload Payload, faults *Faults) {
	tx := history.Tx(0)
	for key, count := range committed {
		for n := range count {
			begin := 2 * time.Duration(n)
			intent := history.Intent{Tx: tx, ID: name(key, n), Key: key, Begin: begin, End: begin}
			if payload != nil {
				intent.Payload = history.Sum(payload(key, n))
			}
			to.Intend(intent)
			to.End(history.Outcome{Tx: tx, Fate: history.Committed, Begin: begin, End: begin + 1})
			tx++
		}
	}
	for i, a := range arrivals {
		d := history.Delivery{ID: name(a.Key, a.N), Key: a.Key, Position: uint64(i), Payload: a.Sum}
		if a.Phantom {
			d.ID = history.Name(fmt.Sprintf("phantom %s/%d", a.Key, a.N))
		}
		if !a.To.IsZero() {
			d.From, d.To = since(a.From), since(a.To)
		}
		to.Deliver(d)
	}
	if faults == nil {
		return
	}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	for _, f := range faults.all {
		to.Break(f)
	}
}

func name(key string, n int) history.ID { return history.Name(fmt.Sprintf("%s/%d", key, n)) }
