package mutants

// Mistakes in how long messages of a box stay, and who says so.
var retaining = []Mutant{
	{
		Name: "retention-of-whichever-relay-maintains", What: "MySQL, MariaDB and SQLite: housekeeping goes by the relay that does it, and not by the box",
		Evidence: "Postbag before this: two relays with two values of keep deleted by either",
		Patches:  []Patch{{"store/sqlkit/maintain.go", "	l := r.Lifetimes(m.Keep)\n", "	r.Operator, r.Deployed = [3]int64{}, [3]int64{}\n	l := r.Lifetimes(m.Keep)\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(Housekeeping_goes_by|What_relays_say)"), Quick: true,
	},
	{
		Name: "last-word-on-retention-wins", What: "each relay that starts, or says its retention again, replaces what another one has said",
		Evidence: "configuration in a shared row that every process writes at its start",
		Patches:  []Patch{{"store/storekit/retention.go", "longer(d.Lifetimes, held), now", "true, now"}},
		By:       coreTests("relay", "TestTwoRelaysThatDisagreeDoNotAlternate"),
	},
	{
		Name: "retention-said-at-the-start-only", What: "a relay says its retention when it starts and never again: an hour later another one's replaces it, while it still runs",
		Evidence: "leases that nobody renews",
		Patches:  []Patch{{"relay/retention.go", "	d.next = l.now() + store.DeployEvery\n", "	d.next = l.now() + 1000*store.DeployEvery\n"}},
		By:       coreTests("relay", "TestTwoRelaysThatDisagreeDoNotAlternate"),
	},
	{
		Name: "silent-relay-says-the-default", What: "a relay whose configuration says nothing of retention says 72 h",
		Evidence: "defaults that are filled in before anybody asks whether the setting was there",
		Patches:  []Patch{{"relay/retention.go", "store.Lifetimes{Delivered: o.Keep})\n	for", "store.Lifetimes{Delivered: max(o.Keep, store.DefaultLifetime)})\n	for"}},
		By:       coreTests("relay", "TestHousekeepingGoesByTheBoxWhicheverRelayDoesIt"),
	},
	{
		Name: "deployment-over-operator", What: "what relays have deployed comes before what an operator has set",
		Evidence: "emergency settings that the next deployment undoes",
		Patches:  []Patch{{"store/retention.go", "	l := r.Operator.Or(r.Deployed)\n", "	l := r.Deployed.Or(r.Operator)\n"}},
		By:       coreTests("relay", "TestAnOperatorsRetentionHoldsUntilItIsReset"),
	},
	{
		Name: "discarded-go-with-the-rest", What: "MySQL, MariaDB and SQLite: a discarded message goes with the delivered ones around it, though it is to be kept for longer",
		Evidence: "one age for all rows of an outbox",
		Patches:  []Patch{{"store/sqlkit/maintain.go", "		to = min(to, first.Int64-1)\n", "		to = max(to, first.Int64-1)\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_discarded_message_stays"),
	},
	{
		Name: "dead-discarded-though-retried", What: "MySQL, MariaDB and SQLite: a dead message that an operator has retried gets a discard too, and is never sent",
		Evidence: "expiry that races the people who repair",
		Patches: []Patch{{
			"store/sqlkit/sql.go", "WHERE c.subscription = p.subscription AND c.seq = p.seq)`\n\n	// A range of the index of commands, ended",
			"WHERE c.subscription = p.subscription AND c.seq = p.seq AND c.kind = 2)`\n\n	// A range of the index of commands, ended",
		}},
		By: tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_dead_message_that_somebody_has_retried"),
	},
	{
		Name: "dead-go-unasked", What: "a box that says nothing of dead messages keeps them as long as delivered ones",
		Evidence: "cleaners that take every row that is not pending (FEATURES B7: error two days)",
		Patches:  []Patch{{"store/retention.go", "		l.Dead = Forever\n", "		l.Dead = l.Delivered\n"}},
		By:       coreTests("store/memstore", "TestConformance$/A_box_that_nobody"),
	},
	{
		Name: "dead-since-their-first-failure", What: "PostgreSQL: a dead message is as old as its first failure, not as its death",
		Evidence: "ages by the time of creation (a cleaner that deletes at once what has just died)",
		Patches: []Patch{
			{"store/pgstore/query/retention.sql", "SELECT p.seq, coalesce((p.history -> -1 ->> 0)::bigint, (", "SELECT p.seq, coalesce((p.history -> 0 ->> 0)::bigint, ("},
			{"store/pgstore/query/retention.sql", "      AND coalesce((p.history -> -1 ->> 0)::bigint, (", "      AND coalesce((p.history -> 0 ->> 0)::bigint, ("},
		},
		By: tests("store/pgstore", "TestConformance/A_dead_message_is_as_old_as_its_death"),
	},
}
