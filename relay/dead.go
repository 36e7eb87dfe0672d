package relay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Dead is a message that gets no other attempt. It is kept, and an operator can retry or
// discard it.
type Dead struct {
	// Ref is the subscription. To others the message is not dead.
	Ref store.Ref
	// Message is as it is in the box. Its payload and headers must not be changed. They are
	// empty if the row cannot be read.
	Message postbag.Message
	// Seq is its place in the log.
	Seq int64
	// Attempts is how many were counted.
	Attempts int
	// Reason is the last error, or says that the message is too old.
	Reason string
	// Cause is why it gets no other attempt.
	Cause store.DeathCause
}

// noteDeaths logs messages that became dead, and tells OnDead. It returns their seqs.
func (l *loop) noteDeaths(f *flow) (seqs map[int64]bool) {
	deaths, more := f.Engine.Deaths()
	if len(deaths) == 0 {
		return nil
	}
	seqs = make(map[int64]bool, len(deaths))
	for i := range deaths {
		d := &deaths[i]
		seqs[d.Seq] = true
		l.log.dead(f, d)
		l.tellDead(f, d)
		l.tellDeath(f, d)
	}
	if more > 0 {
		l.log.moreDead(f, more)
	}
	return seqs
}

// tellDead calls OnDead. A panic of it is an error of the relay, and does no more harm.
func (l *loop) tellDead(f *flow, d *engine.Death) {
	if f.subscription.OnDead == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			l.log.report(fmt.Errorf("relay: %s: OnDead panicked: %T", f.Ref, v))
		}
	}()
	f.subscription.OnDead(Dead{Ref: f.Ref, Message: d.Message, Seq: d.Seq, Attempts: d.Attempts, Reason: d.Reason, Cause: d.Cause})
}

// errNoLetters says that the store writes no dead letters.
var errNoLetters = errors.New("the store writes no dead letters; leave DeadTo out, or use a newer version of the store")

// deadTo says what is wrong with the boxes of dead letters: a name that is none, the box that
// the messages are in, or a circle, in which a letter that dies would be copied for ever.
func deadTo(subscriptions []Subscription) error {
	var errs []error
	next := map[string][]string{} // boxes by those that their letters go to
	for i := range subscriptions {
		s := &subscriptions[i]
		box := s.ref().Box
		switch {
		case s.DeadTo == "":
			continue
		case s.DeadTo == box:
			errs = append(errs, fmt.Errorf("relay: subscription %s: DeadTo is its own box; choose another box for dead letters", s.ref()))
			continue
		}
		if err := postbag.ValidBox(s.DeadTo); err != nil {
			errs = append(errs, fmt.Errorf("relay: subscription %s: DeadTo: %w", s.ref(), err))
			continue
		}
		if leads(next, s.DeadTo, box) {
			errs = append(errs, fmt.Errorf("relay: subscription %s: DeadTo is box %s, whose dead letters come back to box %s; leave DeadTo out in one of them", s.ref(), s.DeadTo, box))
			continue
		}
		next[box] = append(next[box], s.DeadTo)
	}
	return errors.Join(errs...)
}

// deadTopics says what is wrong with the topics of dead letters.
func deadTopics(subscriptions []Subscription) error {
	var errs []error
	for i := range subscriptions {
		errs = append(errs, deadTopic(&subscriptions[i], subscriptions)...)
	}
	return errors.Join(errs...)
}

// deadTopic says what is wrong with the topic of a subscription's dead letters: it is no topic, or one that a destination
// of their box rejects in every message. Middleware may send them elsewhere, so a destination behind it is not asked.
func deadTopic(s *Subscription, all []Subscription) (errs []error) {
	switch topic := s.DeadTopic; {
	case topic == "":
		return nil
	case s.DeadTo == "":
		return []error{fmt.Errorf("relay: subscription %s: DeadTopic is set without DeadTo; name the box of the dead letters, or leave it out", s.ref())}
	case len(topic) > postbag.MaxName || !utf8.ValidString(topic) || strings.IndexByte(topic, 0) >= 0:
		return []error{fmt.Errorf("relay: subscription %s: DeadTopic is no topic; use valid UTF-8 of at most %d bytes without a NUL byte", s.ref(), postbag.MaxName)}
	}
	for i := range all {
		c, ok := all[i].To.(broker.TopicChecker)
		if !ok || all[i].ref().Box != s.DeadTo || len(all[i].Use) > 0 || !storekit.MayTakeTopic(all[i].filter(), s.DeadTopic) {
			continue
		}
		if err := c.CheckTopic(s.DeadTopic); err != nil {
			errs = append(errs, fmt.Errorf("relay: subscription %s: DeadTopic, at the destination of %s: %w", s.ref(), all[i].ref(), err))
		}
	}
	return errs
}

// leads says whether letters get from one box to another.
func leads(next map[string][]string, from, to string) bool {
	return from == to || slices.ContainsFunc(next[from], func(box string) bool { return leads(next, box, to) })
}

// noteLetters tells of dead letters that were not written.
func (l *loop) noteLetters(f *flow, err error) {
	if err != nil {
		l.log.noLetter(f, err)
		l.log.report(fmt.Errorf("relay: %s: dead letters: %w", f.Ref, err))
	}
}
