package history

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What the process of a test is told in its environment to be a check of files, so that its memory is its own.
const (
	envFiles  = "POSTBAG_TEST_FILES"
	envMemory = "POSTBAG_TEST_MEMORY"
)

func TestMain(m *testing.M) {
	if names := os.Getenv(envFiles); names != "" {
		os.Exit(beCheck(strings.Split(names, "\n"), os.Getenv(envMemory)))
	}
	os.Exit(m.Run())
}

// beCheck checks files, and says what memory it took at most: what Go had of the system, which it never gives back in this
// sense, and where the system tells it, what was really in use, which with the race detector is several times that.
func beCheck(names []string, memory string) int {
	var s Space
	_, err := fmt.Sscan(memory, &s.Memory)
	var r *Report
	if err == nil {
		r, err = CheckFiles(names, bigOptions(), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text := fmt.Sprintf("taken %d\n%s", m.Sys, r)
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		peak, _, _ := strings.Cut(after, "\n")
		text += fmt.Sprintf("peak in use %s\n", strings.TrimSpace(peak))
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return 1
	}
	return 0
}

func bigOptions() Options { return Options{InFlight: 1000, Slack: 10 * second, Examples: 1} }

// writeBig writes a history of about n events into files, those of producers and one of a reader: transactions of up to eight
// messages, many at a time, one of a thousand keys hot. One message is lost, two are swapped, one is damaged.
func writeBig(t *testing.T, n int) (names []string, messages int) {
	t.Helper()
	const producers = 4
	dir := t.TempDir()
	files := make([]*Writer, producers+1)
	for i := range files {
		name := filepath.Join(dir, fmt.Sprint("part", i))
		w, err := Create(name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		files[i], names = w, append(names, name)
	}
	r := rand.New(rand.NewPCG(7, 7))
	reader, tx, position := files[producers], Tx(0), uint64(0)
	for at := time.Duration(0); messages*2+int(tx) < n; at += time.Millisecond {
		tx++
		w, rolled := files[r.IntN(producers)], r.IntN(20) == 0
		key := "hot"
		if r.IntN(4) > 0 {
			key = fmt.Sprint("key-", r.IntN(1000))
		}
		ended := at + time.Duration(r.IntN(int(time.Millisecond)))
		for i := range 1 + r.IntN(8) {
			var id ID
			binary.BigEndian.PutUint64(id[:], r.Uint64())
			binary.BigEndian.PutUint64(id[8:], uint64(messages))
			sum := Hash{0: 1, 1: byte(messages)}
			w.Intend(Intent{Tx: tx, Index: uint32(i), ID: id, Box: "outbox", Topic: "events", Key: key, Payload: sum, Begin: at, End: at + 1})
			messages++
			if rolled || messages == n/5 {
				continue
			}
			position++
			d := Delivery{ID: id, Key: key, Payload: sum, Place: "EVENTS", Position: position, From: ended + second, To: ended + second}
			switch messages {
			case n/5 + 1000:
				d.Position += 100_000
			case n/5 + 2000:
				d.Payload[9]++
			}
			reader.Deliver(d)
		}
		fate := Committed
		if rolled {
			fate = RolledBack
		}
		w.End(Outcome{Tx: tx, Fate: fate, Begin: ended, End: ended})
	}
	for _, w := range files {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return names, messages
}

// In short form 100,000 events are checked in 64 MiB, and in full ten million in 256 MiB.
func TestMillionsOfEventsAreCheckedInBoundedMemory(t *testing.T) {
	t.Parallel()
	events, memory := 100_000, 64<<20
	if os.Getenv("POSTBAG_FULL") == "1" {
		events, memory = 10_000_000, 256<<20
	}
	names, messages := writeBig(t, events)
	bytes := int64(0)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envFiles+"="+strings.Join(names, "\n"), envMemory+"="+fmt.Sprint(memory), "TMPDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var taken int
	if _, err := fmt.Sscanf(string(out), "taken %d", &taken); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events of %d messages in %d MiB, checked in %v\n%s", events, messages, bytes>>20, time.Since(began).Round(time.Millisecond), out)
	if taken > memory {
		t.Errorf("it took %d MiB, and may take %d MiB", taken>>20, memory>>20)
	}
	for _, want := range []string{"lost         BROKEN 1 times", "bytes        BROKEN 1 times", "order        BROKEN "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it did not find that %s", want)
		}
	}
	for _, want := range []string{"sound        held", "phantom      held", "duplicates   held"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it did not find that %s", want)
		}
	}
}

// BenchmarkCheck is a history as a simulator makes them: 200 messages.
func BenchmarkCheck(b *testing.B) {
	h := &History{}
	for b.Loop() {
		h.Reset()
		fill(h, 200)
		if r := h.Check(Options{Slack: second}); !r.Held() {
			b.Fatal(r)
		}
	}
}

// fill makes a history of n messages that holds all promises.
func fill(h *History, n int) {
	for i := range n {
		at := time.Duration(i) * time.Millisecond
		h.Intend(Intent{Tx: Tx(i / 3), Index: uint32(i % 3), ID: ID{byte(i * 7), byte(i), byte(i >> 8)}, Key: names[i%len(names)], Begin: at, End: at + 1})
		if i%3 == 2 || i == n-1 {
			h.End(Outcome{Tx: Tx(i / 3), Fate: Committed, Begin: at + 2, End: at + 3})
		}
		h.Deliver(Delivery{ID: ID{byte(i * 7), byte(i), byte(i >> 8)}, Key: names[i%len(names)], Position: uint64(i), From: at + 10, To: at + 10})
	}
}

var names = []string{"a", "b", "c", "d", "e"}

//nolint:paralleltest // it counts the allocations of the process
func TestACheckThatIsUsedAgainAllocatesLittle(t *testing.T) {
	h := &History{}
	once := func() {
		h.Reset()
		fill(h, 200)
		if r := h.Check(Options{}); !r.Held() {
			t.Fatal(r)
		}
	}
	once()
	if n := testing.AllocsPerRun(100, once); n > 20 {
		t.Errorf("%v allocations for a history of 200 messages", n)
	}
}
