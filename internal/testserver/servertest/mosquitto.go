package servertest

import (
	"context"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// Mosquitto starts an MQTT broker for one test.
func Mosquitto(tb testing.TB, opts testserver.MosquittoOptions) *testserver.Mosquitto {
	tb.Helper()
	m, err := testserver.StartMosquitto(context.Background(), opts)
	Need(tb, err)
	keep(tb, "Mosquitto", m)
	return m
}
