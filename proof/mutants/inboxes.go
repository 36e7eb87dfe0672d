package mutants

// Mistakes of what takes messages in: receivers, consumers and handlers.
var receiving = []Mutant{
	{
		Name: "inbox-acks-before-commit", What: "a receiver acknowledges a batch before it stores it",
		Evidence: "acknowledgements before the commit: openlinker#2164 (FAULTS E9)",
		Patches:  []Patch{{"inbox/receiver_batch.go", "	if err := r.stower.stow(ctx, items); err != nil {\n", "	_ = r.ack(ctx, items)\n	if err := r.stower.stow(ctx, items); err != nil {\n"}},
		By:       coreTests("inbox", "TestWhileTheStoreFailsNothingIsAcknowledgedAndNothingMoreIsFetched"), Quick: true,
	},
	{
		Name: "inbox-mark-outside-transaction", What: "a receiver marks a batch in a transaction of its own, before it stores it",
		Evidence: "deduplication in another transaction than the effect (FAULTS E1)",
		Patches:  []Patch{{"inbox/stower.go", "		if fresh, err = s.marks.OnceBatch(ctx, tx, s.consumer, marks); err != nil {\n", markOutside}},
		By:       coreTests("inbox", "TestABatchIsOneTransaction|TestABatchWhoseCommitHasNoAnswerIsStoredOnce"),
	},
	{
		Name: "inbox-stores-repeats", What: "a receiver stores what has a mark again",
		Evidence: "inboxes without a unique id",
		Patches:  []Patch{{"inbox/stower.go", "			if fresh[i] {\n", "			if fresh[i] || len(items) > 0 {\n"}},
		By:       coreTests("inbox", "TestAMessageThatIsDeliveredAgainIsStoredOnceAndInOrder"),
	},
	{
		Name: "inbox-repeats-not-acked", What: "a receiver acknowledges only what is new",
		Evidence: "redelivery loops of messages that were processed",
		Patches:  []Patch{{"inbox/receiver_batch.go", "	return r.ack(ctx, items)\n", "	var some []item\n	for i := range items {\n		if fresh[i] {\n			some = append(some, items[i])\n		}\n	}\n	return r.ack(ctx, some)\n"}},
		By:       coreTests("inbox", "TestAMessageThatIsDeliveredAgainIsStoredOnceAndInOrder|TestABatchWhoseCommitHasNoAnswerIsStoredOnce"),
	},
	{
		Name: "inbox-batch-in-another-sequence", What: "a receiver stores a batch from its end",
		Evidence: "batches that go through a map",
		Patches:  []Patch{{"inbox/stower.go", "msgs, at = append(msgs, items[i].out), append(at, i)", "msgs, at = append([]postbag.Message{items[i].out}, msgs...), append([]int{i}, at...)"}},
		By:       coreTests("inbox", "TestAMessageThatIsDeliveredAgainIsStoredOnceAndInOrder"),
	},
	{
		Name: "inbox-fault-dropped", What: "a receiver acknowledges a message that is not whole, and does not store it",
		Evidence: "consumers that skip what they cannot decode",
		Patches:  []Patch{{"inbox/stower.go", "			if fresh[i] {\n", "			if fresh[i] && items[i].fault == nil {\n"}},
		By:       coreTests("inbox", "TestAMessageWithAFaultIsStoredWithIt"),
	},
	{
		Name: "inbox-stops-at-what-it-took-in", What: "a receiver stops at a message that is too large, and does not look whether it was taken in before",
		Evidence: "consumers that begin at one message for ever, since it comes again",
		Patches:  []Patch{{"inbox/stower_known.go", "	if known {\n", "	if known && i < 0 {\n"}},
		By:       coreTests("inbox", "TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing"),
	},
	{
		Name: "inbox-look-leaves-its-mark", What: "a look for the mark of a message leaves that mark behind",
		Evidence: "a check that writes: the message counts as taken in at the next start",
		Patches:  []Patch{{"inbox/stower_known.go", "		return errUndo\n", "		return nil\n"}},
		By:       coreTests("inbox", "TestAMessageThatWasTakenInBeforeIsAcknowledgedAndEndsNothing"),
	},
	{
		Name: "inbox-source-left-it-out", What: "a message whose payload the source left out is stored without it, and acknowledged",
		Evidence: "limits of clients that cut what they hand on",
		Patches:  []Patch{{"inbox/fault.go", "	leftOut := errors.Is(it.from.Err, source.ErrTooLarge)", "	leftOut := it.cut && errors.Is(it.from.Err, source.ErrTooLarge)"}},
		By:       coreTests("inbox", "TestAPayloadThatTheSourceLeftOutEndsRunLikeOneThatTheBoxRefuses"),
	},
	{
		Name: "inbox-hash-ignored", What: "the hash of the payload is not compared",
		Evidence: "ids that are used twice: the second message is skipped in silence (FAULTS E5)",
		Patches:  []Patch{{"inbox/item.go", "	if !in.sumOff && m.Err == nil {\n", "	if !in.sumOff && m.Err != nil {\n"}},
		By:       coreTests("inbox", "TestAnotherPayloadWithAnIDThatWasTakenInIsAFault|TestAnotherPayloadWithAnIDThatWasAppliedIsParked"),
	},
	{
		Name: "inbox-id-compared-as-text", What: "ids that differ in case are one",
		Evidence: "reproduced: MariaDB's default collation (FAULTS D14)",
		Patches: []Patch{
			{"store/memstore/inbox.go", "	name := markName{c.consumer, m.ID}\n", "	name := markName{c.consumer, store.MessageID(strings.ToLower(string(m.ID)))}\n"},
			{"store/memstore/inbox.go", "	\"slices\"\n", "	\"slices\"\n	\"strings\"\n"},
		},
		By: coreTests("store/memstore", "TestConformance$"),
	},
	{
		Name: "inbox-id-cut-off", What: "of a long id only the beginning counts",
		Evidence: "INSERT IGNORE cuts long ids off (FAULTS D14)",
		Patches:  []Patch{{"store/memstore/inbox.go", "	name := markName{c.consumer, m.ID}\n", "	name := markName{c.consumer, m.ID[:min(len(m.ID), 64)]}\n"}},
		By:       coreTests("store/memstore", "TestConformance$"),
	},
	{
		Name: "inbox-mark-does-not-wait", What: "a mark that another open transaction has made counts as made",
		Evidence: "SELECT before INSERT: the first one rolls back, and nobody applies the message",
		Patches:  []Patch{{"store/memstore/inbox.go", "		return false, row.writer.wait(), nil\n", "		return false, nil, nil\n"}},
		By:       coreTests("store/memstore", "TestConformance$"),
	},
	{
		Name: "inbox-mark-outlives-rollback", What: "the mark of a transaction that rolled back stays",
		Evidence: "deduplication outside of the database",
		Patches:  []Patch{{"store/memstore/inbox.go", "		delete(tx.s.marks, name)\n", "		tx.s.marks[name].writer = nil\n"}},
		By:       coreTests("inbox", "TestAMessageIsFreshOncePerConsumerAndNotAfterARollback"),
	},
}

