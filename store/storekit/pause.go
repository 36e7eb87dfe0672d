package storekit

import (
	"cmp"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
)

// PauseText is what the audit log says of a pause that begins, or that an operator ends.
func PauseText(p store.Pause, begins bool) string {
	if !begins {
		return "resume " + p.String()
	}
	text := "pause " + p.String()
	if !p.Until.IsZero() {
		text += " until " + p.Until.UTC().Format(time.RFC3339)
	}
	return text
}

// WholePause is the pause of a whole subscription, without an end.
func WholePause(r store.Ref) store.Pause {
	return store.Pause{Ref: r, Scope: store.PauseSubscription}
}

// BeginPause returns p as it is stored now: who and why are of a, and the end is d from now
// if d is not zero. The error is what is wrong with it.
func BeginPause(a store.Audit, p store.Pause, d time.Duration, now time.Time) (store.Pause, error) {
	if err := CheckAudit(a); err != nil {
		return p, err
	}
	if err := p.Validate(); err != nil {
		return p, err
	}
	p.Who, p.Why, p.Since = a.Who, a.Why, now
	if d != 0 {
		p.Until = now.Add(d)
	}
	if p.Over(now) || d < 0 {
		return p, store.ErrPauseOver
	}
	return p, nil
}

// SortPauses brings pauses into the sequence of their begins.
func SortPauses(all []store.Pause) {
	slices.SortFunc(all, func(a, b store.Pause) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.String(), b.String()))
	})
}
