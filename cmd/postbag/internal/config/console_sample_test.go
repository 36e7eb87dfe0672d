package config

import (
	"testing"
	"time"
)

func TestSamplesOfTheConsoleAreADurationOrOff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "off": -1, "2s": 2 * time.Second, "5s": 5 * time.Second, "PT30S": 30 * time.Second} {
		if got, mistake := (&Console{Sample: text}).Sampling(); got != want || mistake != "" {
			t.Errorf("%q is %v: %s", text, got, mistake)
		}
	}
	for _, text := range []string{"0", "1s", "31s", "-5s", "never", "5"} {
		if setting, mistake := (&Console{Sample: text}).Mistake(); setting != "sample" || mistake == "" {
			t.Errorf("%q is taken: %s", text, mistake)
		}
	}
}
