package inbox_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// book is an inbox that notes what it is asked, and answers what it is told to.
type book struct {
	calls int
	got   []store.Mark
	fresh []bool
	err   error
}

func (b *book) Mark(_ context.Context, _ postbag.SQLTx, _ string, marks []store.Mark) ([]bool, error) {
	b.calls++
	b.got = slices.Clone(marks)
	return b.fresh, b.err
}

// sqlTx is a transaction of database/sql in name only.
type sqlTx struct{ postbag.SQLTx }

// newInbox returns an inbox over s.
func newInbox[Tx any](t *testing.T, s store.Inbox[Tx]) *inbox.Inbox[Tx] {
	t.Helper()
	in, err := inbox.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestNewRefusesANilStore(t *testing.T) {
	t.Parallel()
	_, plain := inbox.New[*memstore.Tx](nil)
	_, typed := inbox.New[*memstore.Tx]((*memstore.Store)(nil))
	for _, err := range []error{plain, typed} {
		if err == nil || !strings.Contains(err.Error(), "the store is nil") {
			t.Errorf("a nil store: %v", err)
		}
	}
}

func TestAMessageIsFreshOncePerConsumerAndNotAfterARollback(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	in := newInbox(t, s)
	for i, c := range []struct {
		consumer string
		commit   bool
		want     bool
	}{{"billing", false, true}, {"billing", true, true}, {"billing", true, false}, {"shipping", true, true}, {"billing", true, false}} {
		tx, err := s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := in.Once(t.Context(), tx, c.consumer, "order-17")
		if err != nil || fresh != c.want {
			t.Errorf("step %d: fresh %v, error %v; want %v", i, fresh, err, c.want)
		}
		end := tx.Rollback
		if c.commit {
			end = tx.Commit
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWrongArgumentsAreRefusedBeforeTheStoreIsAsked(t *testing.T) {
	t.Parallel()
	b := &book{}
	in := newInbox(t, store.Inbox[postbag.SQLTx](b))
	many := make([]inbox.Mark, store.MaxMarks+1)
	for i := range many {
		many[i].ID = inbox.Place("s", 0, int64(i))
	}
	one := []inbox.Mark{{ID: "a"}}
	for _, c := range []struct {
		name     string
		tx       postbag.SQLTx
		consumer string
		marks    []inbox.Mark
		says     string
	}{
		{"nil transaction", nil, "c", one, "the transaction is nil"},
		{"nil pointer as a transaction", (*sqlTx)(nil), "c", one, "the transaction is nil"},
		{"empty consumer", sqlTx{}, "", one, "the consumer's name is empty"},
		{"long consumer", sqlTx{}, strings.Repeat("c", 101), one, "the consumer's name has 101 bytes, more than 100"},
		{"consumer with a NUL", sqlTx{}, "c\x00", one, `the consumer's name "c\x00" has a NUL byte`},
		{"consumer that is not text", sqlTx{}, "c\xff", one, `the consumer's name "c\xff" is not valid UTF-8`},
		{"consumer with a line break", sqlTx{}, "c\n", one, `the consumer's name "c\n" has a control character`},
		{"consumer with a C1 control", sqlTx{}, "c\u0085", one, `has a control character`},
		{"too many marks", sqlTx{}, "c", many, "there are 10001 marks, more than 10000"},
		{"empty id", sqlTx{}, "c", []inbox.Mark{{}}, "inbox: the message's id is empty"},
		{"empty id in a batch", sqlTx{}, "c", []inbox.Mark{{ID: "a"}, {}}, "mark 1: the message's id is empty"},
		{"long id", sqlTx{}, "c", []inbox.Mark{{ID: inbox.MessageID(strings.Repeat("i", 256))}}, "the message's id has 256 bytes, more than 255"},
		{"wrong consumer without marks", sqlTx{}, "", nil, "the consumer's name is empty"},
	} {
		fresh, err := in.OnceBatch(t.Context(), c.tx, c.consumer, c.marks)
		if err == nil || !strings.Contains(err.Error(), c.says) || fresh != nil {
			t.Errorf("%s: fresh %v, error %v; want an error that says %q", c.name, fresh, err, c.says)
		}
		if len(c.marks) == 1 {
			if _, err := in.Once(t.Context(), c.tx, c.consumer, c.marks[0].ID); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, one: %v; want an error that says %q", c.name, err, c.says)
			}
		}
	}
	if b.calls > 0 {
		t.Errorf("the store was asked %d times", b.calls)
	}
}

func TestLimitsAreTaken(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	in := newInbox(t, s)
	marks := make([]inbox.Mark, store.MaxMarks)
	for i := range marks {
		marks[i].ID = inbox.Place("s", 0, int64(i))
	}
	marks[0].ID = inbox.MessageID(strings.Repeat("\xff", store.MaxMessageID))
	err := s.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		fresh, err := in.OnceBatch(ctx, tx, strings.Repeat("é", 50), marks)
		if slices.Contains(fresh, false) || len(fresh) != len(marks) {
			t.Errorf("%d answers for %d marks, or some are not fresh", len(fresh), len(marks))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestABatchOfNoneAsksNothing(t *testing.T) {
	t.Parallel()
	b := &book{err: errors.New("asked")}
	fresh, err := newInbox(t, store.Inbox[postbag.SQLTx](b)).OnceBatch(t.Context(), sqlTx{}, "c", nil)
	if fresh != nil || err != nil || b.calls > 0 {
		t.Errorf("no marks: fresh %v, error %v, the store was asked %d times", fresh, err, b.calls)
	}
}

func TestErrorsOfTheStoreComeThrough(t *testing.T) {
	t.Parallel()
	b := &book{err: store.ErrAgain, fresh: []bool{true}}
	fresh, err := newInbox(t, store.Inbox[postbag.SQLTx](b)).Once(t.Context(), sqlTx{}, "c", "a")
	if fresh || !errors.Is(err, store.ErrAgain) {
		t.Errorf("fresh %v, error %v; want store.ErrAgain", fresh, err)
	}
}

func TestAStoreThatAnswersForOtherMarksIsFoundOut(t *testing.T) {
	t.Parallel()
	for _, answers := range [][]bool{nil, {true, true}} {
		b := &book{fresh: answers}
		fresh, err := newInbox(t, store.Inbox[postbag.SQLTx](b)).Once(t.Context(), sqlTx{}, "c", "a")
		if fresh || err == nil || !strings.Contains(err.Error(), "of 1 marks") {
			t.Errorf("%d answers for one mark: fresh %v, error %v", len(answers), fresh, err)
		}
	}
}

func TestOnceBytesRecordsTheSHA256OfTheBodyAndOnceNone(t *testing.T) {
	t.Parallel()
	b := &book{fresh: []bool{true}}
	in := newInbox(t, store.Inbox[postbag.SQLTx](b))
	for _, body := range [][]byte{nil, {}, []byte("body")} {
		if _, err := in.OnceBytes(t.Context(), sqlTx{}, "c", "a", body); err != nil {
			t.Fatal(err)
		}
		if want := (store.Mark{ID: "a", Sum: sha256.Sum256(body)}); b.got[0] != want {
			t.Errorf("body %q: marked %v, want %v", body, b.got[0], want)
		}
	}
	if _, err := in.Once(t.Context(), sqlTx{}, "c", "a"); err != nil {
		t.Fatal(err)
	}
	if want := (store.Mark{ID: "a"}); b.got[0] != want {
		t.Errorf("without a body: marked %v, want %v", b.got[0], want)
	}
}

func TestOnceBytesFindsAnIDWithOtherBytes(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	in := newInbox(t, s)
	for _, c := range []struct {
		body  string
		fresh bool
		err   error
	}{{"one", true, nil}, {"one", false, nil}, {"two", false, store.ErrOtherBytes}} {
		err := s.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
			fresh, err := in.OnceBytes(ctx, tx, "billing", "order-17", []byte(c.body))
			if fresh != c.fresh {
				t.Errorf("body %q is fresh: %v", c.body, fresh)
			}
			return err
		})
		if !errors.Is(err, c.err) {
			t.Errorf("body %q: %v, want %v", c.body, err, c.err)
		}
	}
}
