package storekit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// Itself is the name in the audit log for what a store does without being asked.
const Itself = "postbag"

// Notices are made of the latest NoticeEntries that can be of one, among the latest NoticesAmong entries of the audit log, and of none
// older than a day. What else is in the log, such as looks at payloads, does not push them out.
const (
	NoticeEntries = 1000
	NoticesAmong  = 20_000
	noticeTime    = 24 * time.Hour
)

// OfNotice says whether a notice can be made of an entry of the audit log, or can end by it. Stores ask the same in SQL.
func OfNotice(e *store.AuditEntry) bool {
	return e.Who == Itself || strings.HasPrefix(e.What, accepting)
}

const accepting = "accept ledger "

// Acknowledged is the line of the audit log for an operator who accepted the ledger of a
// box although nothing was missing. That acknowledges the notices of the box.
func Acknowledged(box string) string { return accepting + box + ": it lacks nothing" }

// Notices returns, by box, what people should know from the latest entries of an audit
// log, newest first. That is what the store itself did in the last day, until an operator
// accepts the ledger of the box. These entries name the box, or a subscription of it,
// after "set back", "look through", "send", "keep" or "write no dead letter of".
func Notices(entries []store.AuditEntry, now time.Time) map[string][]store.Notice {
	out := map[string][]store.Notice{}
	seen := map[string]bool{}
	for _, e := range entries {
		if at, ok := boxBehind(e.What, accepting); ok {
			seen[at] = true
		}
		if e.Who != Itself || now.Sub(e.At) > noticeTime {
			continue
		}
		for _, verb := range []string{"set back ", "look through ", "send ", keeping, noLetter} {
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

const keeping = "keep "

// Kept is the line of the audit log for messages that retention keeps because the ledger
// of a subscription does not agree with the log from a seq on.
func Kept(r store.Ref, seq int64) string { return fmt.Sprintf("%s%s from seq %d on", keeping, r, seq) }

// KeptWhy says why that is.
func KeptWhy(passed, told int64) string {
	return fmt.Sprintf("its ledger does not agree with the log: %d messages passed, %d accounted for (or other ones)", passed, told)
}

// KeptScheduled is the line of the audit log for scheduled messages of boxes that do not
// exist. It is a notice of a box that does. none are their names, for people.
func KeptScheduled(box, none string) string {
	return fmt.Sprintf("%s%s: messages that are scheduled for %s", keeping, box, none)
}

// Told says whether one of some notices says what was done.
func Told(notices []store.Notice, what string) bool {
	return slices.ContainsFunc(notices, func(n store.Notice) bool { return n.What == what })
}
