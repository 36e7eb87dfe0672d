package storekit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// ReplayText is what the audit log says of a replay that begins. It names no key.
func ReplayText(r *store.Replay) string {
	var b strings.Builder
	fmt.Fprintf(&b, "start replay %s of %s, seqs %d to %d", r.Ref, r.Of, r.After+1, r.Through)
	if !r.From.IsZero() {
		b.WriteString(", stored from " + r.From.UTC().Format(time.RFC3339Nano))
	}
	if !r.Before.IsZero() {
		b.WriteString(", stored before " + r.Before.UTC().Format(time.RFC3339Nano))
	}
	if len(r.Types) > 0 {
		b.WriteString(", types " + strings.Join(r.Types, " "))
	}
	if !r.Where.Empty() {
		f := store.Filter{Where: r.Where}
		b.WriteString(", " + f.String())
	}
	if len(r.Keys) > 0 {
		fmt.Fprintf(&b, ", %d keys", len(r.Keys))
	}
	if r.Destination != "" {
		b.WriteString(", to " + r.Destination)
	}
	return Reason(b.String())
}

// ReplayEndText is what the audit log says of a replay that ends.
func ReplayEndText(r store.Ref, summary string) string {
	return Reason("end replay " + r.String() + ": " + summary)
}

// ReplayJSON is how a subscription's row has a replay.
func ReplayJSON(r *store.Replay) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// ParseReplay reads what ReplayJSON has written. Empty text is no replay.
func ParseReplay(text string, of store.Ref, shards int) (*store.Replay, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no replay, no error
	}
	r := &store.Replay{Ref: of, Shards: shards}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("read the replay %s: %w; a newer program may have written it", of, err)
	}
	return r, nil
}
