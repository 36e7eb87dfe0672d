package intake

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

func TestASourceThatCannotBeOpenedIsToldOnceAMinute(t *testing.T) {
	t.Parallel()
	opensInVain(t, 150*time.Second, 3, func(func(string)) {})
}

// The secret of a webhook is read at each attempt, so a file that changes changes the reason.
func TestAnotherReasonWhyASourceCannotBeOpenedIsToldAtOnce(t *testing.T) {
	t.Parallel()
	opensInVain(t, 50*time.Second, 2, func(write func(string)) {
		time.AfterFunc(20*time.Second, func() { write("") })
		time.AfterFunc(40*time.Second, func() { write(webhookSecret) })
	})
}

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"

// opensInVain has a webhook source opened for a time, at an address that is taken, and counts how often the log tells of
// that. meanwhile can have the file of its secret written.
func opensInVain(t *testing.T, within time.Duration, lines int, meanwhile func(write func(text string))) {
	t.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	secret := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	write(webhookSecret)
	settings := &component.WebhookSource{Listen: taken.Addr().String(), Path: "/", SecretsFile: []string{secret}}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		in := New(Options{
			Store:    &component.Store{},
			Settings: config.Intake{Name: "hooks", From: config.Origin{Kind: "webhook", Settings: settings}},
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		})
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		meanwhile(write)
		if _, err := in.open(ctx); err == nil {
			t.Fatal("it was opened at an address that is taken")
		}
		if n := strings.Count(log.String(), "the source cannot be opened"); n != lines {
			t.Errorf("in %v the log says it %d times, want %d:\n%s", within, n, lines, log.String())
		}
	})
}
