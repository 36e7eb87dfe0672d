package relay

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/outagelog"
	"github.com/postbag/postbag/store"
)

// journal writes the relay's log: one line a change of state, and one a minute
// while a state lasts that someone should know of.
type journal struct {
	logger  *slog.Logger
	onError func(error)

	store  loggedState
	looks  loggedState // for added subscriptions that fail
	downs  map[store.Ref]*outagelog.Outage
	reads  map[store.Ref]*loggedState
	lanes  map[store.Ref]*loggedState
	keeps  map[string]*loggedState // housekeeping that fails, by box
	faults map[string]*loggedState // and what it reports

	troubles map[trouble]*minute // lines about messages that were rejected or are dead
}

// trouble is what lines about single messages are counted by: one subscription's rejections keep no other's out of the log, nor its deaths.
type trouble struct {
	store.Ref
	dead bool
}

// minute counts lines since it began.
type minute struct {
	since time.Time
	lines int
}

func newJournal(l *slog.Logger, onError func(error)) *journal {
	return &journal{
		logger: l, onError: onError,
		downs: make(map[store.Ref]*outagelog.Outage),
		reads: make(map[store.Ref]*loggedState), lanes: make(map[store.Ref]*loggedState),
		keeps: make(map[string]*loggedState), faults: make(map[string]*loggedState),
		troubles: make(map[trouble]*minute),
	}
}

const reminder = outagelog.Again

func (j *journal) report(err error) {
	if j.onError != nil {
		j.onError(err)
	}
}

func (j *journal) opened(i store.Info) {
	j.logger.Info("relay: store opened", "system", i.System, "schema", i.Schema)
	for _, w := range i.Warnings {
		j.logger.Warn("relay: the store weakens a promise", "warning", w)
	}
}

func (j *journal) storeFailed(err error) {
	j.report(err)
	switch first, say := j.store.goesOn(); {
	case first:
		j.logger.Warn("relay: the store does not answer; trying again", "error", err)
	case say:
		j.logger.Warn("relay: the store still does not answer", "error", err, "since", j.store.since.UTC())
	}
}

func (j *journal) storeBack() {
	if after, was := j.store.ends(); was {
		j.logger.Info("relay: the store answers again", "after", after)
	}
}

// moved warns that positions had to be reconciled or dropped.
func (j *journal) moved(err error) {
	j.report(err)
	j.logger.Error("relay: the store is not as it was; messages may be delivered again", "error", err)
}

func (j *journal) expired() {
	j.logger.Warn("relay: the heartbeat expired; others may have taken over; beginning again")
}

func (j *journal) reshaped(r store.Ref, shards int) {
	j.logger.Info("relay: shards changed", append(named(r), "shards", shards)...)
}

func (j *journal) readFailed(r store.Ref, err error) {
	j.report(fmt.Errorf("relay: reading failed: %s: %w", r, err))
	if _, say := loggedStateOf(j.reads, r).goesOn(); say {
		j.logger.Error("relay: reading failed", append(named(r), "error", err)...)
	}
}

func (j *journal) readWorks(r store.Ref) {
	if after, was := j.reads[r].ends(); was {
		j.logger.Info("relay: reading works again", append(named(r), "after", after)...)
	}
}

// noLane says that an exactly-once subscription waits for its lane.
func (j *journal) noLane(f *flow, err error) {
	if _, say := loggedStateOf(j.lanes, f.Ref).goesOn(); say {
		j.logger.Warn("relay: the exactly-once lane cannot be opened; trying again", append(between(f), "error", err)...)
	}
}

func (j *journal) laneOpen(f *flow) {
	if after, was := j.lanes[f.Ref].ends(); was {
		j.logger.Info("relay: the exactly-once lane is open again", append(between(f), "after", after)...)
	}
}

// named are the attributes that every line about a subscription has.
func named(r store.Ref) []any { return []any{"box", r.Box, "subscription", r.String()} }

