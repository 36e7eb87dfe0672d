package sourcekit_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

func sized(n int) *source.Message { return &source.Message{Payload: make([]byte, n)} }

func TestABatchIsFullByMessagesOrByBytes(t *testing.T) {
	t.Parallel()
	f := sourcekit.NewFiller(source.Limits{Messages: 2, Bytes: 1000})
	if f.Full() || !f.Add(sized(10)) || f.Full() || !f.Add(sized(10)) || !f.Full() || f.Add(sized(0)) {
		t.Error("two messages fill a batch of two")
	}
	f = sourcekit.NewFiller(source.Limits{Bytes: 100})
	if !f.Add(sized(60)) || f.Add(sized(41)) || f.Full() || !f.Add(sized(40)) || !f.Full() {
		t.Error("100 bytes fill a batch of 100")
	}
}

func TestTheFirstMessageIsAlwaysTaken(t *testing.T) {
	t.Parallel()
	f := sourcekit.NewFiller(source.Limits{Bytes: 10})
	if !f.Add(sized(1000)) || !f.Full() || f.Add(sized(0)) {
		t.Error("a message beyond the limit comes, and alone")
	}
}

func TestLimitsThatAreZeroOrLessAreTheDefaults(t *testing.T) {
	t.Parallel()
	f := sourcekit.NewFiller(source.Limits{Messages: -1, Bytes: -1, Payload: -1})
	n := 0
	for f.Add(sized(1)) {
		n++
	}
	if n != sourcekit.DefaultMessages {
		t.Errorf("%d messages fill a batch", n)
	}
	f = sourcekit.NewFiller(source.Limits{})
	if !f.Add(sized(sourcekit.DefaultBytes)) || f.Add(sized(1)) {
		t.Error("the bytes have no bound")
	}
}

func TestAPayloadThatIsTooLargeIsTakenAway(t *testing.T) {
	t.Parallel()
	f := sourcekit.NewFiller(source.Limits{Payload: 5, Bytes: 100})
	small, large := sized(5), sized(1000)
	if !f.Add(small) || small.Err != nil || len(small.Payload) != 5 {
		t.Errorf("a payload of the limit is changed: %v", small.Err)
	}
	if !f.Add(large) || !errors.Is(large.Err, source.ErrTooLarge) || large.Payload != nil || f.Full() {
		t.Errorf("a payload beyond the limit: %v", large.Err)
	}
}

func TestAMessageThatDoesNotFitStaysWhole(t *testing.T) {
	t.Parallel()
	f := sourcekit.NewFiller(source.Limits{Messages: 1, Payload: 5})
	f.Add(sized(1))
	if large := sized(10); f.Add(large) || large.Err != nil || len(large.Payload) != 10 {
		t.Error("a message that was left for the next batch is changed")
	}
}
