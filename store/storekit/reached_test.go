package storekit

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// marked is the n-th mark of a database.
func marked(begin time.Time, n int) store.Watermark {
	return store.Watermark{Database: "one", Place: string(rune('a' + n)), At: begin.Add(time.Duration(n) * time.Second)}
}

// none is a replica that has reached no mark.
func none(context.Context, []store.Watermark) (int, error) { return 0, nil }

// all is one that has reached all.
func all(_ context.Context, marks []store.Watermark) (int, error) { return len(marks), nil }

func TestWhatOneReplicaHasReachedIsNotSaidOfAnother(t *testing.T) {
	t.Parallel()
	var r Reached
	begin := time.Now().Add(-time.Minute)
	if at, err := r.Ask(t.Context(), marked(begin, 0), all); err != nil || !at.Equal(begin) {
		t.Fatalf("it has reached %v: %v", at, err)
	}
	r.Forget()
	if r.Behind() != 0 {
		t.Errorf("of another replica it is known that it is %v behind", r.Behind())
	}
	if at, err := r.Ask(t.Context(), marked(begin, 1), none); !errors.Is(err, store.ErrBehind) {
		t.Errorf("another replica has reached %v: %v", at, err)
	}
	// It reaches a mark that was made before.
	second := func(_ context.Context, marks []store.Watermark) (n int, err error) {
		for n < len(marks) && marks[n].Place <= "b" {
			n++
		}
		return n, nil
	}
	if at, err := r.Ask(t.Context(), marked(begin, 2), second); err != nil || !at.Equal(begin.Add(time.Second)) {
		t.Errorf("it has reached %v: %v", at, err)
	}
}

// While the answer was under way the sessions got to another replica.
func TestAnAnswerOfTheReplicaBeforeIsNotBelieved(t *testing.T) {
	t.Parallel()
	var r Reached
	begin, asked := time.Now().Add(-time.Minute), 0
	moved := func(_ context.Context, marks []store.Watermark) (int, error) {
		if asked++; asked > 1 {
			return 0, nil
		}
		r.Forget()
		return len(marks), nil
	}
	if at, err := r.Ask(t.Context(), marked(begin, 0), moved); !errors.Is(err, store.ErrBehind) || asked < 2 {
		t.Errorf("after %d looks it has reached %v: %v", asked, at, err)
	}
}
