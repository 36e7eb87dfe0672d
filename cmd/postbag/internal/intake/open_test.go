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
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := &component.WebhookSource{Listen: taken.Addr().String(), Path: "/", SecretsFile: []string{secret}}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		in := New(Options{
			Store:    &component.Store{},
			Settings: config.Intake{Name: "hooks", From: config.Origin{Kind: "webhook", Settings: settings}},
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
		defer cancel()
		if _, err := in.open(ctx); err == nil {
			t.Fatal("it was opened at an address that is taken")
		}
		if n := strings.Count(log.String(), "the source cannot be opened"); n != 3 {
			t.Errorf("in 150 s the log says it %d times, want 3:\n%s", n, log.String())
		}
	})
}
