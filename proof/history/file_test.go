package history

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAHistoryIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		h, _ := random(seed)
		full := calm()
		full.records.replay(h)
		h.Break(Fault{Kind: "k", Target: "t", Begin: -second, End: second, Window: -1, Stops: true, Rewinds: true, RewoundTo: -2 * second})
		h.Intend(Intent{Tx: 1<<64 - 1, Index: 1<<32 - 1, Box: "box", Topic: "topic", Key: "\x00\xff", Due: second, Poison: true, Begin: -1, End: -2})
		h.Deliver(Delivery{Subscription: "sub", Key: "k", Place: "p/1", Position: 1<<64 - 1, From: 1, To: 2})
		h.Apply(Effect{Subscription: "sub", Key: "k", Payload: Sum(nil), Position: 1<<64 - 1, At: 3})
		h.Hold(Stored{Subscription: "sub", State: Dead, Attempts: 7})
		h.Order(Command{Subscription: "sub", What: Cancel, Unknown: true, Begin: 1, End: 2})
		h.Refuse(Refusal{Subscription: "sub", At: 3})
		h.Wait(Gap{Kind: Resume, Of: "r", Begin: 1, End: -1})
		var back History
		for _, name := range writeFiles(t, h, 1) {
			if wasTorn, err := ReadFile(name, &back); wasTorn || err != nil {
				t.Fatal(wasTorn, err)
			}
		}
		for _, same := range []bool{
			equal(h.intents, back.intents), equal(h.outcomes, back.outcomes), equal(h.deliveries, back.deliveries),
			equal(h.refusals, back.refusals), equal(h.stored, back.stored), equal(h.commands, back.commands),
			equal(h.faults, back.faults), equal(h.gaps, back.gaps), equal(h.watches, back.watches),
			equal(h.effects, back.effects),
		} {
			if !same {
				t.Fatal("a record came back changed")
			}
		}
	}
}

func equal[T comparable](a, b []T) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// A writer that was killed has written any part of its file: all whole records are read, and nothing else.
func TestATruncatedFileIsReadToItsLastWholeRecord(t *testing.T) {
	t.Parallel()
	name := writeFiles(t, calm(), 1)[0]
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	last, whole := 0, 0
	for n := range len(text) + 1 {
		var h History
		wasTorn, err := Read(bytes.NewReader(text[:n]), &h)
		if err != nil {
			t.Fatal(n, err)
		}
		records := len(h.intents) + len(h.outcomes) + len(h.deliveries) + len(h.refusals) + len(h.stored) + len(h.commands) +
			len(h.faults) + len(h.gaps) + len(h.watches) + len(h.effects)
		if records < last || records > last+1 {
			t.Fatalf("%d bytes give %d records, a byte less %d", n, records, last)
		}
		if isWhole := records > last || n == len(fileHeader); wasTorn == isWhole {
			t.Fatalf("%d bytes, %d records, torn %v", n, records, wasTorn)
		}
		if !wasTorn {
			whole++
		}
		last = records
	}
	if whole != last+1 || last < 30 {
		t.Errorf("%d whole files, %d records", whole, last)
	}
}

func TestAFileThatIsDamagedIsRefused(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(writeFiles(t, calm(), 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		damaged := bytes.Clone(text)
		damaged[n] ^= 0x10
		var h History
		wasTorn, err := Read(bytes.NewReader(damaged), &h)
		if err == nil && !wasTorn {
			t.Fatalf("byte %d of %d was changed, and nobody has seen it", n, len(text))
		}
	}
}

func TestATruncatedFileIsCountedAndItsTransactionsAreUnknown(t *testing.T) {
	t.Parallel()
	h := &History{}
	h.Intend(Intent{Tx: 1, ID: id(1), Key: "a"})
	h.End(Outcome{Tx: 1, Fate: Committed, End: 1})
	name := writeFiles(t, h, 1)[0]
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, text[:len(text)-1], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := CheckFiles([]string{name}, Options{}, Space{Dir: t.TempDir()})
	if err != nil || !r.Held() || r.Of(Sound).N("torn ends of files") != 1 {
		t.Error(r, err)
	}
}

func TestAFileThatIsNoHistoryIsRefused(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("something else altogether"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		names []string
		o     Options
		want  string
	}{
		{[]string{other}, Options{}, "does not begin as a history"},
		{[]string{other + "/gone"}, Options{}, "gone"},
		{nil, Options{InFlight: -1, Resume: -1}, "Options.Resume"},
	} {
		if _, err := CheckFiles(one.names, one.o, Space{}); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%v instead of %q", err, one.want)
		}
	}
}

func TestAFileIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	name := writeFiles(t, &History{}, 1)[0]
	if _, err := Create(name, 0); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
}

func TestARecordIsInTheFileWhenItsCallReturns(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "h")
	w, err := Create(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for n := range 5 {
		w.Intend(Intent{ID: id(n)})
		var h History
		if wasTorn, err := ReadFile(name, &h); wasTorn || err != nil || len(h.intents) != n+1 {
			t.Fatal(wasTorn, err, len(h.intents))
		}
	}
}

func TestARecordThatIsTooLongIsAnErrorOfTheWriter(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "h")
	w, err := Create(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Intend(Intent{ID: id(1)})
	w.Intend(Intent{ID: id(2), Key: strings.Repeat("k", mostRecord)})
	w.Intend(Intent{ID: id(3)})
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Error(err)
	}
	var h History
	if wasTorn, err := ReadFile(name, &h); wasTorn || err != nil || len(h.intents) != 1 {
		t.Error(wasTorn, err, len(h.intents))
	}
}

func FuzzReadSurvivesAnyFile(f *testing.F) {
	f.Add([]byte(fileHeader))
	f.Add([]byte(fileHeader + "\x02\x05\x01abcd"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		var h History
		_, _ = Read(bytes.NewReader(text), &h) // whatever it says, it comes back
	})
}

func TestClocksOfOneOriginAgree(t *testing.T) {
	t.Parallel()
	origin := time.Now().Add(-time.Hour)
	a, b := NewClock(origin), NewClock(time.Unix(0, origin.UnixNano()))
	now := time.Now()
	for _, c := range []*Clock{a, b} {
		if d := c.At(now) - time.Hour; d < 0 || d > time.Minute {
			t.Errorf("an hour after the origin it is %v", c.At(now))
		}
		if d := c.Now() - c.At(now); d < 0 || d > time.Minute {
			t.Errorf("now is %v after now", d)
		}
	}
	if d := a.At(now) - b.At(now); d < -time.Microsecond || d > time.Microsecond {
		t.Errorf("they differ by %v", d)
	}
}
