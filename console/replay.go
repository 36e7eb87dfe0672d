package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Replays are the replays of a box in JSON. Those that are through are not there any more.
type Replays struct {
	// The replays.
	Replays []operations.Replay `json:"replays"`
}

// replays returns those of the box that the path names.
func (c *console) replays(r *http.Request) (v Replays, err error) {
	v.Replays = []operations.Replay{}
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	now, _, err := d.overview(r.Context())
	if err != nil {
		return v, err
	}
	at := slices.IndexFunc(now.Boxes, func(b store.BoxView) bool { return b.Name == r.PathValue("box") })
	if at < 0 {
		return v, errNoBox
	}
	if d.ops.Replayer != nil {
		err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) (err error) { // of one that is through, what waits behind dead messages
			v.Replays, err = ops.ReplaysOf(ctx, now.Boxes[at:at+1])
			return err
		})
	}
	return v, err
}

// ReplayPreview is what a replay would do, in JSON.
type ReplayPreview struct {
	// None: nothing says where it begins.
	Plan *ReplayPlan `json:"plan,omitempty"`
}

// ReplayPlan is a replay that is not made yet, in JSON.
type ReplayPlan struct {
	// The seqs that it would send again: above after, up to through.
	After   int64 `json:"after"`
	Through int64 `json:"through"`
	// About how many messages it would look at.
	Messages int64 `json:"messages"`
	// Only some of these come: types, keys or the filter of the subscription leave the others out.
	Narrowed bool `json:"narrowed"`
	// It asks for messages that the box does not hold any more.
	Gone bool `json:"gone"`
	// When the oldest message that the box holds was stored.
	Oldest time.Time `json:"oldest"`
	// About how long it takes at its rate; zero: it has none.
	Seconds float64 `json:"seconds"`
	// What begins it, to paste into a shell: the reason comes behind it, and postbag.yaml is the name of your file. None: a value has signs
	// that a terminal may take for keys.
	Command string `json:"command,omitempty"`
}

// replayParameters say what a replay sends again. Those of the command line have the same names, with - in place of _.
var replayParameters = []parameter{
	{"from", "Begin with what was stored at this time or later, as 2026-01-31T12:00:00Z. One of from, from_seq and last says where it begins."},
	{"from_seq", "Begin with this seq."},
	{"last", "Begin with the latest messages, about so many."},
	{"to", "End before what was stored at this time. Neither to nor to_seq: where the box ends now."},
	{"to_seq", "End with this seq."},
	{"types", "Only messages of these types, with commas between: exact, or a prefix and .*"},
	{"key", "Only messages of this key."},
	{"rate", "The most messages a second. Empty: the rate of the subscription."},
	{"destination", "The name of the destination. Empty: that of the subscription."},
}

// replayPreview says what a replay of a subscription would do.
func (c *console) replayPreview(r *http.Request) (v ReplayPreview, err error) {
	choice, err := replayOf(r)
	if err != nil {
		return v, err
	}
	d, err := c.database(r)
	if err != nil || len(r.URL.Query()) == 0 {
		return v, err
	}
	var p *operations.ReplayPlan
	err = d.ask(r.Context(), func(ctx context.Context) (err error) {
		p, err = d.ops.PlanReplay(ctx, choice)
		return err
	})
	if err != nil {
		return v, err
	}
	v.Plan = &ReplayPlan{
		After: p.After, Through: p.Through, Messages: p.Messages, Narrowed: p.Narrowed(), Gone: p.Gone, Oldest: p.Oldest.UTC(), Seconds: p.Takes().Seconds(),
		Command: replayCommand(r, c.sheet(r, nil).storeFlags(d.name)),
	}
	return v, nil
}

// replayOf reads what a replay would send again.
func replayOf(r *http.Request) (v operations.ReplayChoice, err error) {
	q := r.URL.Query()
	v.Ref = store.Ref{Box: r.PathValue("box"), Subscription: r.PathValue("subscription")}
	switch {
	case postbag.ValidBox(v.Box) != nil:
		return v, errNoBox
	case postbag.ValidSubscription(v.Subscription) != nil:
		return v, store.ErrNoSubscription
	}
	for name, at := range map[string]*time.Time{"from": &v.From, "to": &v.To} {
		if text := q.Get(name); text != "" {
			if *at, err = time.Parse(time.RFC3339, text); err != nil {
				return v, badRequestf("%s is no time; write it as 2026-01-31T12:00:00Z, with + as %%2B", name)
			}
		}
	}
	for name, at := range map[string]*int64{"from_seq": &v.FromSeq, "last": &v.Last, "to_seq": &v.ToSeq} {
		if text := q.Get(name); text != "" {
			if *at, err = strconv.ParseInt(text, 10, 64); err != nil || *at < 1 {
				return v, badRequestf("%s is no number above zero; write one, or leave it out", name)
			}
		}
	}
	if text := q.Get("rate"); text != "" {
		if v.Rate, err = strconv.ParseFloat(text, 64); err != nil || !(v.Rate > 0) {
			return v, badRequestf("rate is no number above zero; write the messages of a second, or leave it out")
		}
	}
	if text := q.Get("types"); text != "" {
		v.Types = strings.Split(text, ",")
	}
	if text := q.Get("key"); text != "" {
		v.Keys = []string{text}
	}
	v.Destination = q.Get("destination")
	return v, nil
}

// replayCommand is the command that begins the replay that a request asks about. Empty: it cannot be pasted.
func replayCommand(r *http.Request, storeFlags string) string {
	words := []string{"postbag replay start", storeFlags, "--box", quoted(r.PathValue("box")), "--subscription", quoted(r.PathValue("subscription"))}
	for _, p := range replayParameters {
		text := r.URL.Query().Get(p.name)
		switch {
		case text == "":
			continue
		case !operations.Pasteable(text):
			return ""
		}
		words = append(words, "--"+strings.ReplaceAll(p.name, "_", "-"), quoted(text))
	}
	return strings.Join(append(words, "--why "), " ")
}

// ReplayCommand is the command that resumes or cancels a replay, for a shell.
func (s *sheet) ReplayCommand(do string, r operations.Replay) string {
	return strings.Join([]string{"postbag replay", do, quoted(r.Name), s.storeFlags(s.Database), "--box", quoted(r.Box), "--why "}, " ")
}
