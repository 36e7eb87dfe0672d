package operations_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/ndjson"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store/memstore"
)

// appender publishes into the box orders of a new store.
func appender(t *testing.T) operations.Appender {
	t.Helper()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, box string, msgs []postbag.Message) error {
		p, err := postbag.NewPublisher(m, postbag.PublisherOptions{Box: box})
		if err != nil {
			return err
		}
		return p.InTx(ctx, func(ctx context.Context, tx *memstore.Tx) error { return p.Publish(ctx, tx, msgs...) })
	}
}

// publish publishes what in holds, and returns how many messages are written and in how many transactions.
func publish(t *testing.T, write operations.Appender, in io.Reader) (published, transactions int, err error) {
	t.Helper()
	published, err = write.Lines(t.Context(), "orders", ndjson.NewReader(in), func(int) { transactions++ })
	return published, transactions, err
}

func TestLinesArePublishedSomeInATransaction(t *testing.T) {
	t.Parallel()
	in := strings.NewReader(strings.Repeat("{}\n", 2*operations.LineBatch+1))
	if n, transactions, err := publish(t, appender(t), in); err != nil || n != 2*operations.LineBatch+1 || transactions != 3 {
		t.Errorf("%d messages in %d transactions: %v", n, transactions, err)
	}
	if n, _, err := publish(t, appender(t), strings.NewReader("")); err != nil || n != 0 {
		t.Errorf("of no lines: %d messages, %v", n, err)
	}
}

// An error says which lines are not written, so that one can go on behind those that are.
func TestABatchThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("{}\n", operations.LineBatch)
	write := appender(t)
	away := errors.New("the store is away")
	lost := func(context.Context, string, []postbag.Message) error { return postbag.ErrCommitUnknown }
	for what, tc := range map[string]struct {
		write  operations.Appender
		in     io.Reader
		faulty int
		unread bool
		is     error
		says   string
	}{
		"a line that is no JSON":           {write, strings.NewReader(good + "{}\nno\n"), 1, false, operations.ErrInvalid, "line 1002 is no JSON object"},
		"a message that no box takes":      {write, strings.NewReader(good + `{"topic":"` + strings.Repeat("t", 999) + "\"}\n{}\n"), 1, false, operations.ErrInvalid, "line 1001 is wrong: Topic"},
		"what can be read no further":      {write, io.MultiReader(strings.NewReader(good+"{}\n"), iotest.ErrReader(away)), 0, true, away, ""},
		"a commit whose answer was lost":   {once(write, lost), strings.NewReader(good + "{}\n"), 0, false, postbag.ErrCommitUnknown, ""},
		"a store that failed another time": {once(write, func(context.Context, string, []postbag.Message) error { return away }), strings.NewReader(good + "{}\n"), 0, false, away, ""},
	} {
		n, _, err := publish(t, tc.write, tc.in)
		b, ok := errors.AsType[*operations.BatchError](err)
		if !ok || n != operations.LineBatch || b.First != operations.LineBatch+1 || b.Faulty != tc.faulty || b.Unread != tc.unread || !errors.Is(err, tc.is) {
			t.Errorf("%s: %d messages are written: %v", what, n, err)
			continue
		}
		if text := errors.Join(b.Faults...); tc.says != "" && (text == nil || !strings.Contains(text.Error(), tc.says)) {
			t.Errorf("%s: the fault is %v, want %s", what, text, tc.says)
		}
	}
}

// once writes the first batch, and has other do the later ones.
func once(write, other operations.Appender) operations.Appender {
	begun := false
	return func(ctx context.Context, box string, msgs []postbag.Message) error {
		if begun {
			return other(ctx, box, msgs)
		}
		begun = true
		return write(ctx, box, msgs)
	}
}
