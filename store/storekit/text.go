package storekit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag/store"
)

// maxReason is the most that is kept of an error's text, in bytes.
const maxReason = 1024

// Reason turns the text of an error into valid text of at most 1,024 bytes, without NUL.
func Reason(reason string) string {
	reason = strings.ReplaceAll(strings.ToValidUTF8(reason, "\uFFFD"), "\x00", "\uFFFD")
	if len(reason) <= maxReason {
		return reason
	}
	cut := maxReason
	for !utf8.RuneStart(reason[cut]) {
		cut--
	}
	return reason[:cut]
}

// TypesText returns the stored form of a filter, a JSON array. Equal filters have equal
// texts.
func TypesText(types []string) (string, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(types)))
	if len(sorted) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(sorted)
	return string(text), err
}

// TypePrefix returns "order." for "order.*", and false for an exact type.
func TypePrefix(t string) (string, bool) {
	if n := len(t) - 1; n > 0 && t[n] == '*' && t[n-1] == '.' {
		return t[:n], true
	}
	return "", false
}

// WorksText is how a heartbeat row lists subscriptions: pairs, in JSON.
func WorksText(refs []store.Ref) (string, error) {
	pairs := make([][2]string, len(refs))
	for i, r := range refs {
		pairs[i] = [2]string{r.Box, r.Subscription}
	}
	text, err := json.Marshal(pairs)
	return string(text), err
}

// ParseWorks reads what WorksText has written.
func ParseWorks(text string) ([]store.Ref, error) {
	var pairs [][2]string
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, fmt.Errorf("read a heartbeat row: %w; delete it from postbag__relay", err)
	}
	out := make([]store.Ref, len(pairs))
	for i, p := range pairs {
		out[i] = store.Ref{Box: p[0], Subscription: p[1]}
	}
	return out, nil
}

// CommandName returns what an audit log calls a command.
func CommandName(kind store.CommandKind) (string, error) {
	switch kind {
	case store.Retry:
		return "retry", nil
	case store.Discard:
		return "discard", nil
	}
	return "", fmt.Errorf("command of kind %d is unknown; use store.Retry or store.Discard", kind)
}

// SeqList returns seqs as text, cut short after 20.
func SeqList(seqs []int64) string {
	const most = 20
	var b strings.Builder
	for i, seq := range seqs {
		switch {
		case i == most:
			fmt.Fprintf(&b, " and %d more", len(seqs)-most)
			return b.String()
		case i > 0:
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, seq)
	}
	return b.String()
}

// CheckAudit refuses a command that does not say who and why.
func CheckAudit(a store.Audit) error {
	if a.Who == "" || a.Why == "" {
		return errors.New("who or why is missing; give both, they go to the audit log")
	}
	return nil
}
