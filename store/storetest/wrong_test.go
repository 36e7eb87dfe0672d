package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// wrong is a plausible mistake in a store, and the cases that must see it.
type wrong struct {
	name   string
	make   func(*database)
	caught []string
}

// wrongs are all of them.
func wrongs() []wrong {
	return slices.Concat(wrongReads(), wrongSettlements(), wrongWrites(), wrongMarks(), wrongForgets(), wrongLanes(), wrongLetters(), wrongRetentions(), wrongReplays(), wrongPauses(), wrongOperations(), wrongStewards(), wrongFilters(), wrongKeys(), wrongLists(), wrongRules(), wrongTunes(), wrongNotes(), wrongErrorNotes(), wrongRevisions(), wrongErasures())
}

// TestWrongStoresAreCaught shows that cases fail for what they are there for.
func TestWrongStoresAreCaught(t *testing.T) {
	t.Parallel()
	byName := map[string]scenario{}
	for _, c := range cases() {
		byName[c.name] = c
	}
	for _, w := range wrongs() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range w.caught {
				c, ok := byName[name]
				if !ok {
					t.Errorf("there is no case %q", name)
					continue
				}
				tries := 1
				if strings.HasPrefix(name, "Many writers") || strings.HasPrefix(name, "Many mark the same") {
					tries = 200 // they catch a mistake when two writers meet, which they need not do each time
				}
				r := &recorder{}
				for ; tries > 0 && !r.failed; tries-- {
					r = record(t, func(tb testing.TB) { c.run(newEnv(tb, harness(400*time.Millisecond, w.make))) })
				}
				if !r.failed {
					t.Errorf("the case %q passes (skipped: %v)", name, r.skipped)
				}
			}
		})
	}
}

// TestTheCorrectReferenceStorePasses shows that what fails above fails for its wrong,
// and not for being recorded.
func TestTheCorrectReferenceStorePasses(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, w := range wrongs() {
		for _, name := range w.caught {
			named[name] = true
		}
	}
	for _, c := range cases() {
		if !named[c.name] {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := record(t, func(tb testing.TB) { c.run(newEnv(tb, harness(20*time.Second, func(*database) {}))) })
			if r.failed || r.skipped {
				t.Errorf("on the reference itself: %q", r.said)
			}
		})
	}
}

// TestCaseNamesAreUnique keeps two cases from hiding each other.
func TestCaseNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range cases() {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
	}
	if len(seen) < 50 {
		t.Errorf("the suite has %d cases, fewer than 50", len(seen))
	}
}
