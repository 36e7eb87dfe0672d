package relay_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/memstore"
)

func TestAnInvalidBufferSizeIsRefused(t *testing.T) {
	t.Parallel()
	for _, buffer := range []int{-1, 1<<30 + 1} {
		_, err := relay.New(memstore.New(memstore.Options{}), relay.Options{
			Subscriptions: []relay.Subscription{{To: membroker.New(membroker.Options{}), Buffer: buffer}},
		})
		if err == nil || !strings.Contains(err.Error(), "Buffer is ") || !strings.Contains(err.Error(), "choose between") {
			t.Errorf("a buffer of %d: %v", buffer, err)
		}
	}
}
