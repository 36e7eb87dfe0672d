package store_test

import (
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestTheSizeOfARowHasItsHeadersOnceCountedOrAsStored(t *testing.T) {
	t.Parallel()
	bare := store.Record{Message: postbag.Message{Payload: []byte("payload"), Topic: "t", Key: "k"}}
	read := bare
	read.Headers = map[string]string{"name": "value", "b": "c"}
	counted := read.Size() - bare.Size()
	if least := len("name") + len("value") + len("b") + len("c"); counted < least {
		t.Errorf("two headers add %d bytes, and have %d themselves", counted, least)
	}
	stored := read
	stored.HeaderBytes = 1000
	if got, want := stored.Size()-bare.Size(), counted-len("namevaluebc")+1000; got != want {
		t.Errorf("headers that take 1000 bytes as stored add %d to the size, not %d", got, want)
	}
}
