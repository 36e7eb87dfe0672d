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
}
