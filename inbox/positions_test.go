package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store/memstore"
)

func newPositions(t *testing.T, s *memstore.Store) *inbox.Positions[*memstore.Tx] {
	t.Helper()
	p, err := inbox.NewPositions(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPositionsWithoutAStoreAreRefused(t *testing.T) {
	t.Parallel()
	_, plain := inbox.NewPositions[*memstore.Tx](nil)
	_, typed := inbox.NewPositions[*memstore.Tx]((*memstore.Store)(nil))
	for _, err := range []error{plain, typed} {
		if err == nil || !strings.Contains(err.Error(), "positions need a store") {
			t.Errorf("a nil store: %v", err)
		}
	}
}

func TestAPositionIsKeptByWhoOpenedItLastAndByNobodyElse(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	old, young := newPositions(t, s), newPositions(t, s)
	const name = "rabbitmq stream orders billing"
	open := func(p *inbox.Positions[*memstore.Tx], record string) int64 {
		t.Helper()
		epoch, got, err := p.OpenPosition(t.Context(), name)
		if err != nil || string(got) != record || (got == nil) != (record == "") {
			t.Fatalf("the position was opened with the record %q, %v; want %q", got, err, record)
		}
		return epoch
	}
	keep := func(p *inbox.Positions[*memstore.Tx], epoch int64, record string, want bool) {
		t.Helper()
		if ours, err := p.KeepPosition(t.Context(), name, epoch, []byte(record)); ours != want || err != nil {
			t.Errorf("kept with epoch %d: %v, %v; want %v", epoch, ours, err, want)
		}
	}
	keep(old, 1, "nobody has opened it", false)
	first := open(old, "")
	keep(old, first, "a", true)
	second := open(young, "a")
	keep(old, first, "of the zombie", false)
	for _, epoch := range []int64{0, -1, second + 1} {
		keep(old, epoch, "of nobody", false)
	}
	keep(young, second, "b", true)
	open(old, "b")
}

func TestNamesAndRecordsOfPositionsHaveBounds(t *testing.T) {
	t.Parallel()
	p := newPositions(t, memstore.New(memstore.Options{}))
	for _, name := range []string{"", strings.Repeat("x", 501)} {
		if _, _, err := p.OpenPosition(t.Context(), name); err == nil || !strings.Contains(err.Error(), "give it 1 to 500") {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
		if ours, err := p.KeepPosition(t.Context(), name, 1, []byte("r")); ours || err == nil {
			t.Errorf("a name of %d bytes is kept: %v", len(name), err)
		}
	}
	name := strings.Repeat("x", 500)
	epoch, _, err := p.OpenPosition(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]bool{0: false, 1: true, 1024: true, 1025: false} {
		if ours, err := p.KeepPosition(t.Context(), name, epoch, bytes.Repeat([]byte("r"), size)); ours != want || (err == nil) != want {
			t.Errorf("a record of %d bytes: %v, %v", size, ours, err)
		}
	}
}

func TestAPositionWhoseStoreFailsIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is away")
	s := memstore.New(memstore.Options{})
	p := newPositions(t, s)
	epoch, _, err := p.OpenPosition(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if _, _, err := p.OpenPosition(over, "orders"); err == nil || !strings.Contains(err.Error(), `open position "orders"`) {
		t.Errorf("OpenPosition: %v", err)
	}
	if ours, err := p.KeepPosition(over, "orders", epoch, []byte("r")); ours || err == nil || !strings.Contains(err.Error(), `keep position "orders"`) {
		t.Errorf("KeepPosition: %v, %v", ours, err)
	}
	if ours, err := p.KeepPosition(t.Context(), "orders", epoch, []byte("r")); !ours || err != nil {
		t.Errorf("after it: %v, %v", ours, err)
	}
}
