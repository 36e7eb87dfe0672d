package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// ReplayChoice says which messages to send again.
type ReplayChoice struct {
	// Ref is the subscription whose messages they are.
	store.Ref

	// Name is that of the replay. Empty: one with the time in it.
	Name string
	// From, FromSeq or Last says where it begins: with what was stored at a time or later, with a seq, or with about the
	// latest messages, so many. Exactly one is given.
	From    time.Time
	FromSeq int64
	Last    int64
	// To or ToSeq says where it ends: before a time, or with a seq. Neither: where the box ends now.
	To    time.Time
	ToSeq int64
	// Types narrow the subscription's own filter, in the same form. Empty: all of that.
	Types []string
	// Keys are those whose messages come. Empty: all.
	Keys []string
	// Rate is the most messages a second. Zero: no limit of its own.
	Rate float64
	// Destination is where they go, by its name in the configuration.
	Destination string
	// Unmarked leaves out the header that says that a message comes again.
	Unmarked bool
}

// ReplayPlan is what a replay would do.
type ReplayPlan struct {
	store.Replay

	// Messages is about how many it looks at. Types and keys let through some of them.
	Messages int64
	// Settings are what operators have set of the subscription's policy, which holds for the replay, too.
	Settings []store.Setting
	// Oldest is when the first message that the box still holds was stored, and Gone says that the replay asks for older ones.
	Oldest time.Time
	Gone   bool
}

// Takes is about how long a replay takes at its rate. Zero: it has none.
func (p *ReplayPlan) Takes() time.Duration {
	rate := p.Rate
	for i := range p.Settings {
		var policy store.Policy
		if policy.Set(p.Settings[i].Name, p.Settings[i].Value) == nil && policy.Rate != nil {
			rate = policy.Rate.Messages
		}
	}
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(p.Messages) / rate * float64(time.Second))
}

// Narrowed says that only some of the messages come that the replay looks at.
func (p *ReplayPlan) Narrowed() bool {
	return len(p.Types) > 0 || len(p.Keys) > 0 || !p.Where.Empty()
}

// seqSlack is how many seqs a message may have been stored out of the order of time. What is outside of the times of a
// replay is left out by the time of each message.
const seqSlack = 2000

