package login

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, s, a := newLimit(time.Second), newSessions(time.Hour, time.Hour), attempts{open: make(map[string]attempt)}
		for i := range 3 * mostLimited {
			l.take(strconv.Itoa(i))
		}
		if len(l.tried) != mostLimited || l.latest.Len() != mostLimited {
			t.Errorf("a limit remembers %d and %d names", len(l.tried), l.latest.Len())
		}
		for i := range mostLimited {
			l.take(strconv.Itoa(i))
			if len(l.tried) > mostLimited {
				t.Fatalf("a limit remembers %d names", len(l.tried))
			}
		}
		for i := range mostAttempts + 100 {
			a.begin(strconv.Itoa(i))
		}
		if len(a.open) != mostAttempts {
			t.Errorf("%d attempts are under way", len(a.open))
		}
		for i := range mostSessions {
			s.open[[32]byte{byte(i), byte(i >> 8), 1}] = &session{name: strconv.Itoa(i), began: time.Now(), used: time.Now()}
		}
		s.begin(session{name: "ann"})
		if len(s.open) != mostSessions {
			t.Errorf("%d sessions are there", len(s.open))
		}
	})
}

func TestManyOtherNamesDoNotFreeOneThatHasTriedTooOften(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access")
	if err := os.WriteFile(path, []byte("user ann - viewer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	access, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Options{Access: access})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if !l.mayTry("ann") {
			t.Fatal("a name may try less than ten times")
		}
	}
	for i := range 3 * mostLimited {
		l.mayTry(strconv.Itoa(i))
	}
	if l.mayTry("ann") {
		t.Error("after many other names it may try again")
	}
}

func TestAFileThatTakesThePlaceOfAnotherIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, next := filepath.Join(dir, "access"), filepath.Join(dir, "next")
	then := time.Unix(1, 0) // as some tools write all files
	for at, line := range map[string]string{path: "user ann - viewer\n", next: "user bob - viewer\n"} {
		if err := errors.Join(os.WriteFile(at, []byte(line), 0o600), os.Chtimes(at, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	access, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	access.looked = time.Time{}
	if access.knows("ann") || !access.knows("bob") {
		t.Error("the file of before holds")
	}
}

func TestAnAttemptEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := attempts{open: make(map[string]attempt)}
		id, _ := a.begin("")
		late, _ := a.begin("")
		time.Sleep(attemptTime - time.Second) //nolint:forbidigo // the clock is the bubble's
		if _, there := a.take(id); !there {
			t.Error("an attempt ended too early")
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock is the bubble's
		if _, there := a.take(late); there {
			t.Error("an attempt of ten minutes ago can be finished")
		}
	})
}
