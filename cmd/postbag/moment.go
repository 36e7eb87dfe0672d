package main

import (
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// moment reads a time: RFC 3339, a date, or a span such as 90s, 2h, 7d or P7D from
// now, in the direction of sign.
func moment(flag, text string, now time.Time, sign int) (time.Time, error) {
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	span, err := duration.Parse(text)
	if err != nil || span < 0 {
		return time.Time{}, exit.Usagef("--%s is no time; write 2026-01-31T12:00:00Z, 2026-01-31, or a span such as 90s, 2h, 7d or P7D", flag)
	}
	return now.Add(time.Duration(sign) * span), nil
}
