package main

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/relay"
)

func TestRetriesOfTheFileAreThoseOfTheRelay(t *testing.T) {
	t.Parallel()
	pauses := []time.Duration{time.Second, time.Minute}
	all, rules := retries(&config.Retry{
		Min: 10 * time.Second, Max: time.Minute, Factor: 2, Pauses: pauses, MaxAttempts: 7, MaxAge: time.Hour, Quick: 1,
		Rules: []config.RetryRule{
			{Types: []string{"a.*"}, Errors: []string{"Too Large", "gone"}, MaxAttempts: 1},
			{Min: time.Second, Max: 2 * time.Second, Factor: 3, MaxAge: time.Minute, Quick: 2},
		},
	})
	if want := (relay.Retry{Pauses: pauses, MaxAttempts: 7, MaxAge: time.Hour, Quick: 1}); !reflect.DeepEqual(all, want) {
		t.Errorf("retry is %+v, want %+v", all, want)
	}
	if want := (relay.RetryRule{Retry: relay.Retry{Min: time.Second, Max: 2 * time.Second, Factor: 3, MaxAge: time.Minute, Quick: 2}}); !reflect.DeepEqual(rules[1], want) {
		t.Errorf("the second rule is %+v, want %+v", rules[1], want)
	}
	first := rules[0]
	if !reflect.DeepEqual(first.Types, []string{"a.*"}) || first.Retry.MaxAttempts != 1 {
		t.Errorf("the first rule is %+v", first)
	}
	for text, want := range map[string]bool{"413: the payload is TOO LARGE": true, "it is gone": true, "large": false} {
		if first.Errors(errors.New(text)) != want {
			t.Errorf("the first rule is for %q: %v", text, !want)
		}
	}
}
