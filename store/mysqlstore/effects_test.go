package mysqlstore_test

import (
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/effectstest"
)

// Its lanes, under a destination whose pages have a transaction each.
func TestAHandlerOfPagesConformsAsADestination(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		effectstest.RunWhole(t, "on "+k.server(t).Version(), func(*testing.T) effectstest.Store[postbag.SQLTx] { return s.Store })
	})
}

func TestWhatAConsumerParkedIsAppliedWhenItIsRetried(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		effectstest.RunRedrive(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
			t.Helper()
			return newTestBox(t, k).Store
		})
	})
}

func TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		effectstest.RunTakenBefore(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
			t.Helper()
			return newTestBox(t, k).Store
		})
	})
}

func TestAMessageWithoutRoomForTheReasonIsParked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		effectstest.RunFullHeaders(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
			t.Helper()
			return newTestBox(t, k).Store
		})
	})
}
