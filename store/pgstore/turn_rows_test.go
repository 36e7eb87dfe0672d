package pgstore_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// A message that waits keeps its own bytes in memory, and not those of a page that was refused.
//
//nolint:paralleltest // it measures the memory of the process
func TestAMessageThatIsTakenAloneDoesNotKeepThePageOfThoseRefused(t *testing.T) {
	const rows, width = 2000, 4000
	inUse := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	wide := strings.Repeat("x", width)
	take := func(f store.Filter) (kept []store.Record) {
		all, err := pgstore.ReadPage(f, rows, func(i int) string { return `{"n":"` + strconv.Itoa(i) + `","wide":"` + wide + `"}` },
			func(i int) string { return strconv.Itoa(i) + wide })
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if !r.Filtered {
				kept = append(kept, r)
			}
		}
		return kept
	}
	before := inUse()
	kept := take(store.Filter{Where: store.Where{Headers: []string{"n=7", "n=1999"}}})
	if grown := inUse() - before; grown > 4<<20 {
		t.Errorf("two messages of %d bytes keep %d in memory", 2*width, grown)
	}
	if len(kept) != 2 {
		t.Fatalf("%d of two messages are taken", len(kept))
	}
	for i, n := range []string{"7", "1999"} {
		r := &kept[i]
		if string(r.Payload) != n+wide || len(r.Headers) != 2 || r.Headers["n"] != n || r.Headers["wide"] != wide || r.Topic != "topic" || r.Key != "key" || r.ShardKey != "" || r.Type != "type" {
			t.Errorf("message %s came otherwise than it was stored: %+v", n, r)
		}
	}
	if all := take(store.Filter{Where: store.Where{Headers: []string{"n"}}}); len(all) != rows || string(all[rows-1].Payload) != "1999"+wide {
		t.Errorf("of a page that is taken whole %d messages came", len(all))
	}
}
