package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	secretPrefix = "whsec_"
	minSecret    = 24 // bytes, of Standard Webhooks, "Signature scheme"
	maxSecret    = 64
	newSecret    = 32
	version      = "v1," // begins a symmetric signature
)

// key is a secret's bytes.
type key []byte

// NewSecret draws a secret of 32 random bytes in the form that Options.Secrets
// and Verify take. Give each endpoint its own.
func NewSecret() string {
	var b [newSecret]byte
	// crypto/rand.Read never returns an error since Go 1.24.
	_, _ = rand.Read(b[:])
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

// parseSecrets reads all secrets and returns every fault, by place and never by
// content.
func parseSecrets(secrets []string) ([]key, error) {
	var faults []error
	keys := make([]key, 0, len(secrets))
	for i, s := range secrets {
		k, err := parseSecret(s)
		if err != nil {
			faults = append(faults, fmt.Errorf("secret %d: %w", i+1, err))
			continue
		}
		keys = append(keys, k)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return keys, nil
}

func parseSecret(s string) (key, error) {
	text, ok := strings.CutPrefix(s, secretPrefix)
	if !ok {
		return nil, errors.New(`it does not begin with "whsec_"; make one with webhook.NewSecret`)
	}
	// Padding is optional, as other libraries hand secrets out without it.
	k, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New(`it is not base64 after "whsec_"; copy it whole, or make one with webhook.NewSecret`)
	}
	if len(k) < minSecret || len(k) > maxSecret {
		return nil, fmt.Errorf("it has %d bytes, not %d to %d; make one with webhook.NewSecret", len(k), minSecret, maxSecret)
	}
	return k, nil
}

// sum signs one attempt: HMAC-SHA256 over "id.timestamp.payload".
func (k key) sum(id, stamp string, payload []byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, k)
	head := make([]byte, 0, 64)
	head = append(head, id...)
	head = append(head, '.')
	head = append(head, stamp...)
	head = append(head, '.')
	mac.Write(head)
	mac.Write(payload)
	var out [sha256.Size]byte
	mac.Sum(out[:0])
	return out
}

// signature is the value of webhook-signature: one v1 signature per key,
// separated by spaces.
func signature(keys []key, id, stamp string, payload []byte) string {
	each := len(version) + base64.StdEncoding.EncodedLen(sha256.Size) + 1
	b := make([]byte, 0, each*len(keys))
	for i, k := range keys {
		if i > 0 {
			b = append(b, ' ')
		}
		sum := k.sum(id, stamp, payload)
		b = append(b, version...)
		b = base64.StdEncoding.AppendEncode(b, sum[:])
	}
	return string(b)
}
