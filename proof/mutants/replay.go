package mutants

// Mistakes in replays: of where they end, what they send, and what they leave behind.
var replaying = []Mutant{
	{
		Name: "replay-ends-with-the-last-seq-seen", What: "PostgreSQL: in the middle of a window the seq read last counts as the floor, although a transaction is open below it",
		Evidence: "a commit below the last offset that was read: lost by every reader that remembers a seq",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "return max(p.Lowest(), min(p.After, p.To.Lowest()))", "return max(p.Lowest(), p.After)"}},
		By:       coreTests("store/sqlkit/snapshots", "TestTheLowWatermarkIsBelowEveryRowThatIsStillToCome"),
	},
	{
		Name: "replay-floor-of-what-was-seen", What: "MySQL: the highest seq passed is the floor, although seqs below it are open",
		Evidence: "the same, with AUTO_INCREMENT",
		Patches:  []Patch{{"store/sqlkit/replay.go", "return at.LowWatermark(), nil", "return at.High(), nil"}},
		By:       tests("store/mysqlstore", "TestConformance/MariaDB/The_floor_of_a_position_waits"),
	},
	{
		Name: "replay-without-an-end", What: "what lies beyond a replay's end is sent too",
		Evidence: "kafka-console-consumer --from-beginning without --max-messages",
		Patches:  []Patch{{"store/replay.go", "m.Seq <= r.After || m.Seq > r.Through", "m.Seq <= r.After"}},
		By:       coreTests("relay", "TestAReplaySendsItsRangeAgainInOrderAndMarked"),
	},
	{
		Name: "replay-of-all-keys", What: "a replay of some keys sends those of all",
		Evidence: "a filter of an operator's tool that the worker does not know",
		Patches:  []Patch{{"store/replay.go", "return len(r.Keys) == 0 || slices", "return len(r.Keys) >= 0 || slices"}},
		By:       coreTests("relay", "TestAReplaySendsItsRangeAgainInOrderAndMarked"),
	},
	{
		Name: "replay-unmarked", What: "replayed messages carry no mark",
		Evidence: "consumers that cannot tell a replay from the first delivery",
		Patches:  []Patch{{"relay/subscription.go", "markReplay(s.Replay), ", ""}},
		By:       coreTests("relay", "TestAReplaySendsItsRangeAgainInOrderAndMarked"),
	},
	{
		Name: "replay-outrun-by-retention", What: "SQLite and MySQL: retention does not look at replays",
		Evidence: "a topic's retention that deletes under a consumer that was reset",
		Patches:  []Patch{{"store/sqlkit/sql.go", "WHERE s.box = ? AND s.name <> '@maintenance' ORDER BY s.id, h.lo", "WHERE s.box = ? AND s.name <> '@maintenance' AND s.replay IS NULL ORDER BY s.id, h.lo"}},
		By:       tests("store/sqlitestore", "TestConformance.*/Nothing_is_dropped_that_a_replay"),
	},
	{
		Name: "replay-leaves-its-dead-behind", What: "the parked messages of an ended replay stay, and keep the copies of their bytes",
		Evidence: "rows of a subscription that was removed, found by the next one of its id",
		Patches:  []Patch{{"store/sqlkit/leftover.go", "{\"postbag__parked\", \"postbag__past\",", "{\"postbag__past\","}},
		By:       tests("store/sqlitestore", "TestAnEndedReplayLeavesNoRows"),
	},
	{
		Name: "replay-declared-again", What: "a relay whose replay was ended declares a subscription of that name, which reads all",
		Evidence: "consumers that recreate a group which an operator removed (Kafka's auto-created groups)",
		Patches:  []Patch{{"relay/loop.go", "if f.subscription.Replay == nil && !f.subscription.assigned {", "if true {"}},
		By:       coreTests("relay", "TestARelayOfAnEndedReplayMakesNoSubscription"),
	},
	{
		Name: "replay-through-with-messages-waiting", What: "a replay is through when its positions are, whatever waits for another attempt",
		Evidence: "a drain that ends with messages in retry",
		Patches:  []Patch{{"internal/core/replay.go", "p.Waiting == 0", "p.Waiting >= 0"}},
		By:       coreTests("internal/operations", "TestAReplayIsThroughWhenNothingWaits"),
	},
	{
		Name: "replay-done-while-it-waits", What: "a replay that has read to its end is 100% done, whatever waits of it",
		Evidence: "ours: 15,000 messages held for a topic that did not work, none delivered, 100% done",
		Patches:  []Patch{{"internal/operations/replay_progress.go", "r.Floor-p.After-r.waiting()", "r.Floor-p.After"}},
		By:       coreTests("internal/operations", "TestAReplayIsThroughWhenNothingWaits"), Quick: true,
	},
	{
		Name: "subscriptions-carry-the-mark-of-replays", What: "what is delivered for the first time carries the mark of a replay",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/replay.go", "	if r == nil || r.Unmarked {\n		return nil\n	}\n", "	if r == nil {\n		r = &store.Replay{Ref: store.Ref{Subscription: \"first\"}}\n	}\n	if r.Unmarked {\n		return nil\n	}\n"}},
		By:       faketime("Restarts"),
	},
	{
		Name: "replay-through-at-its-first-shard", What: "a replay is through when one of its shards is",
		Evidence: "progress that is read off the fastest partition",
		Patches:  []Patch{{"internal/core/replay.go", "if i == 0 || floor < out {", "if i == 0 || floor > out {"}},
		By:       sim("-faults", "replays"),
	},
	{
		Name: "replay-sends-all-it-reads", What: "a replay sends what lies outside of its bounds, times and keys",
		Evidence: "a filter that the reader is to apply, and does not",
		Patches:  []Patch{{"internal/core/replay.go", "!m.Filtered && !r.Takes(m)", "m.Filtered && !r.Takes(m)"}},
		By:       sim("-faults", "replays"),
	},
	{
		Name: "replay-stops-before-its-last-seq", What: "a replay reads no more once all but its last seq was read",
		Evidence: "bounds that one side includes and the other does not",
		Patches:  []Patch{{"internal/core/replay.go", "return err == nil && floor >= r.Through", "return err == nil && floor >= r.Through-1"}},
		By:       sim("-faults", "replays"),
	},
	{
		Name: "replay-without-the-first-of-its-time", What: "the message that was stored at the very time that a replay begins at does not come",
		Evidence: "the same, with times",
		Patches:  []Patch{{"store/replay.go", "m.At.Before(r.From)", "!m.At.After(r.From)"}},
		By:       sim("-faults", "replays"),
	},
	{
		Name: "replay-with-what-came-at-its-end", What: "the message that was stored at the very time that a replay ends at comes, too",
		Evidence: "the same, at the end",
		Patches:  []Patch{{"store/replay.go", "!m.At.Before(r.Before)", "m.At.After(r.Before)"}},
		By:       sim("-faults", "replays"),
	},
	{
		Name: "replay-waits-for-the-end-of-a-window", What: "a replay that has ended in the middle of a window never tries again what was rejected under supersede",
		Evidence: "ours: seed 924 of the simulator, when replays were new to it",
		Patches:  []Patch{{"internal/engine/group.go", "case f.cfg.Ends != nil && f.cfg.Ends(b.Next):", "case f.cfg.Ends != nil && f.cfg.Ends(b.Next) && b.Whole:"}},
		By:       sim("-faults", "replays,supersede,rejects,rollbacks,long-transactions"),
	},
	{
		Name: "replay-goes-on-after-its-end", What: "a relay that was told that its replay has ended sends what it has in hand",
		Evidence: "consumers that go on with a buffer after the group was deleted",
		Patches:  []Patch{{"internal/core/vanish.go", "		case !there && !f.gone:\n", "		case !there && !f.gone && len(v.Subscriptions) > 1:\n"}},
		By:       sim("-faults", "replays,rates,rejects"),
	},
}
