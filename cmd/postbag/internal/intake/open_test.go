package intake

import (
	"bytes"
	"context"
	"errors"
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

// The secret of a webhook is read at each attempt, so a file that changes changes the reason.
func TestAnotherReasonWhyASourceCannotBeOpenedIsToldAtOnce(t *testing.T) {
	t.Parallel()
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
	write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
	settings := &component.WebhookSource{Listen: taken.Addr().String(), Path: "/", SecretsFile: []string{secret}}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		in := New(Options{
			Store:    &component.Store{},
			Settings: config.Intake{Name: "hooks", From: config.Origin{Kind: "webhook", Settings: settings}},
			Logger:   slog.New(slog.NewTextHandler(&log, nil)),
		})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		time.AfterFunc(20*time.Second, func() { write("") })
		time.AfterFunc(40*time.Second, func() { write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n") })
		if _, err := in.open(ctx); err == nil {
			t.Fatal("it was opened at an address that is taken")
		}
		if n := strings.Count(log.String(), "the source cannot be opened"); n != 2 {
			t.Errorf("of two reasons in 50 s the log has %d lines:\n%s", n, log.String())
		}
	})
}

func TestReasonsThatAreAllDifferentDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said reasons
		told := 0
		for n := range 1000 {
			if said.isNews(errors.New("error " + strings.Repeat("x", n))) {
				told++
			}
		}
		if told != maxReasons {
			t.Errorf("%d are told, want %d", told, maxReasons)
		}
		<-time.After(betweenSayings)
		if !said.isNews(errors.New("error at port 1")) || said.isNews(errors.New("error at port 2")) {
			t.Error("a minute later one is not told, or another port is another reason")
		}
	})
}
