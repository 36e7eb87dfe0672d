package postbagtest_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/postbagtest"
)

type recorder = postbagtest.Recorder[*sql.Tx]

// over returns a publisher over rec, to box.
func over(t *testing.T, rec *recorder, box string) *postbag.Publisher[*sql.Tx] {
	t.Helper()
	pub, err := postbag.NewPublisher(rec, postbag.PublisherOptions{Box: box})
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

// keys returns the keys of what was recorded, in order.
func keys[Tx any](rec *postbagtest.Recorder[Tx]) string {
	var all []string
	for _, r := range rec.Records() {
		all = append(all, r.Key)
	}
	return strings.Join(all, " ")
}

func TestInTxRecordsWhatWasCommittedOnly(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	rec := &recorder{}
	pub := over(t, rec, "events")
	publish := func(key string, then error) error {
		return pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			if err := pub.Publish(ctx, tx, postbag.Message{Key: key}); err != nil {
				return err
			}
			if len(rec.Records()) > 0 && rec.Records()[len(rec.Records())-1].Key == key {
				t.Errorf("%s is recorded before its commit", key)
			}
			return then
		})
	}
	for _, step := range []struct {
		key  string
		then error
	}{{"a", nil}, {"b", stop}, {"c", nil}} {
		if err := publish(step.key, step.then); !errors.Is(err, step.then) {
			t.Fatalf("%s: %v", step.key, err)
		}
	}
	if got := keys(rec); got != "a c" {
		t.Errorf("recorded %q, want a and c", got)
	}
	if first := rec.Records()[0]; first.Box != "events" || first.Topic != "events" || first.ID.IsZero() {
		t.Errorf("recorded %+v, which is not completed", first)
	}
	if got := rec.Woken("events"); got != 2 {
		t.Errorf("woken %d times, want 2", got)
	}
}

func TestAPanicInInTxRecordsNothing(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic was not passed on")
			}
		}()
		_ = pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_ = pub.Publish(ctx, tx, postbag.Message{})
			panic("boom")
		})
	}()
	if got := rec.Records(); len(got) != 0 {
		t.Errorf("recorded %v", got)
	}
}

func TestOutsideOfInTxEverythingIsRecordedAtOnce(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	if err := pub.Publish(t.Context(), &sql.Tx{}, postbag.Message{Key: "a"}, postbag.Message{Key: "b"}); err != nil {
		t.Fatal(err)
	}
	if got := keys(rec); got != "a b" {
		t.Errorf("recorded %q", got)
	}
}

func TestConcurrentTransactionsAreRecordedSeparately(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	const writers = 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range 50 {
				key := string(rune('a' + w))
				_ = pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
					if err := pub.Publish(ctx, tx, postbag.Message{Key: key}, postbag.Message{Key: key}); err != nil {
						t.Error(err)
					}
					if i%2 == 0 {
						return errors.New("roll back")
					}
					return nil
				})
			}
		})
	}
	wg.Wait()
	got := rec.Records()
	if len(got) != writers*50 {
		t.Fatalf("recorded %d, want %d", len(got), writers*50)
	}
	for i := 0; i < len(got); i += 2 {
		if got[i].Key != got[i+1].Key {
			t.Fatalf("the transaction at %d is torn apart", i)
		}
	}
}

func TestPublishingAfterTheEndIsAnError(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	var late context.Context
	_ = pub.InTx(t.Context(), func(ctx context.Context, _ *sql.Tx) error {
		late = ctx //nolint:fatcontext // to be used too late
		return nil
	})
	_, cancelErr := pub.Cancel(late, &sql.Tx{}, postbag.NewID())
	for name, err := range map[string]error{
		"Publish":        pub.Publish(late, &sql.Tx{}, postbag.Message{}),
		"PublishOrdered": pub.PublishOrdered(late, &sql.Tx{}, postbag.Message{Key: "k"}),
		"Cancel":         cancelErr,
	} {
		if err == nil || !strings.Contains(err.Error(), "the transaction has ended; publish with") {
			t.Errorf("%s: %v", name, err)
		}
	}
	rec.RequireNothing(t)
}

