package suitetest

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Random returns random numbers that are the same in every run of the same case.
func Random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := fnv.New64a()
	_, name, _ := strings.Cut(t.Name(), "/")
	seed.Write([]byte(name))
	return rand.New(rand.NewPCG(seed.Sum64(), 1))
}

// Bytes returns n random bytes.
func Bytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Within returns a context that ends after d, and with the case.
func Within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// Until repeats try until it says true, and fails the case after patience.
func Until(t *testing.T, patience time.Duration, what string, try func() bool) {
	t.Helper()
	ctx := Within(t, patience)
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for !try() {
		select {
		case <-ctx.Done():
			t.Fatalf("after %v still not: %s", patience, what)
		case <-pause.C:
		}
	}
}

// Discreet fails the case if an error says nothing, or contains one of secrets. Empty ones do not count.
func Discreet(t *testing.T, err error, secrets []string) {
	t.Helper()
	text := err.Error()
	if strings.TrimSpace(text) == "" {
		t.Error("an error has no text; say what failed and what to do")
	}
	for i, secret := range secrets {
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("an error contains secret %d of the case (a payload, key, header value or credential)", i)
		}
	}
}