// markOutside marks in a transaction of its own.
const markOutside = `		if err = s.to.InTx(ctx, func(ctx context.Context, own Tx) (e error) {
			fresh, e = s.marks.OnceBatch(ctx, own, s.consumer, marks)
			return e
		}); err != nil {
`

// More of them: those of a consumer that calls a handler.
var consuming = []Mutant{
	{
		Name: "consumer-acks-before-commit", What: "a consumer acknowledges a message before its handler is called",
		Evidence: "acknowledgements before the commit: openlinker#2164 (FAULTS E9)",
		Patches:  []Patch{{"inbox/consumer_work.go", "		wait, over := c.attempt(begin, ctx, t)\n", "		_, _ = c.o.Source.Ack(ctx, []source.Receipt{t.from.Receipt})\n		wait, over := c.attempt(begin, ctx, t)\n"}},
		By:       coreTests("inbox", "TestAConsumerThatIsKilledBetweenCommitAndAckFindsTheMark|TestAHandlerThatOutlivesTheGraceIsRolledBackAndNotAcknowledged|TestWhileTheStoreFailsAConsumerFetchesNothingMore"),
	},
	{
		Name: "consumer-mark-outside-transaction", What: "a consumer marks a message in a transaction of its own, before its handler is called",
		Evidence: "deduplication in Redis: a handler that fails has its message marked",
		Patches: []Patch{{
			"inbox/consumer_work.go", "		marked, err := c.marks.OnceBatch(ctx, tx, c.o.Consumer, []Mark{t.mark})\n",
			"		var marked []bool\n		err := c.tx.InTx(ctx, func(ctx context.Context, own Tx) (e error) {\n			marked, e = c.marks.OnceBatch(ctx, own, c.o.Consumer, []Mark{t.mark})\n			return e\n		})\n",
		}},
		By: coreTests("inbox", "TestAMessageThatFailsIsTriedAgainAfterItsBackOffAndHoldsUpOnlyItsKey"),
	},
	{
		Name: "consumer-mark-ignored", What: "a consumer calls its handler for a message that has its mark",
		Evidence: "at-least-once consumers",
		Patches:  []Patch{{"inbox/consumer_work.go", "		if fresh = marked[0]; !fresh {\n", "		if fresh = marked[0] || len(marked) > 0; !fresh {\n"}},
		By:       coreTests("inbox", "TestAConsumerAppliesAMessageThatIsDeliveredAgainOnceAndInOrder"),
	},
	{
		Name: "consumer-key-without-order", What: "messages of one key run side by side",
		Evidence: "pools of workers behind one consumer",
		Patches:  []Patch{{"inbox/consumer.go", "	t.name.key = t.out.Key\n", ""}},
		By:       coreTests("inbox", "TestMessagesOfOneKeyRunOneAfterAnotherAndThoseOfOthersSideBySide"),
	},
	{
		Name: "consumer-attempts-not-counted", What: "a message that fails has attempts without an end",
		Evidence: "poison messages that block a partition for ever (FAULTS E7)",
		Patches:  []Patch{{"inbox/consumer_work.go", "	t.attempts++\n	t.again = 0\n", "	t.again = 0\n"}},
		By:       coreTests("inbox", "TestAMessageWhoseAttemptsAreUsedUpIsParkedAndItsKeyGoesOn"),
	},
	{
		Name: "consumer-parks-nothing", What: "a message whose attempts are used up is acknowledged, and not stored",
		Evidence: "error handlers that log and go on",
		Patches:  []Patch{{"inbox/consumer_work.go", "		err = c.stower.stow(begin, items)\n", "		_ = items\n"}},
		By:       coreTests("inbox", "TestAMessageWhoseAttemptsAreUsedUpIsParkedAndItsKeyGoesOn"),
	},
	{
		Name: "consumer-parks-beyond-headers", What: "why a message is parked is added to headers that leave no room for it",
		Evidence: "found in review: every database refuses it, and the consumer takes that for an outage that never ends",
		Patches:  []Patch{{"inbox/item.go", "	fault := withReason(it.out, standIn, reason, check)\n", "	fault := check(it.out)\n"}},
		By:       coreTests("inbox", "TestAMessageWithoutRoomForTheReasonIsParked"),
	},
	{
		Name: "consumer-parks-as-fault", What: "a message whose handler failed is parked as one that is not whole",
		Evidence: "`postbag messages retry` made what a consumer had parked dead again",
		Patches:  []Patch{{"inbox/consumer_work.go", "	t.keep(why, func(m postbag.Message) error { return c.rules.Publish(context.WithoutCancel(begin), 0, m) })\n", "	t.blame(why)\n"}},
		By:       coreTests("inbox", "TestWhatAConsumerParkedIsAppliedWhenItIsRetried|TestAMessageWhoseHandlerFailedIsParkedAsItCame"),
	},
	{
		Name: "consumer-parks-without-mark", What: "a message that is parked has no mark of its consumer",
		Evidence: "a message in a dead letter queue is delivered again, and applied twice",
		Patches:  []Patch{{"inbox/consumer.go", "		to: o.Store, marks: marks, consumer: o.Consumer, box: o.Box, verb: \"consume\",\n", "		to: o.Store, marks: marks, consumer: o.Consumer + \"/parked\", box: o.Box, verb: \"consume\",\n"}},
		By:       coreTests("inbox", "TestWhatAConsumerParkedIsAppliedWhenItIsRetried"),
	},
	{
		Name: "consumer-deadlock-counted", What: "a transaction that met another one counts as an attempt that failed",
		Evidence: "busy tables that send messages to the dead letters",
		Patches:  []Patch{{"inbox/consumer_work.go", "	case meetsAnother(c.o.Store, err) && (t.again < maxInARow || !began):", "	case meetsAnother(c.o.Store, err) && t.again > maxInARow:"}},
		By:       coreTests("inbox", "TestATransactionThatMeetsAnotherOneIsRunAgainAndNotCounted"),
	},
	{
		Name: "consumer-deadlock-without-end", What: "a transaction that always meets another one is never counted",
		Evidence: "a handler that waits for a lock of its own transaction, through another connection",
		Patches:  []Patch{{"inbox/consumer_work.go", "(t.again < maxInARow || !began):", "(t.again >= 0 || !began):"}},
		By:       coreTests("inbox", "TestATransactionThatMeetsAnotherOneFiftyTimesInARowIsCountedOnce"),
	},
	{
		Name: "consumer-fetches-in-an-outage", What: "a consumer goes on to fetch while its database is away",
		Evidence: "prefetch without a bound; Agendia#322",
		Patches:  []Patch{{"inbox/consumer.go", "	for c.db.lasts() && ctx.Err() == nil {\n", "	for c.db.lasts() && ctx.Err() != nil {\n"}},
		By:       coreTests("inbox", "TestWhileTheStoreFailsAConsumerFetchesNothingMoreAndAcknowledgesNothing"),
	},
	{
		Name: "consumer-zombie-acks", What: "what was at work when its partition was lost is tried again, and acknowledged",
		Evidence: "consumers that outlive a rebalance",
		Patches:  []Patch{{"inbox/consumer_hand.go", "				t.lost = true\n", ""}},
		By:       coreTests("inbox", "TestWhatIsAtWorkWhenItsPartitionIsLostIsNotAcknowledgedAndNoneOfItsKeyBeginsBeside|TestAttemptsAreCountedAcrossLosses"),
	},
	{
		Name: "consumer-loss-forgets-attempts", What: "a rebalance sets the attempts of a message to zero",
		Evidence: "a message that fails slowly enough is never parked",
		Patches:  []Patch{{"inbox/consumer_hand.go", "	h.failed[t.mark.ID] = t.attempts\n", ""}},
		By:       coreTests("inbox", "TestAttemptsAreCountedAcrossLosses"),
	},
	{
		Name: "consumer-failed-ack-forgotten", What: "an acknowledgement that fails is not sent again",
		Evidence: "a position that never moves on",
		Patches:  []Patch{{"inbox/consumer_ack.go", "		t.met(ctx, fmt.Errorf(\"inbox: consume: acknowledge: %w\", err))\n", "		t.met(ctx, fmt.Errorf(\"inbox: consume: acknowledge: %w\", err))\n		c.hand.free(tasks)\n		return true\n"}},
		By:       coreTests("inbox", "TestAcknowledgementsThatFailAreSentAgain"),
	},
	{
		Name: "consumer-ack-wait-not-extended", What: "a consumer does not tell the broker that a message is still at work",
		Evidence: "handlers that take longer than the visibility time-out",
		Patches:  []Patch{{"inbox/consumer_ack.go", "		if len(receipts) == 0 {\n", "		if len(receipts) >= 0 {\n"}},
		By:       coreTests("inbox", "TestTheAckWaitIsExtendedWhileMessagesAreInHand"),
	},
	{
		Name: "consumer-hand-without-bound", What: "the bytes in hand are not counted",
		Evidence: "bounds by count",
		Patches:  []Patch{{"inbox/consumer_hand.go", "		h.bytes += t.size\n", ""}},
		By:       coreTests("inbox", "TestNoMoreIsInHandThanIsAllowed"),
	},
	{
		Name: "consumer-stop-without-end", What: "a handler at work is not ended when the grace is over",
		Evidence: "stops that hang",
		Patches:  []Patch{{"inbox/consumer.go", "		workers.Go(func() { c.work(begin, work) })\n", "		workers.Go(func() { c.work(begin, context.WithoutCancel(work)) })\n"}},
		By:       coreTests("inbox", "TestAHandlerThatOutlivesTheGraceIsRolledBackAndNotAcknowledged"),
	},
}

