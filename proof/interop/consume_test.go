package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// seen is a message as a consumer of somebody else's read it.
type seen struct {
	Key         string            `json:"key"`
	Headers     map[string]string `json:"headers"`
	ContentType string            `json:"content_type"` //nolint:tagliatelle // the script's name
	Payload     []byte            `json:"payload"`      // nil: null
	// Attributes and Data are what the CloudEvents SDK made of it, if it is an event.
	Attributes map[string]string `json:"attributes"`
	Data       any               `json:"data"`
}

// python is where the clients are, which "make interop" brings.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("POSTBAG_INTEROP_PYTHON")
	if path == "" {
		t.Skip("the consumers of others are brought, and run, by make interop")
	}
	return path
}

// consume has the script read n messages.
func consume(t *testing.T, kind, address, place string, n int, input []byte) []seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, python(t), filepath.Join("testdata", "consume.py"), kind, address, place, strconv.Itoa(n))
	run.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	run.Stderr = &complaints
	output, err := run.Output()
	if err != nil {
		t.Fatalf("the consumer failed: %v\n%s", err, complaints.String())
	}
	var read []seen
	if err := json.Unmarshal(output, &read); err != nil {
		t.Fatalf("the consumer says %q: %v", output, err)
	}
	if len(read) != n {
		t.Fatalf("the consumer read %d messages, want %d\n%s", len(read), n, complaints.String())
	}
	return read
}
