package sqlitestore

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// event is one of inotify(7) about a name.
func event(mask uint32, name string) []byte {
	room := 16 * (len(name)/16 + 1)
	out := make([]byte, syscall.SizeofInotifyEvent+room)
	binary.NativeEndian.PutUint32(out[4:], mask)
	binary.NativeEndian.PutUint32(out[12:], uint32(room))
	copy(out[syscall.SizeofInotifyEvent:], name)
	return out
}

func TestInotifyEventsOfTheFileAreRecognised(t *testing.T) {
	t.Parallel()
	other, own := event(syscall.IN_MODIFY, "a.db"), event(syscall.IN_MODIFY, "a.db-wal")
	for name, c := range map[string]struct {
		events []byte
		want   bool
	}{
		"none":            {nil, false},
		"another's":       {other, false},
		"its own":         {own, true},
		"behind others":   {append(append(append([]byte{}, other...), other...), own...), true},
		"events lost":     {event(syscall.IN_Q_OVERFLOW, ""), true},
		"one that is cut": {own[:len(own)-1], true},
		"no whole event":  {own[:8], false},
	} {
		if got := names(c.events, "a.db-wal"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestChangesOfTheFileAreNoticedAndOfOthersNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db-wal")
	c := follow(path)
	if c == nil {
		t.Fatal("the kernel gives no watch")
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.db-wal")
	<-c.seen // it is made and written: one or two events
	c.close()
	if _, open := <-c.seen; open {
		t.Error("something is heard after the end")
	}
	c = follow(path)
	write("b.db-wal")
	c.close()
	if _, heard := <-c.seen; heard {
		t.Error("a neighbour's change is told")
	}
	if follow(filepath.Join(dir, "none", "a.db-wal")) != nil {
		t.Error("a folder that is missing is followed")
	}
}
