package mutants

// Mistakes in commands for many messages that the store keeps.
var longOperations = []Mutant{
	{
		Name: "operation-without-token", What: "a process that slept through its lease goes on beside the one that took its operation over",
		Evidence: "workers of jobs that check their lease by their own clock",
		Patches:  []Patch{{"store/storekit/operation.go", "	case o.Token != c.Token:\n		return 0, store.ErrOperationLost\n	case o.State", "	case o.Token < c.Token:\n		return 0, store.ErrOperationLost\n	case o.State"}},
		By:       coreTests("store/memstore", "TestConformance$/A_step_with_an_old_token"), Quick: true,
	},
	{
		Name: "operation-in-a-pause", What: "a step gives its command although the operation is paused",
		Evidence: "pauses that only the process knows which was told",
		Patches:  []Patch{{"store/storekit/operation.go", "	case o.State == store.OperationPaused || from != o.At:\n", "	case from != o.At:\n"}},
		By:       coreTests("store/memstore", "TestConformance$/In_a_pause_a_step_gives_nothing"), Quick: true,
	},
	{
		Name: "operation-step-twice", What: "a step that is made again, since its answer was lost, goes on from where the operation is by now",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/operation.go", "	case o.State == store.OperationPaused || from != o.At:\n", "	case o.State == store.OperationPaused:\n"}},
		By:       coreTests("store/memstore", "TestConformance$/A_step_that_is_said_again"), Quick: true,
	},
	{
		Name: "operation-moves-first", What: "MySQL, MariaDB and SQLite: the record is not behind the messages that have the command",
		Evidence: "progress that is kept apart from the work",
		Patches:  []Patch{{"store/sqlkit/operation_step.go", "	if line := storekit.EndStep(&o.Operation, int64(n), given", "	if line := storekit.EndStep(&o.Operation, int64(n)-1, given"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/An_operation_gives_its_command_step_by_step"),
	},
	{
		Name: "operation-after-another-death", What: "MySQL, MariaDB and SQLite: a message that was retried meanwhile, and died again, is discarded all the same",
		Evidence: "this project, until operations were recorded",
		Patches:  []Patch{{"store/sqlkit/operation_step.go", "int(store.ParkDead), microsOf(o.AsOf))", "int(store.ParkDead), t.Now)"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_step_leaves_a_message_that_died_again"),
	},
	{
		Name: "operation-after-another-death-on-postgresql", What: "PostgreSQL: the same",
		Evidence: "as before",
		Patches:  []Patch{{"store/pgstore/query/operation.sql", "* 1000000)::bigint) <= $18::bigint LIMIT 1", "* 1000000)::bigint) <= $18::bigint + 86400000000 LIMIT 1"}},
		By:       tests("store/pgstore", "TestConformance$/A_step_leaves_a_message_that_died_again"),
	},
	{
		Name: "operation-by-seq-alone", What: "an operation takes another message for one of its own that has the same seq",
		Evidence: "logs that were emptied and numbered again",
		Patches:  []Patch{{"store/storekit/operation_part.go", "	return sumOf(id) == sumOf(m.ID)", "	return true"}},
		By:       coreTests("store/memstore", "TestConformance$/A_step_leaves_a_message_that_is_not_the_one"), Quick: true,
	},
	{
		Name: "operation-lease-taken", What: "a process takes an operation over that another one works",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/operation.go", "	case o.Held(now):\n", "	case o.Held(now) && o.Worker == worker:\n"}},
		By:       coreTests("store/memstore", "TestConformance$/A_lease_that_has_not_ended"), Quick: true,
	},
	{
		Name: "operation-ends-with-the-first-error", What: "an error of the store that passes by itself ends an operation",
		Evidence: "this project, until workers waited",
		Patches:  []Patch{{"internal/operations/operation_trouble.go", "	if ctx.Err() != nil || !passes(err) {\n", "	if ctx.Err() != nil || err != nil {\n"}},
		By:       coreTests("internal/operations", "TestAWorkerWaitsUntilTheStoreIsBack"), Quick: true,
	},
	{
		Name: "operation-tries-for-ever", What: "a step that can never be made is tried again for days, although the store answers",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/operations/operation_trouble.go", "now.Sub(t.since) >= stuckAfter", "now.Sub(t.since) >= 300*stuckAfter"}},
		By:       coreTests("internal/operations", "TestAnErrorThatDoesNotPassFailsTheOperation"), Quick: true,
	},
	{
		Name: "operation-trouble-of-an-outage", What: "the time that a store is away counts as that of a step that fails",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/operations/operation_trouble.go", "	case passes(away):\n		w.trouble.since = time.Time{}\n", "	case passes(away):\n		if w.trouble.stuck(time.Now()) {\n			return o, away\n		}\n"}},
		By:       coreTests("internal/operations", "TestAWorkerWaitsUntilTheStoreIsBack"), Quick: true,
	},
	{
		Name: "operation-trouble-unseen", What: "nobody but its worker knows why an operation does not go on",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/operation.go", "o.Error = Reason(c.Trouble)", "o.Error = \"\""}},
		By:       coreTests("store/memstore", "TestConformance$/A_worker_in_trouble_is_seen"), Quick: true,
	},
	{
		Name: "operation-lease-before-the-pause", What: "an interrupted process gives the lease back before the pause, so that another one begins and is paused",
		Evidence: "this project, until it was reviewed",
		Patches:  []Patch{{"internal/operations/operation_work.go", "errors.Join(w.pause(ctx, err), w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, \"\"))", "errors.Join(w.store.Bookkeeper.ReleaseOperation(ctx, w.claim, \"\"), w.pause(ctx, err))"}},
		By:       coreTests("internal/operations", "TestAnInterruptedWorkerGivesItsLeaseBackBehindThePause"), Quick: true,
	},
	{
		Name: "operation-of-another-paused", What: "who interrupts a process that waits pauses the operation that another one works",
		Evidence: "this project, until it was reviewed",
		Patches:  []Patch{{"internal/operations/operation_work.go", " && !errors.Is(err, store.ErrOperationHeld):", ":"}},
		By:       coreTests("internal/operations", "TestAnInterruptDoesNotPauseWhatAnotherWorks"), Quick: true,
	},
	{
		Name: "operation-claim-lost", What: "a worker takes the lease that it has itself for that of another one, since the answer to its claim was lost",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/operations/operation_trouble.go", "held && (lost.IsZero() || time.Since(lost) > operationLease+mostAgain)", "held && time.Since(lost) >= 0"}},
		By:       coreTests("internal/operations", "TestAClaimWhoseAnswerIsLostIsMadeAgain"), Quick: true,
	},
	{
		Name: "operation-call-hangs", What: "a connection that hangs keeps an operation for ever",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/operations/operation_work.go", "	ctx, done := context.WithTimeout(ctx, callTime)\n	defer done()\n	claim := w.claim\n", "	ctx, done := context.WithTimeout(ctx, 1000*callTime)\n	defer done()\n	claim := w.claim\n"}},
		By:       coreTests("internal/operations", "TestACallThatHangsEnds"), Quick: true,
	},
	{
		Name: "operation-claim-of-other-messages", What: "a step goes by the state that its claim names, although the record has another",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/operation.go", "	case c.Of != \"\" && c.Of != o.Of:\n", "	case c.Of != \"\" && c.Of != o.Of && o.Version == 0:\n"}},
		By:       coreTests("store/memstore", "TestConformance$/A_claim_that_names_other_messages"), Quick: true,
	},
	{
		Name: "operation-planned-stays", What: "MySQL, MariaDB and SQLite: an operation that did not begin stays",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/operation_step.go", "box == m.Box && touched <= since", "box == m.Box && touched < 0"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Housekeeping_removes_the_records"),
	},
	{
		Name: "match-tells-a-key", What: "the audit log has the key by which messages were chosen",
		Evidence: "this project, until it was reviewed",
		Patches:  []Patch{{"internal/operations/match.go", "words = append(words, \"--key\")", "words = append(words, \"--key \"+Quoted(q.Key))"}},
		By:       coreTests("internal/operations", "TestACommandForAllThatMatchTellsNoKey"), Quick: true,
	},
	{
		Name: "error-kind-line-ends", What: "a group of errors with line ends is counted, and a form that names it finds none of them",
		Evidence: "this project, until it was reviewed",
		Patches:  []Patch{{"store/storekit/errorkind.go", "strings.NewReplacer(\"\\r\\n\", \"\\n\", \"\\r\", \"\\n\")", "strings.NewReplacer()"}},
		By:       coreTests("internal/operations", "TestAKindOfErrorHasOneFormOfLineEnds"), Quick: true,
	},
	{
		Name: "edit-keeps-why-parked", What: "an edited message keeps the header that says why a consumer parked the old one",
		Evidence: "found in review: no publisher may set it, so no parked message can be edited",
		Patches:  []Patch{{"internal/operations/edit.go", " || strings.EqualFold(name, store.FailedHeader)", ""}},
		By:       tests("console", "TestAMessageThatAConsumerHasParkedIsEditedWithoutTheReason"),
	},
}
