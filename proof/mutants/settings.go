package mutants

// Mistakes in settings that operators set while relays run, and in subscriptions that they add.
var tuning = []Mutant{
	{
		Name: "settings-need-a-restart", What: "a relay that runs does not take what an operator sets",
		Evidence: "settings that are read once, at the start",
		Patches:  []Patch{{"internal/core/view.go", "	c.viewSettings(now, f, s)\n", ""}},
		By:       coreTests("relay", "TestSettingsOfAnOperatorHoldUntilTheyAreReset"), Quick: true,
	},
	{
		Name: "a-reset-is-not-heard", What: "when the last setting is reset, relays that run keep it",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/core/settings.go", "	if f.Policy == nil || ", "	if f.Policy == nil || len(s.Settings) == 0 || "}},
		By:       coreTests("relay", "TestSettingsOfAnOperatorHoldUntilTheyAreReset"),
	},
	{
		Name: "the-timeout-of-the-start", What: "calls end by the timeout that the relay was started with",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/settings.go", "	f.timeout = t.Timeout\n", "	_ = t.Timeout\n"}},
		By:       coreTests("relay", "TestACallEndsByTheTimeoutOfNow"),
	},
	{
		Name: "new-rate-brings-a-burst", What: "the buckets of a new rate begin full",
		Evidence: "limiters that are made again with each change of their settings",
		Patches: []Patch{
			{"internal/engine/tune.go", "	l.messages.level, l.bytes.level, l.at = 0, 0, now\n", "	l.messages.level, l.bytes.level, l.at = l.messages.burst, l.bytes.burst, now\n"},
			{"internal/engine/tune.go", "		l.messages.inherit(&old.messages, l.share)\n		l.bytes.inherit(&old.bytes, l.share)\n", ""},
		},
		By: sim("-faults", "settings,rates"),
	},
	{
		Name: "a-debt-is-forgiven", What: "a large message that went from a full bucket is not paid for once the rate is changed",
		Evidence: "as before",
		Patches:  []Patch{{"internal/engine/tune.go", "		b.level = min(old.level, b.burst*share)\n", "		b.level = max(min(old.level, b.burst*share), 0)\n"}},
		By:       coreTests("internal/engine", "TestALargeMessageIsPaidForAtTheNewRate"),
	},
	{
		Name: "lower-in-flight-strands", What: "once in_flight is lowered, what was accepted waits for ever for what keeps its window from moving",
		Evidence: "seed 238 of the simulator, when settings were new",
		Patches:  []Patch{{"internal/engine/tune.go", "	f.above = f.places()\n", "	f.above = 0\n"}},
		By:       sim("-faults", "settings,rates,kills,stops"),
	},
	{
		Name: "a-setting-drops-the-others", What: "MySQL, MariaDB and SQLite: a command for one setting takes all others away",
		Evidence: "a row of settings that is written whole",
		Patches:  []Patch{{"store/storekit/settings.go", "	rows := map[string]json.RawMessage{}\n	if text != \"\" &&", "	rows := map[string]json.RawMessage{}\n	if text = \"\"; text != \"\" &&"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Each_setting_keeps_its_value"),
	},
	{
		Name: "a-setting-drops-the-others-in-postgresql", What: "PostgreSQL: a command for one setting takes all others away",
		Evidence: "as before",
		Patches:  []Patch{{"store/pgstore/query/settings.sql", "settings = (u.settings - $4::text[]) ||", "settings = ('{}'::jsonb - $4::text[]) ||"}},
		By:       tests("store/pgstore", "TestConformance$/Each_setting_keeps_its_value"),
	},
	{
		Name: "a-setting-leaves-the-epoch", What: "MySQL, MariaDB and SQLite: relays hear of a setting at a heartbeat that has another reason",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/operate_settings.go", "		t.Moved = true\n", ""}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_setting_that_an_operator_set_is_in_every_view"),
	},
	{
		Name: "the-deployment-beats-what-was-added", What: "MySQL, MariaDB and SQLite: a deployment with another filter than that of an added subscription does not start",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/operate_settings.go", "sqlAddedBy, who(a), ", "sqlAddedBy, \"\", "}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/An_added_subscription_begins_where"),
	},
	{
		Name: "added-subscription-ignores-its-destination", What: "what is added again with another destination goes to the former one",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/loop_added.go", "f.subscription.assigned && to != f.Destination {", "f.subscription.assigned && to == \"\" {"}},
		By:       coreTests("relay", "TestAnAddedSubscriptionIsWorkedOnlyForTheDestinationThatItHas"),
	},
	{
		Name: "a-stored-destination-beats-the-configuration", What: "a subscription of the configuration goes to the destination that an operator gives",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/loop_added.go", "		case own != nil:\n", "		case own != nil && !there:\n"}},
		By:       coreTests("relay", "TestARelaysOwnSettingsWinOverADestinationThatAnOperatorGives"),
	},
	{
		Name: "added-subscriptions-need-a-restart", What: "a relay looks for added subscriptions when it starts, and not again",
		Evidence: "as relays did before",
		Patches:  []Patch{{"relay/loop_added.go", "k.seen && k.epoch == epoch ||", "k.seen ||"}},
		By:       coreTests("relay", "TestARelayBeginsAndEndsSubscriptionsThatOperatorsAddAndRemove"),
	},
	{
		Name: "a-replay-is-begun-by-relays", What: "MySQL, MariaDB and SQLite: a replay with a destination is told as an added subscription, and sent twice",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/sql.go", "settings IS NOT NULL AND replay IS NULL ORDER", "settings IS NOT NULL ORDER"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_destination_that_an_operator_gives"),
	},
	{
		Name: "added-does-not-wait-for-its-filter", What: "an added subscription whose filter cannot be read ends and begins again, instead of waiting",
		Evidence: "this project, until a review: it said so again and again",
		Patches:  []Patch{{"relay/loop.go", "f.subscription.assigned && f.Unreadable() == nil //", "f.subscription.assigned //"}},
		By:       coreTests("relay", "TestAnAddedSubscriptionWhoseFilterCannotBeReadWaits"),
	},
	{
		Name: "added-begins-again-every-second", What: "an added subscription that ends by itself begins again every second, for ever",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"relay/added.go", "min(2*pause, addedRetryMost)", "min(pause, addedRetryMost)"}},
		By:       coreTests("relay", "TestAnAddedSubscriptionThatEndsAgainAndAgainWaitsLonger"),
	},
	{
		Name: "added-and-its-removal-not-seen", What: "a relay goes on with an added subscription that was removed",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/added.go", "		if one.want = to; to == \"\" {\n			ended = append(ended, ref)\n		}\n		one.change()\n", "		if to == \"\" {\n			continue\n		}\n		one.want = to\n		one.change()\n"}},
		By:       coreTests("relay", "TestAnAddedSubscriptionWhoseFilterCannotBeReadWaits"),
	},
	{
		Name: "hung-hook-holds-errors-up", What: "with Destinations, hooks and OnError wait for each other, so that a hook which hangs stops the relay",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"relay/added.go", "	var onError, hooks sync.Mutex\n	o.OnError = alone(&onError, o.OnError)\n", "	var hooks sync.Mutex\n	o.OnError = alone(&hooks, o.OnError)\n"}},
		By:       coreTests("relay", "TestAHookThatHangsDoesNotStopARelayWithDestinations"),
	},
	{
		Name: "drain-is-done-though-one-is-down", What: "after a drain nothing says that the destination of an added subscription is down",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"relay/added.go", "			a.keepPast(&s.Subscriptions[i])\n", "			_ = s.Subscriptions[i]\n"}},
		By:       coreTests("relay", "TestADrainTellsThatTheDestinationOfAnAddedSubscriptionIsDown"),
	},
}