// between says from where to where a flow delivers.
func between(f *flow) []any {
	out := named(f.Ref)
	if to := f.subscription.ToName; to != "" {
		out = append(out, "to", to)
	}
	return out
}

// placed is between for one message, with the shard that it is in, unless that was lost since.
func placed(f *flow, slot int) []any {
	out := between(f)
	if l := f.Engine.LeaseOf(slot); l.Token != 0 {
		out = append(out, "shard", l.Slots.String())
	}
	return out
}

// behind says that the database is not as far as the broker's record.
func (j *journal) behind(r store.Ref) {
	err := fmt.Errorf("relay: %s: the database has lost settlements that the destination knows of", r)
	j.report(err)
	j.logger.Error("relay: messages may be delivered again", append(named(r), "error", err)...)
}

// upkeepFailed says that housekeeping of a box fails.
func (j *journal) upkeepFailed(box string, err error) {
	err = fmt.Errorf("relay: housekeeping of box %s failed: %w", box, err)
	j.report(err)
	if _, say := loggedStateOf(j.keeps, box).goesOn(); say {
		j.logger.Warn("relay: housekeeping", "box", box, "error", err)
	}
}

// upkeepFaults says what housekeeping has found. It is over when nothing was found for so
// long that what is reported now and then would have been.
func (j *journal) upkeepFaults(box string, faults []string) {
	for _, fault := range faults {
		err := fmt.Errorf("relay: housekeeping of box %s: %s", box, fault)
		j.report(err)
		if _, say := loggedStateOf(j.faults, box).goesOn(); say {
			j.logger.Warn("relay: housekeeping", "box", box, "error", err)
		}
	}
	if s := j.faults[box]; len(faults) == 0 && s != nil && time.Since(s.last) >= 2*reminder {
		if after, was := s.ends(); was {
			j.logger.Info("relay: housekeeping reports nothing any more", "box", box, "after", after)
		}
	}
}

func (j *journal) upkeepWorks(box string) {
	if after, was := j.keeps[box].ends(); was {
		j.logger.Info("relay: housekeeping works again", "box", box, "after", after)
	}
}

// down says that a destination takes no messages, once a minute while that lasts.
func (j *journal) down(f *flow) {
	o, now := j.downs[f.Ref], time.Now()
	if o == nil {
		o = new(outagelog.Outage)
		j.downs[f.Ref] = o
	}
	switch o.Fails(now, f.lastError) {
	case outagelog.Begins:
		j.logger.Warn("relay: the destination does not take messages; waiting", append(between(f), "error", cmp.Or(f.lastError, "an answer did not come"))...)
	case outagelog.Lasts:
		j.logger.Warn("relay: the destination still does not take messages",
			append(between(f), "error", f.lastError, "for", o.For(now).Round(time.Second))...)
	case outagelog.Nothing:
	}
}

func (j *journal) up(f *flow) {
	if after, tell := j.downs[f.Ref].Works(time.Now()); tell {
		j.logger.Info("relay: the destination takes messages again", append(between(f), "after", after)...)
	}
}

// idle says that an outage is not seen any more, since nothing waits for its end.
func (j *journal) idle(f *flow) {
	if after, tell := j.downs[f.Ref].Works(time.Now()); tell {
		j.logger.Info("relay: nothing waits for the destination any more", append(between(f), "after", after)...)
	}
}

// unanswered says that a stop ends without the answers to some messages.
func (j *journal) unanswered(f *flow, messages int) {
	j.logger.Warn("relay: the destination has not answered in time; the next relay sends these messages again",
		append(between(f), "messages", messages)...)
}

// topicFailed says that the messages of a topic are held, while others go on.
func (j *journal) topicFailed(f *flow, e *engine.TopicEvent) {
	j.logger.Warn("relay: a topic does not take messages; they are held, others go on",
		append(between(f), "topic", e.Topic, "error", e.Reason)...)
}

func (j *journal) topicWorks(f *flow, e *engine.TopicEvent) {
	j.logger.Info("relay: a topic takes messages again",
		append(between(f), "topic", e.Topic, "after", e.After.Round(time.Millisecond))...)
}

