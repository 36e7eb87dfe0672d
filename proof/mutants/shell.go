package mutants

import "time"

// Mistakes around the core, in adapters and where processes meet, which show only with real servers, several processes and faults: the
// fault harness finds them, or the relay's runs in fake time, and the checker says what they broke.
var shell = []Mutant{
	{
		Name: "ids-of-two-processes-meet", What: "ids are a time and a counter, without chance: those of one process differ, those of two do not",
		Evidence: "time-based ids of several hosts; tests run in one process",
		Patches:  []Patch{{"id_generator.go", "	rand.Read(random[:]) // never fails: the program ends instead\n	return ids", "	rand.Read(nil)\n	return ids"}},
		By:       harness("sqlite-webhook", 10*time.Second, "VACUUM"),
	},
	{
		Name: "commit-without-answer-taken-as-rolled-back", What: "PostgreSQL: a COMMIT whose answer is lost is said to have failed",
		Evidence: "golang/go#11978, lib/pq#728, go-sql-driver#582",
		Patches:  []Patch{{"store/pgstore/transaction.go", "		return fmt.Errorf(\"commit: %w\", postbag.ErrCommitUnknown)", "		if errors.Is(err, postbag.ErrCommitUnknown) {\n			return err\n		}\n		return fmt.Errorf(\"commit: %w\", err)"}},
		By:       harness("postgresql-webhook", 20*time.Second, "cut after COMMIT was sent", "answer to COMMIT lost"),
	},
	{
		Name: "calls-broken-off-at-a-stop", What: "a relay that is told to stop ends its calls to the destination at once",
		Evidence: "contexts of signals handed down to the bottom; rolling restarts that repeat (FAULTS F1)",
		Patches:  []Patch{{"relay/loop.go", "	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))", "	l.ctx, l.cancel = context.WithCancel(ctx)"}},
		By:       faketime("Restarts"),
	},
	{
		Name: "blocked-keys-of-four-shards-only", What: "of more than four shards that are taken together, the blocked keys of four are read",
		Evidence: "in-memory block lists: a successor that does not know who waits; made on purpose, and no test of the relay failed",
		Patches:  []Patch{{"relay/loop_load.go", "			for i := first; i < len(shards); i += loadsAtATime {", "			for i := first; i < min(len(shards), loadsAtATime); i += loadsAtATime {"}},
		By:       faketime("Faults"),
	},
	{
		Name: "known-messages-in-the-next-transaction", What: "exactly once: a transaction sends all of its call, also what the record of the lane names",
		Evidence: "at-least-once inside of transactions",
		Patches:  []Patch{{"internal/core/course.go", "		if w.tx.Sends(i) {", "		if w.tx.Sends(i) || i >= 0 {"}},
		By:       sim(),
	},
	{
		Name: "restarted-store-taken-as-failed", What: "a database that was restarted counts as one that failed: what was read of it is sent and settled again and again",
		Evidence: "retries of what no retry cures",
		Patches:  []Patch{{"internal/core/fault.go", "	case errors.Is(err, store.ErrMoved), errors.Is(err, store.ErrRestarted):", "	case errors.Is(err, store.ErrMoved):"}},
		By:       sim(),
	},
	{
		Name: "run-ends-before-its-calls", What: "a relay's Run returns while calls of it are still out",
		Evidence: "a caller that closes the destination behind Run, as it is told to; made on purpose, and no test of the relay failed",
		Patches:  []Patch{{"relay/loop.go", "	l.cancel()\n	return l.pending == 0\n", "	l.cancel()\n	return true\n"}},
		By:       faketime("Faults"),
	},
	{
		Name: "nats-lost-connection-taken-as-accepted", What: "NATS: what was sent when the connection was lost counts as accepted",
		Evidence: "core publishes return nil and are gone (nats.go#1461)",
		Patches:  []Patch{{"broker/natsbroker/call.go", "		return unanswered\n	})", "		return &broker.Error{Outcome: broker.Accepted}\n	})"}},
		By:       harness("sqlite-nats", 25*time.Second, "SIGKILL of the broker", "slow: wire to the broker", "black hole there: wire to the broker"),
	},
	{
		Name: "webhook-lost-answer-taken-as-rejection", What: "webhook: a connection that breaks before the answer counts as a refusal of the message",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"broker/webhook/failure.go", "		return failure{broker.Unknown, \"the connection broke before an answer came: \"", "		return failure{broker.Rejected, \"the connection broke before an answer came: \""}, {"broker/webhook/failure.go", "	return failure{broker.Unknown, \"the connection ended without an answer that is HTTP\"", "	return failure{broker.Rejected, \"the connection ended without an answer that is HTTP\""}},
		By:       harness("sqlite-webhook", 15*time.Second, "cut after a webhook was sent", "answer to a webhook lost"),
	},
	{
		Name: "exactly-once-record-after-the-commit", What: "exactly once: the record of what is in the broker is written after the messages, in a transaction of its own",
		Evidence: "outboxes that mark in one place what they did in another",
		Patches:  []Patch{{"relay/exactly_transaction.go", "	outcome, err = w.lane.Commit(ctx, msgs, record, results)\n", "	if outcome, err = w.lane.Commit(ctx, msgs, w.lane.Record(), results); outcome == broker.Committed {\n		outcome, err = w.lane.Commit(ctx, nil, record, nil)\n	}\n"}},
		By:       faketime("Faults"),
	},
	{
		Name: "exactly-once-record-wanted-after-the-commit", What: "exactly once: the protocol wants the messages committed first, and then the record of them",
		Evidence: "as before, where the steps are decided",
		Patches: []Patch{
			{"internal/lane/transaction.go", "	state   txState\n", "	state   txState\n	bare    bool\n"},
			{"internal/lane/transaction.go", "	t.state = sending\n	return Commit\n", "	t.state, t.bare = sending, true\n	return Commit\n"},
			{"internal/lane/transaction.go", "return t.state == sending }", "return t.state == sending && t.bare }"},
			{"internal/lane/transaction.go", "		return t.encoded\n", "		if t.bare {\n			return t.found\n		}\n		return t.encoded\n"},
			{"internal/lane/transaction.go", "		return t.stored()\n	case broker.Aborted:", "		if t.bare {\n			t.bare = false\n			return Commit\n		}\n		return t.stored()\n	case broker.Aborted:"},
		},
		By: sim(),
	},
	{
		Name: "last-settlement-not-waited-for", What: "a relay that stops says goodbye while its last settlement is under way",
		Evidence: "rolling restarts that repeat (FAULTS F1)",
		Patches:  []Patch{{"internal/core/stop.go", "		if len(f.Engine.Leases()) > 0 || f.Owner.Loading() ||", "		if f.Owner.Loading() ||"}},
		By:       sim("-faults", "stops"),
	},
	{
		Name: "reshape-asked-for-again-and-again", What: "a change of shards that the store does not get done in time is asked for again at once",
		Evidence: "seen on Postbag: with 44,000 parked messages MariaDB took longer than a heartbeat lives, and nothing was sent",
		Patches:  []Patch{{"internal/core/share.go", " && now >= f.reshapeAfter", ""}},
		By:       sim(),
	},
	{
		Name: "late-reshape-repeated", What: "a heartbeat that timed out is followed by one that asks for the same change of shards",
		Evidence: "as before",
		Patches:  []Patch{{"internal/core/heartbeat.go", "		c.reshape = nil // the next one only renews; its view shows what came of this one\n", ""}},
		By:       sim(),
	},
	{
		Name: "reshaped-before-all-is-quiet", What: "a change of shards is asked for while messages are in hand",
		Evidence: "repartitioning under load (FAULTS C8)",
		Patches:  []Patch{{"internal/core/reshape.go", " || !f.Engine.Quiet() {", " {"}},
		By:       sim(),
	},
	{
		Name: "failed-turn-not-made-again", What: "a turn that failed is forgotten, though the flows wait for its answer",
		Evidence: "work that is in flight for ever after an error in between",
		Patches:  []Patch{{"internal/core/turn.go", "	c.turning.repeat = r\n", ""}},
		By:       sim(), Quick: true,
	},
	{
		Name: "house-kept-without-a-rest", What: "a round of housekeeping is followed by the next one at once",
		Evidence: "maintainers that spin on an empty table",
		Patches:  []Patch{{"internal/core/upkeep.go", "	u.busy = false\n	u.next = now + upkeepPause\n", "	u.busy = false\n	u.next = now\n"}},
		By:       sim(),
	},
	{
		Name: "house-kept-by-nobody", What: "the housekeeping of a relay that is gone is taken over by nobody",
		Evidence: "wolverine#3954: leaders that nobody replaces",
		Patches:  []Patch{{"internal/core/upkeep.go", "	if len(take) > 0 && len(s.Shards) > 0 {", "	if len(take) > 1 {"}},
		By:       sim(),
	},
	{
		Name: "drained-before-it-was-read", What: "a drain ends when nothing is under way, whether all was read or not",
		Evidence: "cron jobs that end with half of the box unsent",
		Patches:  []Patch{{"internal/core/stop.go", " || !f.Engine.Drained(now)", ""}},
		By:       sim(),
	},
	{
		Name: "drained-before-it-was-taken", What: "a drain ends while the relay is still to take the shards of one that is gone",
		Evidence: "as before",
		Patches:  []Patch{{"internal/core/stop.go", " || c.wanting {", " {"}},
		By:       sim(),
	},
	{
		Name: "drained-at-the-end-of-an-old-window", What: "a read that ends a window which the owner before has begun, and finds nothing, counts as the end of the log",
		Evidence: "seen on Postbag, by the simulator",
		Patches:  []Patch{{"internal/engine/turn_drained.go", " || !l.anew {", " {"}},
		By:       coreTests("internal/engine", "TestAFlowIsNotDrained"),
	},
}
