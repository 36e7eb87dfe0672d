package mutants

// Mistakes in what tells hooks.
var telling = []Mutant{
	{
		Name: "hooks-in-the-loop", What: "hooks are called where heartbeats are made, and a slow one costs the leases",
		Evidence: "callbacks in a poll loop: a Kafka consumer whose listener is slow leaves its group (max.poll.interval.ms)",
		Patches: []Patch{{
			"relay/hooks_queue.go", "if q.waiting.Load() >= mostWaiting || !q.offer(n, func() { giveAll(q, kind, to, events) }) {",
			"q.waiting.Add(n)\n	if giveAll(q, kind, to, events); false {",
		}},
		By: coreTests("relay", "TestAHookThatIsSlowerThanTheLeaseHoldsUpNothing"),
	},
	{
		Name: "panic-of-a-hook", What: "a hook that panics ends the process",
		Evidence: "callbacks without a recover",
		Patches:  []Patch{{"relay/hooks_queue.go", "v := recover()", "var v any"}},
		By:       coreTests("relay", "TestAHookThatPanicsIsSaidOnceAndCountedAndBreaksNothing"),
	},
	{
		Name: "hooks-without-a-bound", What: "events wait for a hook that hangs until memory is out",
		Evidence: "unbounded queues of spans before batch processors had a bound",
		Patches:  []Patch{{"relay/hooks_queue.go", "q.waiting.Load() >= mostWaiting || ", ""}},
		By:       coreTests("relay", "TestEventsThatWaitForHooksAreBoundedAndTheRestIsCounted"),
	},
	{
		Name: "hooks-without-a-trace-of-drops", What: "events that are dropped are counted nowhere",
		Evidence: "channels with a default branch that nobody counts",
		Patches:  []Patch{{"relay/hooks_queue.go", "func (q *hookQueue) drop(n int64) {\n	q.dropped.Add(n)\n", "func (q *hookQueue) drop(n int64) {\n	q.dropped.Add(0 * n)\n"}},
		By:       coreTests("relay", "TestEventsThatWaitForHooksAreBoundedAndTheRestIsCounted"),
	},
	{
		Name: "age-by-two-clocks", What: "the age of a message is the difference of two machines' clocks",
		Evidence: "latencies below zero on dashboards of machines whose clocks differ",
		Patches:  []Patch{{"relay/hooks_clock.go", "c.ahead = (least + most) / 2", "c.ahead = 0"}},
		By:       coreTests("relay", "TestClocksThatMayAgreeAreTakenToAgree"),
	},
}
