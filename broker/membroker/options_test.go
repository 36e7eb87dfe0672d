package membroker_test

import (
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/membroker"
)

func TestEveryValueOfTheOptionsHasAMeaning(t *testing.T) {
	t.Parallel()
	d := membroker.New(membroker.Options{MaxBytes: -1, MaxBatch: -1})
	if f := d.Features(); f.MaxBytes != 0 || f.MaxBatch != 0 {
		t.Errorf("the features are %+v", f)
	}
	m := broker.Delivery{Message: postbag.Message{ID: postbag.NewID(), Topic: "a", Payload: []byte("payload")}, Attempt: 1}
	if r := broker.Publish(t.Context(), d, []broker.Delivery{m}); r[0].Outcome != broker.Accepted {
		t.Errorf("the message is %v (%v)", r[0].Outcome, r[0].Err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
