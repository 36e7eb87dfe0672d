package main

import (
	"testing"

	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
)

func TestTheRateOfTheFileIsThatOfTheRelay(t *testing.T) {
	t.Parallel()
	f := parsed(t, "store: {dsn: a.db}\ndestinations: {m: {stdout: }}\nsubscriptions: [{rate: {messages: 500, bytes: 1MiB, burst: 50, burst_bytes: 2MiB, shared: true}}]\n")
	got := subscription(f.Subscriptions[0], membroker.Null()).Rate
	if want := (relay.Rate{Messages: 500, Bytes: 1 << 20, Burst: 50, BurstBytes: 2 << 20, Shared: true}); got != want {
		t.Errorf("the relay gets %+v, the file says %+v", got, want)
	}
}
