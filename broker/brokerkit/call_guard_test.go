package brokerkit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker/brokerkit"
)

func TestACallGuardIsOpenUntilItIsShut(t *testing.T) {
	t.Parallel()
	var g brokerkit.CallGuard
	if !g.Enter() || g.IsShut() {
		t.Fatal("a new guard lets nobody in")
	}
	g.Leave()
	if err := g.Shut(t.Context()); err != nil {
		t.Fatalf("Shut of an empty guard: %v", err)
	}
	if g.Enter() || !g.IsShut() {
		t.Fatal("a shut guard lets a call in")
	}
}

func TestShutWaitsForEveryCallInside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g brokerkit.CallGuard
		for i := range 3 {
			if !g.Enter() {
				t.Fatal("refused before Shut")
			}
			go func() {
				time.Sleep(time.Duration(i+1) * time.Second) //nolint:forbidigo // the bubble's clock, not the machine's
				g.Leave()
			}()
		}
		began := time.Now()
		for range 2 {
			if err := g.Shut(t.Context()); err != nil {
				t.Fatalf("Shut: %v", err)
			}
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("Shut took %v, the last call 3s", took)
		}
	})
}

func TestShutGivesUpWithItsContextAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	var g brokerkit.CallGuard
	g.Enter()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Shut(over); !errors.Is(err, context.Canceled) {
		t.Fatalf("Shut with a call inside: %v, want the context's error", err)
	}
	g.Leave()
	if err := g.Shut(over); err != nil {
		t.Fatalf("Shut after the last call left, context over: %v", err)
	}
}

func TestShutWaitsForWhatACallInsideStarted(t *testing.T) {
	t.Parallel()
	var g brokerkit.CallGuard
	g.Enter()
	empty := g.Refuse()
	g.Again()
	g.Leave()
	select {
	case <-empty:
		t.Fatal("the guard is empty while what a call started is inside")
	default:
	}
	if g.Enter() {
		t.Fatal("a shut guard lets a call in")
	}
	g.Leave()
	if err := g.Shut(t.Context()); err != nil {
		t.Fatalf("Shut after the last has left: %v", err)
	}
	<-empty
}

func TestWaitLooksAtItsContextOnlyWhereItMustWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	if err := brokerkit.Wait(ctx, done); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait for what does not come: %v", err)
	}
	close(done)
	if err := brokerkit.Wait(ctx, done); err != nil {
		t.Errorf("Wait for what is done: %v", err)
	}
}
