package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultTolerance is how far a webhook's timestamp may lie from the receiver's
// clock, either way, unless it says otherwise.
const DefaultTolerance = 5 * time.Minute

// Errors of Verify and Receive. They are wrapped; use errors.Is, or StatusOf.
var (
	// ErrMalformed says that the request is no webhook of Postbag's: a header is
	// missing or cannot be read.
	ErrMalformed = errors.New("webhook: request is malformed")
	// ErrSignature says that no signature matches any secret.
	ErrSignature = errors.New("webhook: no signature matches; check that both sides have the same secret and that nothing changes the body")
	// ErrTimestamp says that the signature matches, but was made too long ago or
	// in the future: a replay, or clocks that differ.
	ErrTimestamp = errors.New("webhook: timestamp is outside the tolerance; check both clocks")
	// ErrTooLarge says that the body is longer than the receiver takes.
	ErrTooLarge = errors.New("webhook: body is too large; raise ReceiveOptions.MaxBytes")
)

// StatusOf returns the status code to answer with after Receive or Verify
// returned err: 204 for nil, 401 for a signature or a timestamp, so that the
// sender stops until it is set right, 413 for a body too large, 400 for a
// malformed request, and 500 for any other error, so that it is sent again.
func StatusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusNoContent
	case errors.Is(err, ErrSignature), errors.Is(err, ErrTimestamp):
		return http.StatusUnauthorized
	case errors.Is(err, ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrMalformed):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// Verify checks the signature of a webhook with this header and body: one of its
// v1 signatures must match one of secrets, and its timestamp must be within
// tolerance of now. A tolerance that is zero or less is DefaultTolerance. Errors
// are ErrMalformed, ErrSignature and ErrTimestamp, or say what is wrong with a
// secret. It takes webhooks of any sender that follows Standard Webhooks, and
// tells nothing by the time it takes to compare.
//
// What is signed is the id, the timestamp and the body. The other headers are as
// safe as the connection.
func Verify(secrets []string, header http.Header, body []byte, tolerance time.Duration, now time.Time) error {
	if len(secrets) == 0 {
		return errors.New("webhook: there is no secret to verify with; use the sender's")
	}
	keys, err := parseSecrets(secrets)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return verify(keys, header, body, tolerance, now)
}

// verify is Verify with secrets that were read.
func verify(keys []key, header http.Header, body []byte, tolerance time.Duration, now time.Time) error {
	id, err := single(header, HeaderWebhookID)
	if err != nil {
		return err
	}
	stamp, err := single(header, HeaderWebhookTimestamp)
	if err != nil {
		return err
	}
	signatures, err := single(header, HeaderWebhookSignature)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return malformed("%s is not a number of seconds", HeaderWebhookTimestamp)
	}
	if !anyMatch(keys, id, stamp, body, signatures) {
		return ErrSignature
	}
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	// In seconds, as a timestamp far away would overflow a Duration.
	most, distance := int64(tolerance/time.Second), now.Unix()-seconds
	if seconds < 0 || distance > most || -distance > most {
		return ErrTimestamp
	}
	return nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format+"; send it as docs/reference/webhook.md says", append([]any{ErrMalformed}, args...)...)
}

// single returns a header that must be there once.
func single(header http.Header, name string) (string, error) {
	values := header.Values(name)
	if len(values) != 1 || values[0] == "" {
		return "", malformed("%s is there %d times, not once", name, len(values))
	}
	return values[0], nil
}

// anyMatch compares every signature with every key, whatever was found before.
func anyMatch(keys []key, id, stamp string, body []byte, signatures string) bool {
	found := false
	for _, k := range keys {
		sum := k.sum(id, stamp, body)
		for s := range strings.FieldsSeq(signatures) {
			text, ok := strings.CutPrefix(s, version)
			if !ok {
				continue // another scheme, such as v1a
			}
			given, err := base64.StdEncoding.DecodeString(text)
			if err == nil && hmac.Equal(given, sum[:]) {
				found = true
			}
		}
	}
	return found
}