func TestTheErrorsAskedForAreReturnedAndNothingIsRecorded(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	rec := &recorder{AppendErr: full}
	pub := over(t, rec, "")
	if err := pub.Publish(t.Context(), &sql.Tx{}, postbag.Message{}); !errors.Is(err, full) {
		t.Errorf("Publish: %v", err)
	}
	if err := pub.PublishOrdered(t.Context(), &sql.Tx{}, postbag.Message{Key: "k"}); !errors.Is(err, full) {
		t.Errorf("PublishOrdered: %v", err)
	}
	rec.RequireNothing(t)

	unknown := &recorder{CommitErr: postbag.ErrCommitUnknown}
	pub = over(t, unknown, "")
	err := pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return pub.Publish(ctx, tx, postbag.Message{})
	})
	if !errors.Is(err, postbag.ErrCommitUnknown) {
		t.Errorf("InTx: %v", err)
	}
	unknown.RequireNothing(t)
}

func TestOrderedSaysThatTheKeyWasLocked(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	inTx := func(publish func(context.Context, *sql.Tx, ...postbag.Message) error, key string) {
		t.Helper()
		err := pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			return publish(ctx, tx, postbag.Message{Key: key})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	inTx(pub.PublishOrdered, "a")
	inTx(pub.Publish, "a") // a lock ends with its transaction
	if err := pub.PublishOrdered(t.Context(), &sql.Tx{}, postbag.Message{Key: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := pub.Publish(t.Context(), &sql.Tx{}, postbag.Message{Key: "c"}, postbag.Message{}); err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, r := range rec.Records() {
		got = append(got, r.Ordered)
	}
	if want := []bool{true, false, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("ordered: %v, want %v", got, want)
	}
}

func TestCancelRemovesAScheduledMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		pub := over(t, rec, "")
		later := postbag.Message{ID: postbag.ID{1}, Key: "later", NotBefore: time.Now().Add(time.Hour)}
		now := postbag.Message{ID: postbag.ID{2}, Key: "now"}
		cancel := func(ctx context.Context, id postbag.ID, want bool) {
			t.Helper()
			if got, err := pub.Cancel(ctx, &sql.Tx{}, id); err != nil || got != want {
				t.Errorf("Cancel(%v) = %v, %v, want %v", id, got, err, want)
			}
		}
		if err := pub.Publish(t.Context(), &sql.Tx{}, later, now); err != nil {
			t.Fatal(err)
		}
		cancel(t.Context(), now.ID, false)
		cancel(t.Context(), postbag.ID{3}, false)

		_ = pub.InTx(t.Context(), func(ctx context.Context, _ *sql.Tx) error {
			cancel(ctx, later.ID, true)
			cancel(ctx, later.ID, false)
			return errors.New("roll back")
		})
		if got := keys(rec); got != "later now" {
			t.Errorf("after a rollback there is %q", got)
		}

		_ = pub.InTx(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			cancel(ctx, later.ID, true)
			own := postbag.Message{ID: postbag.ID{4}, Key: "own", NotBefore: time.Now().Add(time.Hour)}
			if err := pub.Publish(ctx, tx, own); err != nil {
				t.Error(err)
			}
			cancel(ctx, own.ID, true)
			return nil
		})
		if got := keys(rec); got != "now" {
			t.Errorf("after the commit there is %q", got)
		}

		soon := postbag.Message{ID: postbag.ID{5}, NotBefore: time.Now().Add(time.Minute)}
		if err := pub.Publish(t.Context(), &sql.Tx{}, soon); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) //nolint:forbidigo // moves the clock of the bubble and takes no time
		cancel(t.Context(), soon.ID, false)
	})
}

