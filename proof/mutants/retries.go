package mutants

// Mistakes in retries: of ages, rules, and what ends a message.
var retrying = []Mutant{
	{
		Name: "expired-though-retried", What: "a message that an operator has retried is dead by its age again, and never sent",
		Evidence: "expiry that nobody can override: time-to-live of queues beside a shovel back from the dead-letter queue",
		Patches:  []Patch{{"internal/engine/retry_age.go", "if !f.cfg.ages || e.retried {", "if !f.cfg.ages {"}},
		By:       sim("-faults", "retries"),
	},
	{
		Name: "age-without-the-time-that-passed", What: "the database's clock is taken as it was at the last heartbeat, from time zero on",
		Evidence: "clocks of two machines compared (PostgreSQL's now() against a worker's)",
		Patches:  []Patch{{"internal/engine/retry_age.go", "f.zero = at.Add(-now) }", "f.zero = at }"}},
		By:       sim("-faults", "retries"),
	},
	{
		Name: "expired-before-the-transaction", What: "with transactions a message that an earlier owner has delivered is dead by its age, and sent again after a retry",
		Evidence: "seed 1404 of the simulator, when ages were new",
		Patches: []Patch{
			{"internal/engine/config.go", "c.Retry.MaxAge > 0 && !c.Transactions", "c.Retry.MaxAge > 0"},
			{"internal/engine/config.go", "c.Rules[i].MaxAge > 0 && !c.Transactions", "c.Rules[i].MaxAge > 0"},
		},
		By: coreTests("internal/engine", "TestAMessageOfATransactionIsTriedBeforeItIsDeadByItsAge"),
	},
	{
		Name: "expired-and-its-key-forgotten", What: "the key of a message that is dead by its age does not go on",
		Evidence: "a head of a queue that is removed on another path than the usual one",
		Patches:  []Patch{{"internal/engine/retry_age.go", "f.kill(e, store.CauseExpired, reasonExpired, now)\n	f.resume(e, now)\n", "f.kill(e, store.CauseExpired, reasonExpired, now)\n"}},
		By:       sim("-faults", "retries"),
	},
	{
		Name: "old-ones-never-looked-at", What: "a call ends before a message that is too old, and nothing takes that away",
		Evidence: "poison at the head of a queue",
		Patches:  []Patch{{"internal/engine/call_send.go", "	f.expireOld(now)\n", ""}},
		By:       sim("-faults", "retries,blocked,silence,slow-calls"),
	},
	{
		Name: "rule-by-type-ignored", What: "a message fails by the rule of another type",
		Evidence: "options of one queue read for all (Sidekiq's per-worker retry)",
		Patches:  []Patch{{"internal/engine/retry.go", "f.retryBy(cmp.Or(a.Rule, f.ruleOf(e)))", "f.retryBy(cmp.Or(a.Rule, 0*f.ruleOf(e)))"}},
		By:       sim("-faults", "retries,rejects"),
	},
	{
		Name: "end-at-once-ignored", What: "a message that is to have no other attempt is tried again",
		Evidence: "FailureClassifier: retry or dead (velmie/outbox)",
		Patches:  []Patch{{"internal/engine/retry.go", "last := a.Dead || e.attempts", "last := e.attempts"}},
		By:       coreTests("internal/engine", "TestAMessageThatIsToBeDeadHasNoOtherAttempt"),
	},
	{
		Name: "rejections-hide-deaths", What: "the log's bound of lines a minute is one for rejections and deaths, and no message that dies is named",
		Evidence: "ours: two hundred messages were rejected and died, and the log named none of the dead",
		Patches:  []Patch{{"relay/log_journal.go", "trouble{Ref: f.Ref, dead: true}", "trouble{Ref: f.Ref}"}},
		By:       coreTests("relay", "TestRejectionsKeepNoDeath"), Quick: true,
	},
}
