package sqlitestore_test

import (
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/effectstest"
)

// Its lanes, under a destination whose pages have a transaction each.
func TestAHandlerOfPagesConformsAsADestination(t *testing.T) {
	t.Parallel()
	effectstest.RunWhole(t, "on SQLite", func(t *testing.T) effectstest.Store[postbag.SQLTx] {
		t.Helper()
		return open(t).Store
	})
}

func TestWhatAConsumerParkedIsAppliedWhenItIsRetried(t *testing.T) {
	t.Parallel()
	effectstest.RunRedrive(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
		t.Helper()
		return open(t).Store
	})
}

func TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing(t *testing.T) {
	t.Parallel()
	effectstest.RunTakenBefore(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
		t.Helper()
		return open(t).Store
	})
}

func TestAMessageWithoutRoomForTheReasonIsParked(t *testing.T) {
	t.Parallel()
	effectstest.RunFullHeaders(t, func(t *testing.T) effectstest.Redriven[postbag.SQLTx] {
		t.Helper()
		return open(t).Store
	})
}