// Those of a handler in the simulator's model of it: what only another process, or a late COMMIT, brings to light.
var marking = []Mutant{
	{
		Name: "handler-called-for-what-is-marked", What: "a handler is called for a message that has its mark",
		Evidence: "at-least-once consumers",
		Patches:  []Patch{{"proof/simulation/broker_marks.go", "	case m.applied:\n		k.known(t)\n", "	case m.applied:\n		m.applied = false\n		k.takes(t)\n"}},
		By:       sim("-handlers"),
	},
	{
		Name: "handler-answers-before-commit", What: "a message is accepted when its COMMIT is sent",
		Evidence: "acknowledgements before the commit: openlinker#2164 (FAULTS E9)",
		Patches:  []Patch{{"proof/simulation/broker_handler.go", "func() { w.broker.marks.commit(t) })\n	}\n", "func() { w.broker.marks.commit(t) })\n	} else {\n		w.broker.marks.hangUp(t)\n	}\n	t.hears(0, t.committed)\n"}},
		By:       sim("-handlers"),
	},
	{
		Name: "handler-unknown-commit-accepted", What: "a COMMIT without an answer counts as done",
		Evidence: "franz-go#1217: success for records that are not in the log",
		Patches:  []Patch{{"proof/simulation/broker_handler.go", "	a := engine.Answer{Outcome: broker.Unavailable, Reason: \"away\"}\n", "	a := engine.Answer{Outcome: broker.Unavailable, Reason: \"away\"}\n	if e == errorUnknown {\n		d.reply(engine.Answer{Outcome: broker.Accepted})\n		return\n	}\n"}},
		By:       sim("-handlers"),
	},
	{
		Name: "handler-mark-outside-transaction", What: "a mark stays when its transaction rolls back",
		Evidence: "deduplication in another transaction than the effect (FAULTS E1)",
		Patches:  []Patch{{"proof/simulation/broker_marks.go", "	m.holder = nil\n	if n :=", "	m.holder, m.applied = nil, true\n	if n :="}},
		By:       sim("-handlers"),
	},
	{
		Name: "handler-mark-does-not-wait", What: "a mark that another open transaction has written counts as made",
		Evidence: "SELECT before INSERT: the first one rolls back, and nobody applies the message",
		Patches:  []Patch{{"proof/simulation/broker_marks.go", "	default:\n		m.waiting = append(m.waiting, t)\n", "	default:\n		k.known(t)\n"}},
		By:       sim("-handlers"),
	},
	{
		Name: "handler-mark-not-seen-before-commit", What: "two open transactions write one mark, and both commit",
		Evidence: "a table of marks without a unique index",
		Patches:  []Patch{{"proof/simulation/broker_marks.go", "	case m.holder == nil:\n		k.takes(t)\n", "	case m.holder == nil || !m.applied:\n		k.takes(t)\n"}},
		By:       sim("-handlers"),
	},
}

