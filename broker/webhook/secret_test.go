package webhook

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The example that the libraries of Standard Webhooks share.
func TestTheSignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	keys, err := parseSecrets([]string{secretA})
	if err != nil {
		t.Fatal(err)
	}
	got := signature(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTheSignatureHeaderHasOneSignaturePerSecret(t *testing.T) {
	t.Parallel()
	keys, err := parseSecrets([]string{secretA, secretB})
	if err != nil {
		t.Fatal(err)
	}
	both := signature(keys, "id", "1", []byte("x"))
	if want := signature(keys[:1], "id", "1", []byte("x")) + " " + signature(keys[1:], "id", "1", []byte("x")); both != want {
		t.Errorf("got %s, want %s", both, want)
	}
}

func TestSecretsAreParsedOrRefused(t *testing.T) {
	t.Parallel()
	encoded := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	good := []string{secretA, secretB, strings.TrimRight(secretB, "="), NewSecret(), "whsec_" + encoded(24), "whsec_" + encoded(64)}
	for _, s := range good {
		if _, err := parseSecret(s); err != nil {
			t.Errorf("a good secret: %v", err)
		}
	}
	bad := []string{"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!", "whsec_" + encoded(23), "whsec_" + encoded(65), "whsk_" + encoded(32), " " + secretA}
	for _, s := range bad {
		_, err := parseSecret(s)
		if err == nil {
			t.Errorf("%q is taken", s)
			continue
		}
		if s != "" && strings.Contains(err.Error(), s) && s != "whsec_" {
			t.Errorf("the error quotes the secret: %v", err)
		}
	}
}

func TestNewSecretsDiffer(t *testing.T) {
	t.Parallel()
	first, second := NewSecret(), NewSecret()
	if first == second {
		t.Error("two secrets are alike")
	}
}

func BenchmarkSignature(b *testing.B) {
	keys, err := parseSecrets([]string{secretA})
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{0, 1 << 10, 64 << 10} {
		payload := make([]byte, size)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			b.ReportAllocs()
			stamp := strconv.FormatInt(time.Now().Unix(), 10)
			for b.Loop() {
				signature(keys, "01890a5d-ac96-774b-bcce-b302099a8057", stamp, payload)
			}
		})
	}
}
