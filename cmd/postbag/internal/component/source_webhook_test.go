package component

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// The server reads what is left of a body before it writes the answer.
func TestARequestForAnotherPathWhoseBodyNeverComesIsCutOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits for bodyTimeout, 15 s")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := &WebhookSource{Listen: "0", Path: "/hooks", SecretsFile: []string{secret}}
	from, err := OpenSource(t.Context(), config.Intake{Name: "hooks", From: config.Origin{Kind: "webhook", Settings: settings}}, &Store{}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := from.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	listens, can := from.(interface{ Address() string })
	if !can {
		t.Fatalf("%T does not say where it listens", from)
	}
	c, err := net.Dial("tcp", listens.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(4 * bodyTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\no"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("the answer is %d", answer.StatusCode)
	}
}
