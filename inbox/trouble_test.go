package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/internal/outagelog"
)

// troubled is a trouble whose log is kept.
func troubled() (*trouble, *bytes.Buffer, *int) {
	var log bytes.Buffer
	var told int
	return storeTrouble(slog.New(slog.NewTextHandler(&log, nil)), func(error) { told++ }), &log, &told
}

func TestAnOutageThatGetsAnotherCauseIsToldOfAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trouble, log, told := troubled()
		for n := range 20 {
			trouble.met(t.Context(), fmt.Errorf("dial from port %d: connection refused", 40_000+n))
		}
		for range 20 {
			trouble.note(errors.New("permission denied for table inbox"))
			trouble.note(errors.New("dial from port 50000: connection refused"))
		}
		trouble.over()
		trouble.over()
		for text, want := range map[string]int{
			"an inbox fails": 1, "an inbox still fails": 2, "connection refused": 2, "permission denied": 1, "works again": 1,
		} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("the log has %q %d times, not %d:\n%s", text, got, want, log)
			}
		}
		if *told != 60 {
			t.Errorf("OnError heard of %d errors of 60", *told)
		}
	})
}

func TestAnOutageThatLastsIsToldOfOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trouble, log, _ := troubled()
		for start := time.Now(); time.Since(start) < 10*time.Minute; {
			trouble.met(t.Context(), errors.New("connection refused"))
		}
		if n := strings.Count(log.String(), "\n"); n < 9 || n > 11 {
			t.Errorf("in 10 minutes the log got %d lines:\n%s", n, log)
		}
	})
}

func TestAnOutageThatComesBackAtOnceForTheSameReasonIsToldOfOnlyIfItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trouble, log, _ := troubled()
		times := func(text string) int { return strings.Count(log.String(), text) }
		full := errors.New("the disk is full")
		for range 20 {
			trouble.met(t.Context(), full)
			trouble.over()
		}
		if began, ended := times("an inbox fails"), times("works again"); began != 1 || ended != 1 {
			t.Errorf("the log tells %d times that it fails, and %d times that it works again:\n%s", began, ended, log)
		}
		trouble.met(t.Context(), errors.New("connection refused"))
		trouble.over()
		if n := times("an inbox fails"); n != 2 {
			t.Errorf("another reason is told of %d times:\n%s", n-1, log)
		}
		for start := time.Now(); time.Since(start) < 2*outagelog.Flicker; {
			trouble.met(t.Context(), errors.New("connection refused"))
		}
		trouble.over()
		if began, ended := times("an inbox fails"), times("works again"); began != 3 || ended != 3 {
			t.Errorf("of an outage that lasts the log tells %d and %d times, not 3:\n%s", began, ended, log)
		}
	})
}