func TestCancelIsPerBoxAndWorksOutsideOfInTx(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	here, there := over(t, rec, "here"), over(t, rec, "there")
	m := postbag.Message{ID: postbag.ID{1}, NotBefore: time.Now().Add(time.Hour)}
	if err := here.Publish(t.Context(), &sql.Tx{}, m); err != nil {
		t.Fatal(err)
	}
	if got, err := there.Cancel(t.Context(), &sql.Tx{}, m.ID); got || err != nil {
		t.Errorf("the other box cancels it: %v, %v", got, err)
	}
	if got, err := here.Cancel(t.Context(), &sql.Tx{}, m.ID); !got || err != nil {
		t.Errorf("its own box does not cancel it: %v, %v", got, err)
	}
	rec.RequireNothing(t)
}

func TestRecordsAreCopies(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	m := postbag.Message{Payload: []byte("payload"), Headers: map[string]string{"a": "1"}}
	if err := over(t, rec, "").Publish(t.Context(), &sql.Tx{}, m); err != nil {
		t.Fatal(err)
	}
	m.Payload[0], m.Headers["a"] = 'X', "2"
	first := rec.Records()[0]
	first.Payload[1], first.Headers["a"] = 'Y', "3"
	if got := rec.Records()[0]; string(got.Payload) != "payload" || got.Headers["a"] != "1" {
		t.Errorf("recorded %q %v", got.Payload, got.Headers)
	}
}

func TestResetForgetsAllRecords(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	pub := over(t, rec, "")
	if err := pub.PublishOrdered(t.Context(), &sql.Tx{}, postbag.Message{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	pub.Committed()
	rec.Reset()
	rec.RequireNothing(t)
	if rec.Woken("outbox") != 0 {
		t.Error("the wakes are remembered")
	}
	if err := pub.Publish(t.Context(), &sql.Tx{}, postbag.Message{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if rec.Records()[0].Ordered {
		t.Error("the locks are remembered")
	}
}

// iface is a transaction that this package cannot make up.
type iface interface{ Exec() }

type ifaceTx struct{ iface }

func TestInTxNeverPassesANilTransaction(t *testing.T) {
	t.Parallel()
	pointer := &recorder{}
	err := pointer.InTx(t.Context(), func(_ context.Context, tx *sql.Tx) error {
		if tx == nil {
			t.Error("InTx of a pointer type gives nil")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}

	unset := &postbagtest.Recorder[iface]{}
	err = unset.InTx(t.Context(), func(context.Context, iface) error {
		t.Error("InTx ran without a transaction")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "Recorder.Tx is nil; set it") {
		t.Errorf("error is %v", err)
	}

	own := ifaceTx{}
	set := &postbagtest.Recorder[iface]{Tx: own}
	err = set.InTx(t.Context(), func(_ context.Context, tx iface) error {
		if tx != own {
			t.Errorf("InTx gives %v", tx)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSenderAppliesTheOptionsAndTheChecks(t *testing.T) {
	t.Parallel()
	var rec postbagtest.Recorder[postbagtest.Tx]
	s := rec.Sender(t, postbag.PublisherOptions{Box: "events", MaxSize: 3})
	if err := s.Publish(t.Context(), postbag.Message{Payload: []byte("abc")}); err != nil {
		t.Error(err)
	}
	err := s.Publish(t.Context(), postbag.Message{Payload: []byte("abcd")})
	if _, ok := errors.AsType[*postbag.MessageError](err); !ok {
		t.Errorf("error is %v", err)
	}
	rec.RequirePublished(t, postbagtest.Want{Box: "events", Payload: []byte("abc")})
}

func TestSenderFailsTheTestForBadOptions(t *testing.T) {
	t.Parallel()
	if got := failure(func(tb *failing) {
		(&recorder{}).Sender(tb, postbag.PublisherOptions{Box: "Not A Box"})
	}); !strings.Contains(got, `PublisherOptions.Box: postbag: box name "Not A Box"`) {
		t.Errorf("bad options: %q", got)
	}
	if got := failure(func(tb *failing) {
		(&postbagtest.Recorder[iface]{}).Sender(tb, postbag.PublisherOptions{})
	}); !strings.Contains(got, "Recorder.Tx is nil") {
		t.Errorf("no transaction: %q", got)
	}
}
