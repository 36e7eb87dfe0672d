package storekit

import (
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// Itself is who did what a store does of its own accord, in the audit log.
const Itself = "postbag"

// Of how many entries of the audit log, and how old ones at most, notices are made.
const (
	NoticeEntries = 1000
	noticeTime    = 24 * time.Hour
)

// Acknowledged is what the audit log says of an operator who has seen the notices of a
// box, where the ledger lacked nothing.
func Acknowledged(box string) string { return "accept ledger " + box + ": it lacks nothing" }

// Notices returns what the latest entries of an audit log, newest first, have for
// people to know, by box: what the store itself did in the last day, until an operator
// accepts the ledger of the box. They name the box, or a subscription of it, behind
// "set back", "look through" or "send".
func Notices(entries []store.AuditEntry, now time.Time) map[string][]store.Notice {
	out := map[string][]store.Notice{}
	seen := map[string]bool{}
	for _, e := range entries {
		if at, ok := boxBehind(e.What, "accept ledger "); ok {
			seen[at] = true
		}
		if e.Who != Itself || now.Sub(e.At) > noticeTime {
			continue
		}
		for _, verb := range []string{"set back ", "look through ", "send "} {
			if at, ok := boxBehind(e.What, verb); ok && !seen[at] {
				out[at] = append(out[at], store.Notice{Ago: max(now.Sub(e.At), 0), What: e.What, Why: e.Why})
			}
		}
	}
	return out
}

// boxBehind returns the box that a text names behind some words.
func boxBehind(text, words string) (string, bool) {
	rest, ok := strings.CutPrefix(text, words)
	if end := strings.IndexAny(rest, "/ :,"); end >= 0 {
		rest = rest[:end]
	}
	return rest, ok && rest != ""
}
