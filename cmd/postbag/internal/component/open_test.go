package component

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPathOfASQLiteFileIsReadInEverySpelling(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"shop.db": "shop.db", "sqlite:shop.db": "shop.db", "SQLite:shop.db": "shop.db", "sqlite:///var/shop.db": "/var/shop.db",
		"sqlite:/var/shop.db": "/var/shop.db", "file:shop.db": "shop.db", "./sqlite:x": "./sqlite:x",
	} {
		if got := sqlitePath(dsn); got != want {
			t.Errorf("%s is the file %q, want %q", dsn, got, want)
		}
	}
}

func TestEveryComponentNamesAModuleOfThisRepository(t *testing.T) {
	t.Parallel()
	for _, one := range List() {
		folder := strings.TrimPrefix(strings.TrimPrefix(one.Module, "github.com/postbag/postbag"), "/")
		if _, err := os.Stat(filepath.Join("..", "..", "..", "..", folder, "go.mod")); err != nil {
			t.Errorf("%s %s: there is no module %s: %v", one.What, one.Kind, one.Module, err)
		}
	}
}

func TestWebhookTrustsTheAuthorityOfItsFile(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	ca, secret := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "secret")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for path, text := range map[string][]byte{ca: certificate, secret: []byte(webhook.NewSecret() + "\n")} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hook := &Webhook{
		Address: Address{URL: server.URL}, SecretsFile: []string{secret}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
	d := config.Destination{Kind: "webhook", Settings: hook}
	for file, want := range map[string]broker.Outcome{ca: broker.Accepted, "": broker.Misconfigured} {
		hook.CAFile = file
		to, err := OpenDestination(t.Context(), "hook", d, &terminal.Terminal{Out: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		results := broker.Publish(t.Context(), to, []broker.Delivery{{Message: postbag.Message{ID: postbag.NewID()}, Attempt: 1}})
		if got := results[0].Outcome; got != want && (want == broker.Accepted || got == broker.Accepted) {
			t.Errorf("with the authority %q the message is %v (%v), want %v", file, got, results[0].Err, want)
		}
		if err := to.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
