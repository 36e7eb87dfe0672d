package mutants

// Mistakes in changing subscriptions while relays run.
var living = []Mutant{
	{
		Name: "removed-is-not-let-go", What: "a relay whose subscription was removed keeps what it has in hand of it",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/core/vanish.go", "		case !there && !f.gone:\n", "		case !there && !f.gone && f.Lane != nil:\n"}},
		By:       coreTests("relay", "TestARelayLetsGoOfARemovedSubscriptionAndTakesItsSuccessor"), Quick: true,
	},
	{
		Name: "returned-is-not-seen", What: "a subscription that is declared again stays unknown to a relay that let go of it",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/core/view.go", "		default:\n			c.viewFlow", "		case f.wanted >= 0:\n			c.viewFlow"}, {"internal/core/vanish.go", "	f.wanted, f.reshapePause", "	defer func() { f.wanted = -1 }()\n	f.wanted, f.reshapePause"}},
		By:       sim("-faults", "removals"),
	},
	{
		Name: "removal-beside-work", What: "MySQL, MariaDB and SQLite: a subscription is removed under the hands of a live relay, without force",
		Evidence: "consoles that drop a queue with consumers on it",
		Patches:  []Patch{{"store/sqlkit/operate_steward.go", "		if !force {\n", "		if !force && t.Now < 0 {\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_subscription_that_a_live_relay_works"),
	},
	{
		Name: "removed-comes-back", What: "MySQL, MariaDB and SQLite: a restart with old settings declares a removed subscription again",
		Evidence: "infrastructure that is made from settings: what an operator deleted is back after the next restart, and sends all again",
		Patches:  []Patch{{"store/sqlkit/declare.go", "err != nil || removed {\n", "err != nil || removed && false {\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_removed_subscription_is_not_declared_again"),
	},
	{
		Name: "filter-of-the-deployment-alarms", What: "MySQL, MariaDB and SQLite: a deployment whose filter is not the operator's does not start",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/declare.go", "	case (has != types || hasTakes != takes) && by == \"\":\n", "	case (has != types || hasTakes != takes) && (by == \"\" || by != \"\"):\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_filter_that_an_operator_set_stays"),
	},
	{
		Name: "filter-is-remembered", What: "PostgreSQL: a read goes by the filter that the catalogue had when the turn began, whatever its answer shows",
		Evidence: "caches of settings that end with the process",
		Patches:  []Patch{{"store/pgstore/turn.go", "	if w.catalog.epoch == epoch {\n", "	if w.catalog.epoch == epoch || len(w.reads) > 0 {\n"}},
		By:       tests("store/pgstore", "TestConformance$/Every_read_that_begins_after_a_command"),
	},
	{
		Name: "filter-is-remembered-by-mysql", What: "MySQL and MariaDB: a subscription that was looked up once is never looked up again",
		Evidence: "as before",
		Patches:  []Patch{{"store/mysqlstore/turn.go", "		if !asks || r.seen.epoch == r.about.epoch {\n", "		if !asks || r.seen.epoch >= 0 {\n"}},
		By:       tests("store/mysqlstore", "TestConformance$/.*/Every_read_that_begins_after_a_command"),
	},
	{
		Name: "leftovers-forgotten", What: "a removal that ends in the middle leaves rows that nobody deletes",
		Evidence: "deletes in parts without a note of what is left",
		Patches:  []Patch{{"store/sqlkit/leftover.go", "if more, err := t.deleteSome(id); err != nil || more {", "if _, err := t.deleteSome(id); err != nil {"}},
		By:       tests("store/sqlitestore", "TestARemovalThatEndsInTheMiddleIsFinishedByHousekeeping"),
	},
	{
		Name: "all-rows-removed-at-once", What: "a removal deletes all parked messages in one transaction",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"store/sqlkit/operate_steward.go", "[]string{sqlDeleteShards, sqlForgetLedger,", "[]string{sqlDeleteShards, sqlForgetParked, sqlForgetLedger,"}},
		By:       tests("store/sqlitestore", "TestARemovalThatEndsInTheMiddleIsFinishedByHousekeeping"),
	},
	{
		Name: "set-back-at-once", What: "a subscription is set back in one transaction, however much it has parked",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"store/sqlitestore/reconcile.go", "		if more {\n			return t.commit()\n		}\n", ""}},
		By:       tests("store/sqlitestore", "TestASubscriptionWithManyParkedRowsIsSetBackInParts"),
	},
	{
		Name: "set-back-in-parts-unmarked", What: "a set-back whose process ends between two parts leaves no mark, and nobody goes on with it",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"store/sqlkit/reconcile.go", "			return true, t.markSettingBack(refs)\n", "			return true, nil\n"}},
		By:       tests("store/sqlitestore", "TestASetBackThatEndsInTheMiddleIsFinishedByTheNextProcess"),
	},
	{
		Name: "unreadable-is-worked", What: "a relay goes on with a subscription whose filter it cannot read",
		Evidence: "settings of a later version, of which an older one takes what it knows",
		Patches:  []Patch{{"internal/core/vanish.go", "		there := i >= 0 && f.unreadable == nil\n", "		there := i >= 0\n"}},
		By:       sim("-faults", "unreadable-filters"),
	},
	{
		Name: "unreadable-is-kept", What: "a relay that cannot read the filter keeps its shards, and nobody works them",
		Evidence: "a member of a consumer group that fails on each message and stays in the group",
		Patches:  []Patch{{"internal/core/vanish.go", "sh.Owner == c.id && !c.gives(f, &sh.Lease) {", "sh.Owner == c.id && sh.Owner == \"\" {"}},
		By:       sim("-faults", "unreadable-filters"),
	},
	{
		Name: "unreadable-has-a-share", What: "others leave a share of the shards to a relay that cannot read the filter",
		Evidence: "assignors that know who is there and not who can work",
		Patches:  []Patch{{"internal/core/share.go", "ref) && !unreadable {", "ref) && (!unreadable || len(relays) > 0) {"}},
		By:       sim("-faults", "unreadable-filters"),
	},
	{
		Name: "unreadable-is-given-back-at-once", What: "a relay that cannot read the filter gives its shards back while calls that it has ended may still arrive",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"internal/core/vanish.go", "	if now < f.calmAt {\n", "	if now < f.calmAt && now < 0 {\n"}},
		By:       coreTests("internal/core", "TestASubscriptionWhoseFilterCannotBeReadIsGivenBack"),
	},
	{
		Name: "readable-again-and-silent", What: "a relay that can read the filter again tells others with its next heartbeat, up to a third of the TTL later",
		Evidence: "this project, until the simulator played such filters",
		Patches:  []Patch{{"internal/core/vanish.go", "			f.calmAt, c.nextBeat = 0, 0\n", "			f.calmAt = 0\n"}},
		By:       coreTests("internal/core", "TestARelayThatCanReadTheFilterAgainTellsOthersAtOnce"),
	},
}
