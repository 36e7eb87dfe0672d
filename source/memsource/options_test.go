package memsource_test

import (
	"testing"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
)

func TestEveryValueOfTheOptionsHasAMeaning(t *testing.T) {
	t.Parallel()
	for _, order := range []source.Order{-1, 7} {
		b := memsource.New(memsource.Options{Order: order, Partitions: -3, AckWait: -1, MaxUnacked: -2, MaxMessages: -1})
		if err := b.Publish(source.Message{Topic: "a"}, source.Message{Topic: "b"}); err != nil {
			t.Fatal(err)
		}
		if err := b.PublishTo(1, source.Message{Topic: "a"}); err == nil {
			t.Error("there is a second partition")
		}
		if got, want := b.Join("g").Features(), (source.Features{Places: true, Counts: true}); got != want {
			t.Errorf("the features are %+v, want %+v", got, want)
		}
	}
}
