package broker

import "fmt"

// Class is what a classifier says about a message that was not accepted. There is no
// class for accepted: nobody can call delivered what a destination refused.
type Class int

const (
	// ClassKeep leaves the outcome as the destination gave it. The zero value.
	ClassKeep Class = iota
	// ClassRejected: the message can never be accepted as it is. It is tried again, as
	// often as the subscription's retries say.
	ClassRejected
	// ClassDead: as ClassRejected, and the message gets no other attempt, see Result.Dead.
	ClassDead
	// ClassMisconfigured: the destination is wrong for every message.
	ClassMisconfigured
	// ClassTopicMisconfigured: the destination is wrong for this message's topic.
	ClassTopicMisconfigured
	// ClassUnavailable: the destination takes no message now.
	ClassUnavailable
	// ClassTopicUnavailable: the destination takes no message of this topic now.
	ClassTopicUnavailable
	// ClassUnknown: nobody knows whether the message was stored.
	ClassUnknown
)

// Apply changes the outcome and scope of a result. It changes nothing if the result is
// Accepted or NotSent, or if c is no Class.
func (c Class) Apply(r *Result) {
	if r.Outcome == Accepted || r.Outcome == NotSent {
		return
	}
	switch c {
	case ClassDead:
		r.Outcome, r.Scope, r.Dead = Rejected, ScopeDestination, true
	case ClassRejected:
		r.Outcome, r.Scope, r.Dead = Rejected, ScopeDestination, false
	case ClassMisconfigured:
		r.Outcome, r.Scope = Misconfigured, ScopeDestination
	case ClassTopicMisconfigured:
		r.Outcome, r.Scope = Misconfigured, ScopeTopic
	case ClassUnavailable:
		r.Outcome, r.Scope = Unavailable, ScopeDestination
	case ClassTopicUnavailable:
		r.Outcome, r.Scope = Unavailable, ScopeTopic
	case ClassUnknown:
		r.Outcome, r.Scope = Unknown, ScopeDestination
	case ClassKeep:
	}
}

// String returns the class's name in lower case.
func (c Class) String() string {
	names := [...]string{
		"keep", "rejected", "dead", "misconfigured", "misconfigured for the topic", "unavailable", "unavailable for the topic", "unknown",
	}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("class(%d)", int(c))
	}
	return names[c]
}