// PlanReplay finds out what a replay would do. It refuses one that is wrong, or empty, and writes nothing.
func (s Store) PlanReplay(ctx context.Context, c ReplayChoice) (*ReplayPlan, error) {
	if s.Replayer == nil {
		return nil, refusef(ErrUnsupported, "this kind of store keeps no replays")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	o, err := s.Look(ctx, c.Box)
	if err != nil {
		return nil, err
	}
	box := &o.Boxes[0]
	i := slices.IndexFunc(box.Subscriptions, func(v store.SubscriptionView) bool { return v.Subscription == c.Subscription })
	if i < 0 {
		return nil, refusef(ErrNotFound, "box %s has no subscription %s; postbag status lists those there are", c.Box, c.Subscription)
	}
	of := &box.Subscriptions[i]
	if of.Replay != nil {
		return nil, refusef(ErrInvalid, "%s is a replay itself; name the subscription that it is of, %s", c.Ref, of.Replay.Of)
	}
	if of.Unreadable != nil {
		return nil, refusef(ErrInvalid, "the filter of %s cannot be read by this version; update postbag, or set the filter with postbag subscriptions set", c.Ref)
	}
	p := &ReplayPlan{Replay: store.Replay{
		Ref: store.Ref{Box: c.Box, Subscription: c.Name}, Of: c.Subscription, From: c.From, Before: c.To,
		Rate: c.Rate, Destination: c.Destination, Unmarked: c.Unmarked, Shards: len(of.Shards),
	}}
	p.Settings = inherited(of.Settings, c.Rate)
	if p.Ref.Subscription == "" {
		p.Ref.Subscription = "replay-" + o.Now.UTC().Format("20060102-150405")
	}
	if p.Types, err = narrowed(of.Types, c.Types); err != nil {
		return nil, err
	}
	p.Where = of.Where.Clone()
	for _, k := range c.Keys {
		p.Keys = append(p.Keys, store.KeySum(k))
	}
	if err := s.bound(ctx, p, &c, box, o.Now); err != nil {
		return nil, err
	}
	return p, p.Replay.Validate()
}

// inherited returns the settings that a replay has from its subscription: all that this version knows, but for its destination, and for max_age, since
// old messages come again. A rate that the replay says itself takes the place of the operator's rate of messages.
func inherited(settings []store.Setting, rate float64) []store.Setting {
	var out []store.Setting
	for i := range settings {
		var p store.Policy
		one := store.Setting{Name: settings[i].Name, Value: settings[i].Value}
		if one.Name == store.SettingMaxAge || one.Name == store.SettingDestination || p.Set(one.Name, one.Value) != nil {
			continue
		}
		if p.Rate != nil && rate > 0 {
			p.Rate.Messages = min(max(rate, leastRate), mostRate)
			one.Value = p.Rate.String()
		}
		out = append(out, one)
	}
	return out
}

// The rates that a setting can have.
const leastRate, mostRate = 0.001, 1e6

// check refuses what is wrong by itself.
func (c *ReplayChoice) check() error {
	given := 0
	for _, is := range []bool{!c.From.IsZero(), c.FromSeq != 0, c.Last != 0} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return refusef(ErrInvalid, "%d of a time, a seq and a number of messages say where the replay begins; give exactly one", given)
	case c.FromSeq < 0 || c.Last < 0 || c.ToSeq < 0:
		return refusef(ErrInvalid, "a seq or a number of messages is negative; give 1 or more")
	case !c.To.IsZero() && c.ToSeq != 0:
		return refusef(ErrInvalid, "a time and a seq say where the replay ends; give one at most")
	case !c.From.IsZero() && !c.To.IsZero() && !c.From.Before(c.To):
		return refusef(ErrInvalid, "the replay ends at %s, before it begins at %s; give a later end", c.To.UTC().Format(time.RFC3339), c.From.UTC().Format(time.RFC3339))
	case c.ToSeq != 0 && c.FromSeq > c.ToSeq:
		return refusef(ErrInvalid, "the replay ends with seq %d, before it begins with %d; give a later end", c.ToSeq, c.FromSeq)
	case !(c.Rate >= 0 && c.Rate <= 1e9):
		return refusef(ErrInvalid, "the rate is no number between 0 and 1e9; give the messages of a second")
	case slices.Contains(c.Keys, "") || slices.Contains(c.Types, ""):
		return refusef(ErrInvalid, "a key or a type is empty; leave it out")
	case len(c.Keys) > store.MaxReplayKeys:
		return refusef(ErrInvalid, "%d keys are named; name %d at most", len(c.Keys), store.MaxReplayKeys)
	}
	if c.Name != "" {
		if err := postbag.ValidSubscription(c.Name); err != nil {
			return refusef(ErrInvalid, "the name of the replay: %s", strings.TrimPrefix(err.Error(), "postbag: "))
		}
	}
	return nil
}

// narrowed returns the filter of a replay: the subscription's own, or types that it lets through.
func narrowed(own, asked []string) ([]string, error) {
	if len(asked) == 0 || len(own) == 0 {
		return append(slices.Clone(own), asked...), nil
	}
	for _, t := range asked {
		if !slices.ContainsFunc(own, func(o string) bool { return covers(o, t) }) {
			return nil, refusef(ErrInvalid, "the subscription delivers no messages of type %s; it has %s", t, strings.Join(own, ", "))
		}
	}
	return asked, nil
}

// covers says whether all types of one filter are among those of another.
func covers(own, asked string) bool {
	prefix, wild := strings.CutSuffix(own, ".*")
	return own == asked || wild && strings.HasPrefix(asked, prefix+".")
}

