package mutants

// Mistakes in dead letters: of what, when, and how often they are written.
var burying = []Mutant{
	{
		Name: "letter-forgotten-by-age", What: "a message that is dead by its age leaves no dead letter",
		Evidence: "dead-letter queues that know of rejections alone (RabbitMQ's x-delivery-limit beside its time-to-live)",
		Patches: []Patch{{
			"internal/engine/retry_age.go", "	f.kill(e, store.CauseExpired, reasonExpired, now)\n",
			"	f.dies(e, store.CauseExpired, reasonExpired)\n	f.park(e, store.Park{State: store.ParkDead, Reason: reasonExpired, Blocking: f.cfg.OnReject == Block, Cause: store.CauseExpired}, now)\n",
		}},
		By: sim("-faults", "retries"), Quick: true,
	},
	{
		Name: "letter-of-what-is-tried-again", What: "a message that is tried again leaves a dead letter already",
		Evidence: "a dead-letter topic that gets each failed attempt (non-blocking retries with one topic)",
		Patches: []Patch{
			{"internal/engine/retry.go", "p := store.Park{State: store.ParkRetrying, Reason: a.Reason,", "p := store.Park{State: store.ParkRetrying, DeadTo: f.cfg.DeadTo, Reason: a.Reason,"},
		},
		By: sim("-faults", "rejects"),
	},
	{
		Name: "letter-with-another-cause", What: "a message that an answer ended is said to have had all its attempts",
		Evidence: "x-death counts of a queue that cannot tell a reject from a limit",
		Patches:  []Patch{{"internal/engine/retry.go", "f.kill(e, store.CauseRejected, a.Reason, now)", "f.kill(e, store.CauseAttempts, a.Reason, now)"}},
		By:       sim("-faults", "retries,rejects"),
	},
	{
		Name: "retry-forgotten-with-its-topic", What: "a message that an operator has retried is dead by its age once its topic failed, and never sent",
		Evidence: "a mark of a row that the next state of the row overwrites",
		Patches:  []Patch{{"internal/engine/retry_age.go", "return p.Attempts == 0 && strings.HasPrefix(p.Reason, retriedHeld(\"\"))", "return false && strings.HasPrefix(p.Reason, retriedHeld(\"\"))"}},
		By:       coreTests("internal/engine", "TestWhatAnOperatorRetriesIsTriedOnceItsTopicWorks"),
	},
	{
		Name: "letter-of-a-lost-settlement", What: "PostgreSQL: dead letters do not ask whether their settlement was applied",
		Evidence: "a copy that is sent beside the transaction, and stays if that is rolled back",
		Patches: []Patch{{
			"store/pgstore/query/settle.sql",
			"AND s.version = i.version AND s.settled_x = pg_current_xact_id()\nJOIN postbag._subscriptions u", "\nJOIN postbag._subscriptions u",
		}},
		By: tests("store/pgstore", "TestConformance/A_(lost|repeated)_settlement_leaves"),
	},
	{
		Name: "letter-of-a-dropped-message-lost", What: "PostgreSQL: a message whose row was dropped from the log leaves no dead letter",
		Evidence: "a copy that is made of the queue, where the message is not any more",
		Patches: []Patch{{
			"store/pgstore/query/settle.sql",
			"  SELECT b.payload FROM postbag.{from} b WHERE b.seq = i.seq\n  UNION ALL\n  SELECT c.payload FROM postbag._copies c WHERE c.box = u.box AND c.seq = i.seq\n",
			"  SELECT b.payload FROM postbag.{from} b WHERE b.seq = i.seq AND u.box > 0\n",
		}},
		By: tests("store/pgstore", "TestConformance/A_message_that_is_gone_from_the_log_leaves"),
	},
	{
		Name: "letter-written-again", What: "SQLite: a settlement that is repeated writes its dead letters once more",
		Evidence: "an answer that got lost, and a second copy for each message",
		Patches: []Patch{{
			"store/sqlitestore/turn_settle.go", "		v.Applied, err = t.Row(sqlApplied,",
			"		if v.Letters, err = t.Letters(s); err != nil {\n			return store.Verdict{}, err\n		}\n		v.Applied, err = t.Row(sqlApplied,",
		}},
		By: tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_repeated_settlement_leaves"),
	},
	{
		Name: "letter-that-keeps-its-message-alive", What: "MySQL: a dead letter whose box is gone fails the settlement, each time",
		Evidence: "a dead-letter topic that does not exist, and a consumer that stops there (Spring Kafka, Kafka Connect)",
		Patches:  []Patch{{"store/mysqlstore/deadletter.go", "	case codeNoTable, codeDenied,", "	case codeDenied,"}},
		By:       tests("store/mysqlstore", "TestConformance$/.*/A_dead_letter_that_cannot_be_written"),
	},
	{
		Name: "letter-without-a-right", What: "PostgreSQL: nobody asks at the start whether dead letters may be written",
		Evidence: "a grant that is missing, found at the first death",
		Patches: []Patch{
			{"store/pgstore/deadletter.go", "		if sqlState(err) == codeNoRight {\n			return letterError(box, err)\n		}\n		return err\n", "		return nil\n"},
		},
		By: tests("store/pgstore", "TestThePrintedRightsAreThoseNeeded"),
	},
	{
		Name: "letter-with-the-same-id", What: "a message that dies again has a dead letter with the id of the first",
		Evidence: "a consumer that drops repeats, and never hears of the second death",
		Patches: []Patch{{
			"store/storekit/deadletter.go", "for _, n := range []int64{seq, l.Token, l.Version} {", "for _, n := range []int64{seq} {",
		}},
		By: coreTests("store/memstore", "TestConformance/A_message_that_dies_again"),
	},
	{
		Name: "letter-with-properties", What: "a dead letter has the properties that its message had for another destination",
		Evidence: "x-expiration that follows a message into the dead-letter queue (RabbitMQ takes it off)",
		Patches: []Patch{{
			"store/storekit/deadletter.go", "if isProperty(name) || hasPrefixFold", "if hasPrefixFold",
		}, {"store/storekit/deadletter.go", "// isProperty says what broker.IsProperty", "var _ = isProperty\n\n// isProperty says what broker.IsProperty"}},
		By: coreTests("relay", "TestADeadLetterHasNoPropertyOfATransport"),
	},
	{
		Name: "letters-in-a-circle", What: "a box of dead letters may lead back to itself",
		Evidence: "RabbitMQ's dead-letter cycles, which the broker drops without a word",
		Patches: []Patch{
			{"relay/dead.go", "		if leads(next, s.DeadTo, box) {", "		if leads(next, s.DeadTo, box) && len(next) > 9 {"},
		},
		By: coreTests("relay", "TestTheBoxOfDeadLettersDoesNotLeadBack"),
	},
	{
		Name: "triggers-end-the-transaction", What: "SQLite: a trigger of the box of dead letters that ends the transaction has each turn fail",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"store/sqlitestore/deadletter.go", "gone != nil && refused(err) {", "gone == nil && refused(err) {"}},
		By:       tests("store/sqlitestore", "TestATriggerOnTheBoxOfDeadLettersStopsNoShard"),
	},
	{
		Name: "letter-with-the-topic-of-its-message", What: "the topic that a subscription says for its dead letters is not used",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/engine/death.go", ", DeadTopic: f.cfg.DeadTopic,", ","}},
		By:       sim("-faults", "rejects"), Quick: true,
	},
	{
		Name: "letter-topic-checked-at-one-destination", What: "config check asks only the destination that dead_to names about the topic of dead letters",
		Evidence: "made on purpose",
		Patches:  []Patch{{"cmd/postbag/internal/config/deadletter.go", "to.Store != s.Store || to.Box", "to.To != s.DeadTo.To || to.Store != s.Store || to.Box"}},
		By:       tests("cmd/postbag", "TestConfigCheckRefusesATopicThatTheDestinationOfDeadLettersRejects"),
	},
}
