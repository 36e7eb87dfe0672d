package config

import (
	"strings"
	"testing"
)

func TestASizeIsANumberOfBytesOrHasAUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{"0": 0, "1_000": 1000, "512KiB": 512 << 10, "64MiB": 64 << 20, "1 GiB": 1 << 30, "-1": -1} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "64MB", "64 M", "1.5GiB", "9223372036854775807GiB"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "64MiB") {
			t.Errorf("%q is %d, %v; want an error that says how to write it", text, got, err)
		}
	}
}