// bound finds the seqs of a replay.
func (s Store) bound(ctx context.Context, p *ReplayPlan, c *ReplayChoice, box *store.BoxView, now time.Time) error {
	first, _, err := s.List(ctx, store.Query{Ref: c.Ref, Oldest: true, Limit: 1})
	if err != nil {
		return err
	}
	switch {
	case box.Missing || box.Last == 0 || len(first) == 0:
		return refusef(ErrInvalid, "box %s holds no messages, so there is nothing to replay", c.Box)
	case c.From.After(now) || c.To.After(now):
		return refusef(ErrInvalid, "a time lies in the future, by the clock of the database; leave out the end to replay what the box holds now")
	case c.FromSeq > box.Last || c.ToSeq > box.Last:
		return refusef(ErrInvalid, "box %s ends with seq %d; give a seq up to that, or leave out the end", c.Box, box.Last)
	}
	p.Oldest = first[0].At
	p.After, p.Through = max(c.FromSeq-1, 0), box.Last
	from, to := p.After, p.Through
	if c.Last > 0 {
		p.After = max(box.Last-c.Last, 0)
		from = p.After
	}
	if !c.From.IsZero() {
		if from, err = s.Replayer.SeqBefore(ctx, c.Box, c.From); err != nil {
			return err
		}
		p.After = max(from-seqSlack, 0)
	}
	if c.ToSeq > 0 {
		p.Through, to = c.ToSeq, c.ToSeq
	}
	if !c.To.IsZero() {
		if to, err = s.Replayer.SeqBefore(ctx, c.Box, c.To); err != nil {
			return err
		}
		p.Through = min(to+seqSlack, box.Last)
	}
	oldest := first[0].Seq - 1
	p.Gone = oldest > 0 && (c.FromSeq > 0 && c.FromSeq <= oldest || !c.From.IsZero() && c.From.Before(p.Oldest))
	p.Messages = min(max(to-max(from, oldest), 0), box.Rows)
	if p.Through <= p.After || p.Through <= oldest {
		return refusef(ErrInvalid, "box %s holds no messages of that range; it holds messages from %s on", c.Box, p.Oldest.UTC().Format(time.RFC3339))
	}
	return s.some(ctx, c)
}

// some refuses a replay of times between which nothing was stored.
func (s Store) some(ctx context.Context, c *ReplayChoice) error {
	if c.From.IsZero() && c.To.IsZero() {
		return nil
	}
	items, more, err := s.List(ctx, store.Query{Ref: c.Ref, After: c.From, Before: c.To, Oldest: true, Limit: 1})
	if err == nil && len(items) == 0 && more == "" {
		return refusef(ErrInvalid, "no message of box %s was stored between these times", c.Box)
	}
	return err
}

// StartReplay makes a replay. A relay must work it.
func (s Store) StartReplay(ctx context.Context, a store.Audit, p *ReplayPlan) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	err := s.Replayer.StartReplay(ctx, a, p.Replay)
	if errors.Is(err, store.ErrReplayExists) {
		return refusef(ErrInvalid, "box %s has a subscription or a replay %s; choose another name", p.Ref.Box, p.Ref.Subscription)
	}
	if err != nil || len(p.Settings) == 0 {
		return err
	}
	if err = s.Tuner.Tune(ctx, a, p.Ref, p.Settings, nil); err != nil { // it must not go faster than it may
		_, ended := s.EndReplay(context.WithoutCancel(ctx), a, p.Ref)
		return errors.Join(fmt.Errorf("the settings that an operator has set do not hold for the replay, so it is not begun: %w", err), ended)
	}
	return nil
}

// EndReplay removes a replay, with all that it has not sent. The audit log keeps what it had done.
func (s Store) EndReplay(ctx context.Context, a store.Audit, r store.Ref) (*Replay, error) {
	if err := ValidAudit(a); err != nil {
		return nil, err
	}
	v, err := s.Replay(ctx, r)
	if err != nil {
		return nil, err
	}
	if err = s.Replayer.EndReplay(ctx, a, r, v.Summary()); errors.Is(err, store.ErrNoReplay) {
		err = NoReplay(r)
	}
	return v, err
}

// NoReplay is the ErrNotFound of a replay.
func NoReplay(r store.Ref) error {
	return refusef(ErrNotFound, "box %s has no replay %s; postbag replay list shows those there are", r.Box, r.Subscription)
}
