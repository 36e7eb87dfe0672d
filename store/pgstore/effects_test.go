package pgstore_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/internal/effectstest"
)

// Its lanes, under a destination whose pages have a transaction each.
func TestAHandlerOfPagesConformsAsADestination(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	version, _, _ := strings.Cut(shared.Server(t).Version(), " (Debian")
	effectstest.RunWhole(t, "on PostgreSQL "+version, func(*testing.T) effectstest.Store[pgx.Tx] { return s.Store })
}

func TestWhatAConsumerParkedIsAppliedWhenItIsRetried(t *testing.T) {
	t.Parallel()
	effectstest.RunRedrive(t, func(t *testing.T) effectstest.Redriven[pgx.Tx] {
		t.Helper()
		return newTestBox(t).Store
	})
}

func TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing(t *testing.T) {
	t.Parallel()
	effectstest.RunTakenBefore(t, func(t *testing.T) effectstest.Redriven[pgx.Tx] {
		t.Helper()
		return newTestBox(t).Store
	})
}

func TestAMessageWithoutRoomForTheReasonIsParked(t *testing.T) {
	t.Parallel()
	effectstest.RunFullHeaders(t, func(t *testing.T) effectstest.Redriven[pgx.Tx] {
		t.Helper()
		return newTestBox(t).Store
	})
}
