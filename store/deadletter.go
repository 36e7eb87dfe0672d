package store

// A dead letter is a copy of a message that became dead, in another box of the same store.
// A settlement that parks the message with Park.DeadTo writes it, in the same transaction:
// where the dead row is, the letter is, and a settlement that is lost or repeated writes
// none. Within a settlement the letters of a box come in the sequence of
// Settlement.Park.
//
// A letter has the topic, key, shard key, type and payload of the message, or the topic of
// Park.DeadTopic. It has the
// headers of the message, but for properties of transports ("kafka.", "mqtt.", "nats.",
// "rabbitmq.") and those that only Postbag sets, and the headers below. They take the
// place of headers of the same names. If all are too large together, the largest of the
// message's own are left out. What cannot be read of the row is left out too. Its id is
// derived from the subscription, the message and the settlement.
//
// A letter never keeps a message from being dead. If the database refuses it (its box is
// gone, a right is missing, a constraint), the settlement is applied without it, the audit
// log has a notice, and Verdict.Letters says why. An outage fails the settlement as ever.

// Headers of a dead letter. Their values are ASCII.
const (
	// HeaderDeadBox and HeaderDeadSubscription say for whom the message is dead.
	HeaderDeadBox          = "Dead-Letter-Box"
	HeaderDeadSubscription = "Dead-Letter-Subscription"
	// HeaderDeadID and HeaderDeadSeq are the message's id, and its place in the log.
	HeaderDeadID  = "Dead-Letter-Id"
	HeaderDeadSeq = "Dead-Letter-Seq"
	// HeaderDeadTopic is the message's topic, where Park.DeadTopic took its place. It is cut to 512
	// bytes, and what is not ASCII is written as \u0431.
	HeaderDeadTopic = "Dead-Letter-Topic"
	// HeaderDeadCause is a DeathCause, and HeaderDeadReason the last error, cut to 512 bytes.
	HeaderDeadCause  = "Dead-Letter-Cause"
	HeaderDeadReason = "Dead-Letter-Reason"
	// HeaderDeadAttempts is how many attempts were counted.
	HeaderDeadAttempts = "Dead-Letter-Attempts"
	// HeaderDeadStored is when the message was stored, and HeaderDeadAt when it became dead,
	// by the clock of the database, as RFC 3339.
	HeaderDeadStored = "Dead-Letter-Stored"
	HeaderDeadAt     = "Dead-Letter-At"
	// HeaderDeadLacks names what the letter lacks of the message, such as "key, 2 headers".
	// Absent: nothing but properties of transports.
	HeaderDeadLacks = "Dead-Letter-Lacks"
)

// DeathCause is why a message became dead.
type DeathCause int

const (
	// CauseAttempts: it had as many attempts as it may have.
	CauseAttempts DeathCause = iota + 1
	// CauseExpired: it is older than it may get.
	CauseExpired
	// CauseRejected: an answer said that no other attempt is worth it.
	CauseRejected
)

var deathCauseNames = [...]string{"", "attempts", "expired", "rejected"}

// String returns the cause as headers and metrics have it, and "unknown" for none.
func (c DeathCause) String() string {
	if c < 1 || int(c) >= len(deathCauseNames) {
		return "unknown"
	}
	return deathCauseNames[c]
}
