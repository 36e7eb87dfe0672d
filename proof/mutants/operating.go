package mutants

// daemonTests are those of a package of the command postbag.
func daemonTests(folder, run string) Instrument {
	return Instrument{Module: "cmd/postbag", Package: "./" + folder, Run: run}
}

// Mistakes around operators: what they may do, and what they are shown.
var operating = []Mutant{
	{
		Name: "panic-charged-to-all", What: "a panic of a destination is an attempt of every message of its call",
		Evidence: "one bad handler of a hundred messages: a hundred parked, an innocent one dead",
		Patches:  []Patch{{"relay/call_publish.go", "	if len(results) > 1 {\n		outcome = broker.Unknown", "	if len(results) > 1<<30 {\n		outcome = broker.Unknown"}},
		By:       coreTests("relay", "TestOnlyTheMessageWhoseHandlerPanicsCountsAnAttempt"),
	},
	{
		Name: "outage-charged-to-a-lone-message", What: "a lost answer to a call of one message counts as an attempt though nothing else came through",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"internal/engine/call_doubt.go", "	if alone && others {", "	if alone {"}},
		By:       coreTests("relay", "TestABrokenCallCountsNoAttemptIfNoOtherMessagePasses"),
	},
	{
		Name: "message-that-cuts-its-calls-lives-for-ever", What: "a message for which the connection is cut each time is sent again for ever",
		Evidence: "a proxy that resets for one body: 45 calls in 100 s, and no attempt counted",
		Patches:  []Patch{{"internal/engine/call_doubt.go", "		d.alone++\n", "		d.alone += 0\n"}},
		By:       coreTests("relay", "TestAMessageThatBreaksConnectionsRunsOutOfAttemptsWhileOthersPass"),
	},
	{
		Name: "orders-leave-no-trace", What: "MySQL, MariaDB and SQLite: an operator's command is carried out and not written to the audit log",
		Evidence: "consoles that retry and discard without a trace (FAULTS G15; lionagi#1960)",
		Patches:  []Patch{{"store/sqlkit/operate.go", "		return t.audit(a, what)\n", "		return nil\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Commands_are_audited"),
	},
	{
		Name: "orders-of-nobody", What: "MySQL, MariaDB and SQLite: a command need not say who gives it, and why",
		Evidence: "as before",
		Patches:  []Patch{{"store/storekit/text.go", "	if a.Who == \"\" || a.Why == \"\" {\n", "	if a.Who == \"\" && a.Who != \"\" {\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_command_without"),
	},
	{
		Name: "stuck-relay-is-healthy", What: "a relay whose loop is stuck says that it is well",
		Evidence: "wolverine#3954: nine days of silent backlog behind a green light (FAULTS F11)",
		Patches:  []Patch{{"cmd/postbag/internal/admin/server.go", "		answer(w, time.Since(asked) < loopPatience, ", "		answer(w, time.Since(asked) < loopPatience<<20, "}},
		By:       daemonTests("internal/admin", "TestRelayWhoseLoopIsStuck"),
	},
	{
		Name: "metrics-for-everybody", What: "a port without a host is listened on at every address",
		Evidence: "pprof and metrics on the internet (FAULTS G13)",
		Patches:  []Patch{{"cmd/postbag/internal/config/check.go", "cmp.Or(host, \"127.0.0.1\")", "cmp.Or(host, \"0.0.0.0\")"}},
		By:       daemonTests("internal/config", "."),
	},
	{
		Name: "passwords-in-messages", What: "a URL that is quoted in a message keeps its password",
		Evidence: "pgx#1271, pgx#1428: passwords in errors of parsers (FAULTS G7)",
		Patches:  []Patch{{"cmd/postbag/internal/config/secret.go", "	text = redactInfo.ReplaceAllString(text, \"${1}***@\")\n", "	text = redactInfo.ReplaceAllString(text, \"${0}\")\n"}},
		By:       daemonTests("internal/config", "TestRedact"),
	},
}