// held says that nothing is read any more, or that reading goes on.
func (j *journal) held(f *flow, too bool, n int) {
	if too {
		j.logger.Error("relay: too many messages wait for topics that do not work, or for the end of a pause; nothing is read until some are delivered or discarded",
			append(between(f), "messages", n)...)
		return
	}
	j.logger.Info("relay: fewer messages wait for topics that do not work, or for the end of a pause; reading goes on", append(between(f), "messages", n)...)
}

// waits says that other relays hold all shards of a subscription. Each gives some of them up, or its lease is over.
func (j *journal) waits(f *flow, now time.Duration) {
	for _, h := range f.holders {
		j.logger.Info("relay: another relay holds shards; waiting for a share, or for the end of its lease",
			append(between(f), "relay", h.id, "name", h.name, "shards", h.shards, "of", f.shards, "lease", max(h.until-now, 0).Round(100*time.Millisecond))...)
	}
}

// begins says that messages of a subscription are delivered from now on.
func (j *journal) begins(f *flow) {
	j.logger.Info("relay: begins to deliver", between(f)...)
}

// died says that another relay is gone, and that its shards are free.
func (j *journal) died(id, name string) {
	j.logger.Warn("relay: another relay died; its shards are taken over", "relay", id, "name", name)
}

// troubleMost is how many lines about rejected messages of a subscription are written in a minute, and about dead ones.
const troubleMost = 20

// rejected says that the destination rejects a message, at the first attempt.
func (j *journal) rejected(f *flow, m *store.Record, reason string) {
	if j.mayName(f, trouble{Ref: f.Ref}) {
		j.logger.Warn("relay: a message is rejected, and tried again later", append(placed(f, m.Slot), "id", m.ID.String(), "topic", m.Topic, "reason", reason)...)
	}
}

// dead says that a message gets no other attempt.
func (j *journal) dead(f *flow, d *engine.Death) {
	if j.mayName(f, trouble{Ref: f.Ref, dead: true}) {
		j.logger.Warn("relay: a message is dead",
			append(placed(f, d.Slot), "id", d.ID.String(), "topic", d.Topic, "attempts", d.Attempts, "cause", d.Cause.String(), "reason", d.Reason)...)
	}
}

// noLetter says that dead letters of a subscription could not be written.
func (j *journal) noLetter(f *flow, err error) {
	j.logger.Error("relay: dead letters could not be written; the messages are dead all the same, and kept", append(between(f), "error", err)...)
}

// moreDead says that so many messages became dead that OnDead was not told of all.
func (j *journal) moreDead(f *flow, n int) {
	j.logger.Warn("relay: more messages are dead than OnDead is told of at a time; see postbag messages list", append(between(f), "messages", n)...)
}

// mayName says whether one more line about a rejected or a dead message is written. A destination that rejects all of them
// does not fill the log.
func (j *journal) mayName(f *flow, of trouble) bool {
	now := time.Now()
	w := j.troubles[of]
	if w == nil || now.Sub(w.since) >= reminder {
		w = &minute{since: now}
		j.troubles[of] = w
	}
	w.lines++
	if w.lines == troubleMost+1 {
		text := "relay: more messages are rejected; see postbag messages list"
		if of.dead {
			text = "relay: more messages are dead; see postbag messages list"
		}
		j.logger.Warn(text, between(f)...)
	}
	return w.lines <= troubleMost
}

// commanded says that an operator's command was carried out. Who gave it, and why, is in the audit log.
func (j *journal) commanded(f *flow, d *store.Done, about commanded) {
	text := "relay: a message is tried again, by a command"
	if d.Kind == store.Discard {
		text = "relay: a message is discarded, by a command"
	}
	out := append(placed(f, about.slot), "id", about.id.String(), "topic", about.topic, "seq", d.Seq)
	if about.reason != "" {
		out = append(out, "reason", about.reason)
	}
	j.logger.Info(text, out...)
}
