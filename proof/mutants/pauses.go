package mutants

// Mistakes in holding what an operator has paused, and in letting it go.
var pausing = []Mutant{
	{
		Name: "paused-and-still-sent", What: "what waits to be sent as a pause begins is sent",
		Evidence: "workers that look at a pause when they fetch, and not at what they have fetched",
		Patches:  []Patch{{"internal/engine/pause.go", "	f.sweepPaused(now)\n	for name", "	for name"}},
		By:       sim("-faults", "scoped-holds,rejects"), Quick: true,
	},
	{
		Name: "paused-and-retried", What: "a message that failed is tried again although it is paused",
		Evidence: "schedulers of retries that know nothing of paused queues",
		Patches:  []Patch{{"internal/engine/topic.go", "	if f.pausing.of(e.Record) != \"\" {\n		return true", "	if f.pausing.of(e.Record) != \"\" && !e.parked {\n		return true"}},
		By:       sim("-faults", "scoped-holds,rejects"),
	},
	{
		Name: "pause-never-ends", What: "messages stay held when their pause is over",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/engine/pause.go", "			t.state, t.missed, t.empty = Closed, false, 0\n", "			t.missed, t.empty = false, 0\n"}},
		By:       sim("-faults", "scoped-holds"),
	},
	{
		Name: "pause-outlived-by-its-rows", What: "a relay that takes a shard over keeps messages held whose pause ended before",
		Evidence: "pauses that live in the memory of the process that set them",
		Patches:  []Patch{{"internal/engine/pause.go", "	if !f.pausing.holds(t.name) {\n		t.state = Closed", "	if !f.pausing.holds(t.name) && f.quiet {\n		t.state = Closed"}},
		By:       sim("-faults", "scoped-holds,kills,stops"),
	},
	{
		Name: "pause-lets-its-key-go-on", What: "later messages of a key overtake one that is paused",
		Evidence: "filters in front of a queue: what they hold back has lost its place",
		Patches:  []Patch{{"internal/engine/topic.go", "store.Park{State: store.ParkHeld, Blocking: true, Topic: t.name", "store.Park{State: store.ParkHeld, Blocking: !t.paused, Topic: t.name"}},
		By:       sim("-faults", "scoped-holds"),
	},
	{
		Name: "pause-counts-an-attempt", What: "a message that is paused loses an attempt",
		Evidence: "queues that put a message back with its count of deliveries raised",
		Patches:  []Patch{{"internal/engine/pause.go", "			f.hold(e, f.barrier(e), now)\n", "			e.attempts++\n			f.hold(e, f.barrier(e), now)\n"}},
		By:       coreTests("internal/engine", "Pause"),
	},
	{
		Name: "destination-not-paused", What: "a pause of a destination holds nothing",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/core/pause.go", "		return f.Destination != \"\" && p.Value == f.Destination\n", "		return f.Destination == \"\" && p.Value == f.Destination\n"}},
		By:       sim("-faults", "scoped-holds"),
	},
	{
		Name: "one-pause-ends-all", What: "a message of two pauses goes when one of them ends",
		Evidence: "a flag where a count is needed",
		Patches:  []Patch{{"internal/engine/pause.go", "	f.pausing = newPausing(pauses)\n", "	if f.pausing = newPausing(pauses); len(f.pausing.reasons) < len(before.reasons) {\n		f.pausing = newPausing(nil)\n	}\n"}},
		By:       sim("-faults", "scoped-holds"),
	},
	{
		Name: "held-call-made-though-paused", What: "a call whose attempt is counted already is made although its message is paused meanwhile",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/engine/pause.go", "	f.callOff(now, func(e *entry) bool { return e != nil && f.pausing.of(e.Record) != \"\" })\n", ""}},
		By:       sim("-count-first", "-faults", "scoped-holds"),
	},
	{
		Name: "retry-goes-around-a-pause", What: "a command to retry has a paused message sent",
		Evidence: "consoles whose button for a retry knows nothing of pauses",
		Patches:  []Patch{{"internal/engine/topic.go", "	if f.pausing.of(e.Record) != \"\" {\n		return true", "	if f.pausing.of(e.Record) != \"\" && !e.retried {\n		return true"}},
		By:       sim("-faults", "scoped-holds,commands,rejects"),
	},
	{
		Name: "end-of-a-pause-noticed-late", What: "a relay learns of the end of a pause with its next regular heartbeat",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/core/pause.go", "	if !p.Until.IsZero() && !at.IsZero() {\n", "	if !p.Until.IsZero() && at.IsZero() {\n"}},
		By:       coreTests("relay", "TestAPauseHoldsWhatItNamesAndEndsByItself"),
	},
	{
		Name: "suspects-forgotten-in-a-pause", What: "a message that is to be tried alone is sent among others once a pause of it is over",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"internal/engine/topic.go", "	case e.alone:\n", "	case e.alone && false:\n"}},
		By:       coreTests("internal/engine", "TestASuspectIsTriedAloneAfterAPause"),
	},
}