// And those of a handler as a relay's destination, and of sources.
var handling = []Mutant{
	{
		Name: "handler-attempt-counted-after", What: "an attempt is counted when the handler has failed, and not before it is called",
		Evidence: "a handler that ends its process is called without an end (FAULTS E8)",
		Patches:  []Patch{{"internal/engine/call_count.go", "return f.cfg.CountFirst && !f.cfg.Transactions }", "return f.cfg.CountFirst && f.cfg.Transactions }"}},
		By:       coreTests("internal/engine", "TestAnAttemptIsWrittenBeforeItsCall"),
	},
	{
		Name: "handler-mark-of-a-receiver", What: "a handler uses the marks of the receiver that stored its messages",
		Evidence: "what was taken in counts as applied",
		Patches:  []Patch{{"inbox/destination_deliver.go", "	return MessageID(\"handled:\"+m.Box+\"/\"+m.Subscription+\":\") + UUID(m.ID)\n", "	return UUID(m.ID)\n"}},
		By:       coreTests("inbox", "TestAMarkOfAReceiverOrAConsumerIsNoneOfADestination"),
	},
	{
		Name: "handler-gets-why-parked", What: "a handler gets a header that no publisher takes",
		Evidence: "handlers that pass on the headers that they got",
		Patches:  []Patch{{"inbox/destination_deliver.go", "	out.Headers = withoutReason(all)\n", "	out.Headers = all\n"}},
		By:       coreTests("inbox", "TestAHandlerFindsWhyAMessageWasParkedInTheMessageAsItCameAlone"),
	},
	{
		Name: "handler-unknown-commit-rejected", What: "a commit without an answer counts against its message",
		Evidence: "time-outs taken as failures (FAULTS C2)",
		Patches:  []Patch{{"inbox/destination_deliver.go", " || errors.Is(err, postbag.ErrCommitUnknown)) { // the mark tells\n", ") {\n"}},
		By:       coreTests("inbox", "TestADeadlockAndAnUnknownCommitRunAgainWithinTheCall"),
	},
	{
		Name: "handler-outage-rejected", What: "an error of a handler while its database is away counts against its message",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"inbox/destination_deliver.go", "	if down := d.Probe(ctx); down != nil {\n", "	if down := d.Probe(ctx); down != nil && !began {\n"}},
		By:       coreTests("inbox", "TestAnOutageOfTheDatabaseIsNoFaultOfAMessage"),
	},
	{
		Name: "handler-zombie-not-fenced", What: "a lane of effects can be written by a process that had it before",
		Evidence: "a process that was frozen, and goes on",
		Patches:  []Patch{{"store/memstore/lanes.go", "			if r.Epoch != epoch || epoch == 0 {\n", "			if r.Epoch == 0 || epoch == 0 {\n"}},
		By:       coreTests("inbox", "TestAZombiesPageIsKnownOrFenced"),
	},
	{
		Name: "handler-record-outside-transaction", What: "the record of a lane of effects outlives the rollback of its page",
		Evidence: "offsets that are committed before their effects",
		Patches:  []Patch{{"store/memstore/lanes.go", "		r.LaneState = u.was\n", ""}},
		By:       coreTests("store/memstore", "TestConformance$"),
	},
	{
		Name: "source-offset-committed-early", What: "the position of a partition moves past a message that is not acked",
		Evidence: "auto-commit of offsets",
		Patches:  []Patch{{"source/sourcekit/tracker.go", "	for a.head < len(a.sent) && a.sent[a.head].acked {\n", "	for a.head < len(a.sent) && (a.sent[a.head].acked || a.sent[a.head].offset < offset) {\n"}},
		By:       coreTests("source/sourcekit", "TestAPositionGrowsOnlyToTheFirstMessageThatIsNotAcked"),
	},
	{
		Name: "source-ack-of-a-lost-assignment", What: "an ack of an assignment that is over moves the position of the next one",
		Evidence: "consumers that outlive a rebalance",
		Patches:  []Patch{{"source/sourcekit/tracker.go", "	delete(t.epochs, a.epoch)\n	return a.told\n", "	return a.told\n"}},
		By:       coreTests("source/sourcekit", "TestAnAckOfAnotherAssignmentIsLostAndChangesNothing"),
	},
	{
		Name: "mqtt-acks-out-of-sequence", What: "MQTT: an ack is written at once, also before that of an earlier message",
		Evidence: "MQTT 5, 4.6: acks go out in the sequence of arrival",
		Patches:  []Patch{{"broker/mqttbroker/source_work.go", "	for ; n < len(w.all) && w.all[n].state == arrivedDone; n++ {\n		w.acknowledge(w.all[n])\n		w.all[n] = nil\n	}\n", "	w.acknowledge(a)\n	for ; n < len(w.all) && w.all[n].state == arrivedDone; n++ {\n		w.all[n] = nil\n	}\n"}},
		By:       tests("broker/mqttbroker", "TestAcksInAnySequenceAreWrittenInThatOfArrival"),
	},
	{
		Name: "webhook-answers-before-commit", What: "webhooks: a request is answered when a Fetch has returned it",
		Evidence: "endpoints that answer 200 and then work",
		Patches:  []Patch{{"broker/webhook/source_serve.go", "	s.write(w, s.await(r.Context(), waits))\n", "	s.write(w, answer{})\n"}},
		By:       coreTests("broker/webhook", "TestAWebhookIsAnsweredAfterItsCommitAndNotBefore"),
	},
	{
		Name: "webhook-replay-taken", What: "webhooks: the timestamp of a signature is not compared",
		Evidence: "Standard Webhooks: replays",
		Patches:  []Patch{{"broker/webhook/message_verify.go", "	if seconds < 0 || distance > most || -distance > most {\n", "	if seconds < 0 || most < 0 {\n		_ = distance\n"}},
		By:       coreTests("broker/webhook", "TestAReplayThatIsOutsideOfTheToleranceIsRefused"),
	},
}
