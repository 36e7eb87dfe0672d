package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// moment reads a time: RFC 3339, a date, or a span such as 90s, 2h or 7d from
// now, in the direction of sign.
func moment(flag, text string, now time.Time, sign int) (time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	span, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, daysErr := strconv.ParseUint(days, 10, 16)
		span, err = time.Duration(n)*24*time.Hour, daysErr
	}
	if err != nil || span < 0 {
		return time.Time{}, exit.Usagef("--%s is no time; write 2026-01-31T12:00:00Z, 2026-01-31, or a span such as 90s, 2h or 7d", flag)
	}
	return now.Add(time.Duration(sign) * span), nil
}
