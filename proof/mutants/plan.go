package mutants

// Mistakes in comparing a file with its stores, and in giving them what it says.
var planning = []Mutant{
	{
		Name: "plan-counts-what-others-have", What: "a subscription that the file does not name is removed by apply without --allow-remove",
		Evidence: "deployment tools that take their file for the whole truth, and drop what another team made",
		Patches:  []Patch{{"cmd/postbag/internal/plan/compare.go", "	if !c.options.Remove {\n", "	if !c.options.Remove && c.target == nil {\n"}},
		By:       tests("cmd/postbag", "TestWhatAFileSaysIsAppliedAndThenNothingDiffers/sqlite"), Quick: true,
	},
	{
		Name: "plan-shortens-unasked", What: "apply makes a retention shorter without --allow-remove, and housekeeping removes what an operator wanted to keep",
		Evidence: "settings of an emergency that the next deployment undoes",
		Patches:  []Patch{{"cmd/postbag/internal/plan/retention.go", "		if have.Rows > 0 || p.Dead > 0 {", "		if have.Rows < 0 {"}},
		By:       tests("cmd/postbag", "TestWhatAFileSaysIsAppliedAndThenNothingDiffers/sqlite"),
	},
	{
		Name: "plan-readmits-unasked", What: "apply declares a subscription that an operator removed, and it delivers everything again",
		Evidence: "infrastructure that is made from old settings (record 088)",
		Patches:  []Patch{{"cmd/postbag/internal/plan/compare.go", "needs(NeedsReadmit, c.options.Readmit)", "needs(NeedsReadmit, true)"}},
		By:       tests("cmd/postbag", "TestWhatAFileSaysIsAppliedAndThenNothingDiffers/sqlite"),
	},
	{
		Name: "plan-loses-first", What: "apply shortens a retention before it declares subscriptions, which then lack the messages that went",
		Evidence: "made on purpose",
		Patches:  []Patch{{"cmd/postbag/internal/plan/retention.go", "		d.rank = keepsShorter\n", ""}},
		By:       tests("cmd/postbag", "TestWhatAFileSaysIsAppliedAndThenNothingDiffers/sqlite"),
	},
	{
		Name: "plan-goes-on-after-an-error", What: "apply does the steps behind one that failed",
		Evidence: "scripts without set -e",
		Patches:  []Patch{{"cmd/postbag/internal/plan/apply.go", "			return stopped(ready, i, named(d.Store, err))\n", "			defer func() { _ = stopped(ready, i, named(d.Store, err)) }()\n			continue\n"}},
		By:       daemonTests("internal/plan", "TestApplyStopsAtTheFirstError"),
	},
	{
		Name: "plan-does-more-than-it-said", What: "apply shortens a retention that somebody made longer after the plan was shown",
		Evidence: "plans that are carried out against another state than they were made of",
		Patches:  []Patch{{"cmd/postbag/internal/plan/apply.go", "		if shorter(&p) && (!mayShorten || ", "		if shorter(&p) && len(a.Why) == 0 && (!mayShorten || "}},
		By:       daemonTests("internal/plan", "TestApplyRefusesWhatChangedSinceThePlan"),
	},
	{
		Name: "plan-mistake-is-a-difference", What: "plan ends with 2 for a mistake in the file, so that a script takes it for a difference",
		Evidence: "one exit code for two answers",
		Patches:  []Patch{{"cmd/postbag/internal/exit/code.go", "!ok && Of(err) == Usage {\n", "!ok && Of(err) == Usage && err == nil {\n"}},
		By:       tests("cmd/postbag", "TestExitCodeTwoOfAPlanSaysThatSomethingDiffersAndNothingElse"),
	},
	{
		Name: "export-to-stdout", What: "an exported file delivers to standard output until somebody corrects it: a relay with it takes all messages for delivered",
		Evidence: "examples that run",
		Patches:  []Patch{{"cmd/postbag/internal/plan/export.go", "Settings: []Setting{{\"nats\", []Setting{{\"url\", FillIn}}}},", "Settings: []Setting{{\"stdout\", []Setting{}}},"}},
		By:       tests("cmd/postbag", "TestAnExportedFileDeliversNothingUntilItIsCorrected"),
	},
}
