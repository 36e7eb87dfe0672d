package ndjson

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReaderCutsLinesIntoBatchesAndKeepsTheirNumbers(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 7 {
		fmt.Fprintf(&text, "  {\"key\":\"%d\"}\r\n\n", i+1) // a message on each odd line
	}
	r := NewReader(iotest.OneByteReader(strings.NewReader(strings.TrimSpace(text.String()))))
	f := func(want ...int) error {
		t.Helper()
		b, err := r.Batch(3)
		if b.Faulty > 0 || !slices.Equal(b.Lines, want) || len(b.Messages) != len(want) {
			t.Errorf("the batch has lines %v with %d messages and %v, want lines %v", b.Lines, len(b.Messages), b.Faults, want)
		}
		return err
	}
	if err := errors.Join(f(1, 3, 5), f(7, 9, 11)); err != nil {
		t.Error(err)
	}
	if err := f(13); !errors.Is(err, io.EOF) {
		t.Errorf("after the last line the error is %v, want io.EOF", err)
	}
	if err := f(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end the error is %v, want io.EOF", err)
	}
}

func TestReaderNamesTheLinesThatAreWrong(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader("{}\nno\n{}\n[]\n"))
	b, err := r.Batch(10)
	if !errors.Is(err, io.EOF) || b.Faulty != 2 || len(b.Messages) != 2 {
		t.Fatalf("the batch has %d messages, %d faults and %v", len(b.Messages), b.Faulty, err)
	}
	for i, want := range []string{"line 2 is no JSON object", "line 4 is no JSON object"} {
		if !strings.HasPrefix(b.Faults[i].Error(), want) {
			t.Errorf("fault %d is %v, want %s", i, b.Faults[i], want)
		}
	}
}

func TestReaderNamesALimitedNumberOfFaults(t *testing.T) {
	t.Parallel()
	b, _ := NewReader(strings.NewReader(strings.Repeat("no\n", 100))).Batch(1000)
	if b.Faulty != 100 || len(b.Faults) != maxFaults {
		t.Errorf("%d lines are wrong and %d are named, want 100 and %d", b.Faulty, len(b.Faults), maxFaults)
	}
}

func TestReaderRefusesALineThatIsTooLongAndGoesOn(t *testing.T) {
	t.Parallel()
	long := io.LimitReader(endless{}, lineBytes+1000)
	r := NewReader(io.MultiReader(strings.NewReader("{}\n"), long, strings.NewReader("\n{}\n")))
	b, err := r.Batch(10)
	if !errors.Is(err, io.EOF) || b.Faulty != 1 || !slices.Equal(b.Lines, []int{1, 3}) {
		t.Errorf("lines %v, %d faults %v, %v; want lines 1 and 3, and line 2 refused", b.Lines, b.Faulty, b.Faults, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReaderSkipsLines(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader("{}\nno\n{}\n"))
	if err := r.Skip(2); err != nil {
		t.Fatal(err)
	}
	if b, err := r.Batch(10); !errors.Is(err, io.EOF) || !slices.Equal(b.Lines, []int{3}) || b.Faulty != 0 {
		t.Errorf("behind two lines there are %v and %v (%v), want line 3", b.Lines, b.Faults, err)
	}
	if err := r.Skip(10); !errors.Is(err, io.EOF) {
		t.Errorf("skipping beyond the end answers %v, want io.EOF", err)
	}
}

func TestReaderReturnsTheErrorOfItsSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	b, err := NewReader(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(broken))).Batch(10)
	if !errors.Is(err, broken) || len(b.Messages) != 1 {
		t.Errorf("%d messages and %v, want one and the source's error", len(b.Messages), err)
	}
}
