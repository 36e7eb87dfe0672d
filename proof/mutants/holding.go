package mutants

// Mistakes with messages that are held for a topic that does not work.
var holding = []Mutant{
	{
		Name: "topic-burns-attempts", What: "a topic that does not work costs an attempt",
		Evidence: "Agendia#322, for one topic",
		Patches:  []Patch{{"internal/engine/topic.go", "	t := f.topicOf(e.Topic)\n	opens", "	e.attempts++\n	t := f.topicOf(e.Topic)\n	opens"}},
		By:       sim("-faults", "topics"),
	},
	{
		Name: "lost-topic-tries-one-message", What: "of a topic whose answers get lost the same message is tried each time",
		Evidence: "one bad message that is the first of its topic holds up all others of it",
		Patches:  []Patch{{"internal/engine/topic_due.go", "	if ts.tried {\n		r.Skip", "	if false {\n		r.Skip"}},
		By:       coreTests("relay", "TestAMessageThatBreaksItsCallsBlocksNoOther"),
	},
	{
		Name: "lost-topic-opens-the-circuit", What: "a topic of which nothing comes through opens the circuit of the destination at each trial",
		Evidence: "a proxy that cuts the connection for one path: 84 lines of log a minute",
		Patches:  []Patch{{"internal/engine/call_answer.go", "e.suspected() || f.outlived(e)", "e.suspected()"}},
		By:       coreTests("relay", "TestATopicWhoseCallsBreak"),
	},
	{
		Name: "topics-forgotten-at-a-takeover", What: "another owner does not learn of the topics that messages are held for",
		Evidence: "rows without a due time are seen by nobody who does not ask",
		Patches:  []Patch{{"internal/engine/shard.go", "	for _, h := range blocked.Held {\n", "	for _, h := range blocked.Held[:0] {\n"}},
		By:       sim("-faults", "topics,kills"),
	},
	{
		Name: "held-key-goes-on", What: "a held message does not hold up its key",
		Evidence: "dead letters that let their key pass: 28 % of modelled runs invert",
		Patches:  []Patch{{"internal/engine/topic.go", "store.Park{State: store.ParkHeld, Blocking: true, ", "store.Park{State: store.ParkHeld, Blocking: false, "}},
		By:       sim("-faults", "topics"),
	},
	{
		Name: "held-up-by-one-topic", What: "one topic that fails opens the circuit of the destination",
		Evidence: "a topic that no stream stores: 999 of 1,500 messages of other keys arrive, the rest wait for ever",
		Patches:  []Patch{{"internal/engine/call_circuit.go", "	case topic:\n		t.topics++\n", "	case topic:\n		t.down++\n"}},
		By:       coreTests("internal/engine", "TestAFailureOfOneTopic"),
	},
	{
		Name: "held-after-a-dead-trial", What: "a topic whose trial was left to its row is not tried again",
		Evidence: "the simulator found it in ours",
		Patches: []Patch{
			{"internal/engine/topic.go", "	if e.try {\n		f.topics.next = 0\n	}\n", ""},
			{"internal/engine/topic_due.go", "		if t.state == Probing && !t.testing() {", "		if false {"},
		},
		By: sim("-faults", "topics,reshapes,stops,commands"),
	},
}
