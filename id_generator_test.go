package postbag

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// atMillis is a moment that many milliseconds after 1970.
func atMillis(ms int64) time.Time { return time.UnixMilli(ms) }

func grows(a, b ID) bool { return bytes.Compare(a[:], b[:]) < 0 }

func TestDrawLaysOutTheFieldsOfVersionSeven(t *testing.T) {
	t.Parallel()
	when := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		random [10]byte
		want   string
	}{
		{"no random bit", [10]byte{}, "017f22e2-79b0-7000-8000-000000000000"},
		{"every random bit", [10]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, "017f22e2-79b0-77ff-bfff-ffffffffffff"},
		{"the counter's seed alone", [10]byte{0x07, 0xff, 0xff}, "017f22e2-79b0-77ff-bfc0-000000000000"},
		{"all but the seed", [10]byte{3: 255, 255, 255, 255, 255, 255, 255}, "017f22e2-79b0-7000-803f-ffffffffffff"},
		{"one bit of the counter's middle", [10]byte{0, 0x01, 0x00}, "017f22e2-79b0-7001-8000-000000000000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var g generator
			id := g.draw(when, tc.random)
			if id.String() != tc.want {
				t.Errorf("drew %v, want %v", id, tc.want)
			}
			if id.Time() != when {
				t.Errorf("Time() = %v, want %v", id.Time(), when)
			}
		})
	}
}

func TestGeneratedTimestampsNeverRepeatOrGoBack(t *testing.T) {
	t.Parallel()
	type draw struct {
		ms   int64
		seed uint64
		want uint64
	}
	const one = 1 << counterBits // a millisecond
	for _, tc := range []struct {
		name  string
		draws []draw
	}{
		{"within a millisecond it counts from the first seed, whatever the later ones", []draw{
			{5, 100, 5*one + 100}, {5, 400_000, 5*one + 101}, {5, 0, 5*one + 102},
		}},
		{"a new millisecond has a new seed", []draw{{5, 100, 5*one + 100}, {6, 7, 6*one + 7}}},
		{"a clock that steps back is overtaken by counting on", []draw{
			{1000, 9, 1000*one + 9}, {3, 0, 1000*one + 10}, {999, 5, 1000*one + 11}, {1001, 2, 1001*one + 2},
		}},
		{"before 1970 counts as 1970", []draw{{-1, 3, 1}, {-1 << 62, 3, 2}, {0, 3, 3}, {1, 3, one + 3}}},
		{"beyond the years that fit counts as the last", []draw{
			{1<<63 - 1, 1, maxMillis<<counterBits + 1}, {1 << 62, 0, maxMillis<<counterBits + 2},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var g generator
			for i, d := range tc.draws {
				if got := g.next(d.ms, d.seed); got != d.want {
					t.Fatalf("draw %d: next(%d, %d) = %d, want %d", i, d.ms, d.seed, got, d.want)
				}
			}
		})
	}
}

func TestACounterThatRunsOverCarriesIntoTheMilliseconds(t *testing.T) {
	t.Parallel()
	var g generator
	g.last.Store(8<<counterBits - 1) // millisecond 7, counter full
	before := g.draw(atMillis(7), [10]byte{})
	if got := before.Time().UnixMilli(); got != 8 {
		t.Errorf("after the carry the time is %d ms, want 8", got)
	}
	after := g.draw(atMillis(7), [10]byte{})
	if !grows(before, after) {
		t.Errorf("%v does not grow to %v", before, after)
	}
}

func TestIDsGrowWithTheClockAndWithinAMillisecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g generator
		var last ID
		for range 5 {
			for range 1000 { // the bubble's clock stands still meanwhile
				id := g.draw(time.Now(), [10]byte{0: 255, 3: 255})
				if !grows(last, id) {
					t.Fatalf("%v does not grow to %v", last, id)
				}
				if got := id.Time(); !got.Equal(time.Now()) {
					t.Fatalf("Time() = %v, want %v", got, time.Now())
				}
				last = id
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // moves the clock of the bubble and takes no time
		}
	})
}

func TestNewIDIsDistinctAndGrowsInEveryGoroutine(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 5000
	drawn := make([][]ID, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for range each {
				drawn[g] = append(drawn[g], NewID())
			}
		})
	}
	wg.Wait()
	for g, ids := range drawn {
		for i := 1; i < len(ids); i++ {
			if !grows(ids[i-1], ids[i]) {
				t.Fatalf("goroutine %d: %v does not grow to %v", g, ids[i-1], ids[i])
			}
		}
	}
	all := slices.Concat(drawn...)
	seen := make(map[ID]bool, len(all))
	for _, id := range all {
		if seen[id] {
			t.Fatalf("%v was drawn twice", id)
		}
		seen[id] = true
		if id[6]>>4 != 7 || id[8]>>6 != 2 {
			t.Fatalf("%v is not of version 7", id)
		}
	}
}

func TestNewIDHoldsTheCurrentTime(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	id := NewID()
	// Other tests draw faster than the counter seeds allow only by far less
	// than this.
	if got := id.Time(); got.Before(before) || got.After(time.Now().Add(time.Minute)) {
		t.Errorf("drawn at %v, Time() = %v", before, got)
	}
}

// FuzzDraw holds that IDs grow and are of version 7 for any three moments in any
// order and any random bytes.
func FuzzDraw(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0), []byte{})
	f.Add(int64(-1), int64(1<<62), int64(5), []byte("0123456789abcdefghijklmnopqrst"))
	f.Fuzz(func(t *testing.T, a, b, c int64, random []byte) {
		var g generator
		var last ID
		for i, ms := range []int64{a, b, c} {
			var r [10]byte
			if len(random) > i*10 {
				copy(r[:], random[i*10:])
			}
			id := g.draw(time.UnixMilli(ms), r)
			if !grows(last, id) {
				t.Fatalf("%v does not grow to %v", last, id)
			}
			if id[6]>>4 != 7 || id[8]>>6 != 2 || id.IsZero() {
				t.Fatalf("%v is not of version 7", id)
			}
			last = id
		}
	})
}

func BenchmarkNewID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewID()
	}
}

func BenchmarkNewIDParallel(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			NewID()
		}
	})
}
