package chaos_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

func someFaults() (all []chaos.Fault) {
	for i := range 5 {
		all = append(all,
			chaos.Fault{Name: fmt.Sprint("db", i), Room: chaos.Databases, Least: time.Second, Most: 3 * time.Second},
			chaos.Fault{Name: fmt.Sprint("relay", i), Room: chaos.Processes})
	}
	return append(all, chaos.Fault{Name: "always", Room: chaos.Databases, Throughout: true})
}

func TestASeedAlwaysDrawsTheSameSchedule(t *testing.T) {
	t.Parallel()
	one, same, other := chaos.Draw(someFaults(), time.Hour, 1), chaos.Draw(someFaults(), time.Hour, 1), chaos.Draw(someFaults(), time.Hour, 2)
	if !slices.Equal(one, same) {
		t.Error("one seed drew two schedules")
	}
	if slices.Equal(one, other) {
		t.Error("two seeds drew one schedule")
	}
}

func TestEachFaultOfAPlaceOccursOnceBeforeAnyOccursAgain(t *testing.T) {
	t.Parallel()
	faults := someFaults()
	end, counts := map[chaos.Room]time.Duration{}, map[string]int{}
	for _, b := range chaos.Draw(faults, time.Hour, 7) {
		if b.At < end[b.Room] {
			t.Errorf("%s begins at %v, before the one ahead of it in its room ends", b.Fault, b.At)
		}
		end[b.Room] = b.At + b.For
		if end[b.Room] > time.Hour {
			t.Errorf("%s lasts beyond the run", b.Fault)
		}
		counts[b.Fault]++
		for _, f := range faults {
			if f.Room == b.Room && !f.Throughout && counts[f.Name] < counts[b.Fault]-1 {
				t.Fatalf("%s came %d times, %s %d times", b.Fault, counts[b.Fault], f.Name, counts[f.Name])
			}
		}
	}
	if len(counts) != 10 {
		t.Errorf("%d of 10 faults came: %v", len(counts), counts)
	}
}

func TestAScheduleIsPrintedWithOneLinePerFault(t *testing.T) {
	t.Parallel()
	plan := chaos.Draw(someFaults(), time.Minute, 7)
	var b strings.Builder
	if err := chaos.PrintSchedule(&b, plan); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != len(plan) || !strings.Contains(b.String(), plan[0].Fault) {
		t.Errorf("%d lines for %d blows:\n%s", n, len(plan), b.String())
	}
}
