package publishtest

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// Curt starts a listener that reads what first comes over a connection, or waits a
// moment for it, and hangs up, as a server does that ends. It returns its address.
func Curt(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	tb.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_ = conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
				_, _ = conn.Read(make([]byte, 64<<10))
				_ = conn.Close()
			})
		}
	})
	return listener.Addr().String()
}

// HungUp publishes for a few seconds, while the server that accepted messages before
// does nothing but hang up. That is no message's fault, and no setting's.
func HungUp(tb testing.TB, d broker.Destination, msgs ...broker.Delivery) {
	tb.Helper()
	for began := time.Now(); time.Since(began) < 3*time.Second; {
		for i, r := range Publish(tb, d, time.Second, msgs...) {
			switch r.Outcome {
			case broker.Unavailable, broker.Unknown, broker.NotSent:
			default:
				tb.Fatalf("message %d is %v (%v)", i, r.Outcome, r.Err)
			}
		}
		p, ok := broker.ProberOf(d)
		if !ok {
			continue
		}
		if err := p.Probe(Timeout(tb, time.Second)); broker.OutcomeOf(err) != broker.Unavailable {
			tb.Fatalf("Probe: %v", err)
		}
	}
}
