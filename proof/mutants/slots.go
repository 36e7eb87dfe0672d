package mutants

// Mistakes in boxes whose slots are made by number.
var numbering = []Mutant{
	{
		Name: "negative-numbers-truncate", What: "the slot of a negative number is that of its digits",
		Evidence: "the sign of a remainder: Go, C and SQL have another than Ruby and Python",
		Patches:  []Patch{{"store/slots.go", "	if negative {\n", "	if negative && n < 0 {\n"}},
		By:       tests("store", "TestASlotByNumber"),
	},
	{
		Name: "producer-says-the-place", What: "PostgreSQL: the trigger of a box by number keeps the place that a producer wrote",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/pgstore/schema/0019_slots.sql", "  NEW.place := postbag.number_place(NEW.shard_key, NEW.key, NEW.id);\n", "  NEW.place := coalesce(nullif(NEW.place, 0), postbag.number_place(NEW.shard_key, NEW.key, NEW.id));\n"}},
		By:       tests("store/pgstore", "TestPlainSQLGetsSlotsByNumberWhateverItSays"),
	},
	{
		Name: "trigger-of-numbers-sleeps", What: "PostgreSQL: sessions that switch ordinary triggers off get no slots by number",
		Evidence: "logical replication and restores: session_replication_role = replica",
		Patches:  []Patch{{"store/pgstore/schema/number.sql", "ENABLE ALWAYS TRIGGER", "ENABLE TRIGGER"}},
		By:       tests("store/pgstore", "TestASessionThatSwitchesTriggersOff"),
	},
	{
		Name: "sqlite-reads-numbers-by-hash", What: "SQLite: a page of a box by number is read with slots by hash",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlitestore/turn_read.go", "storekit.Place(p.about.slots, row.id", "storekit.Place(p.about.slots[:0], row.id"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Slots_by_number"),
	},
	{
		Name: "commands-of-numbers-by-hash", What: "MySQL, MariaDB and SQLite: a command for a pending message goes to the slot of its hash",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/operate_command.go", "storekit.Place(storekit.RuleOf(rule), message", "storekit.Place(storekit.RuleOf(rule-1), message"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_command_for_a_pending_message_of_a_box_by_number"),
	},
	{
		Name: "old-programs-read-numbers", What: "MySQL, MariaDB and SQLite: programs that do not know boxes by number can open a store that has one",
		Evidence: "rolling updates: an older program computes what a newer one reads",
		Patches:  []Patch{{"store/sqlkit/sql.go", "SET reader = version WHERE reader < version`", "SET reader = reader WHERE reader < version`"}},
		By:       tests("store/sqlitestore", "TestProgramsThatDoNotKnowABoxByNumber"),
	},
	{
		Name: "rule-for-slots-changes", What: "a box that is made again by another rule for slots is taken for the same",
		Evidence: "CREATE TABLE IF NOT EXISTS, which does not look at what exists",
		Patches:  []Patch{{"store/storekit/options.go", "	if asked == \"\" || has == asked {\n", "	if asked == \"\" || has != \"\" {\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_box_keeps_the_rule"),
	},
}
