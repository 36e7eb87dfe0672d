package mutants

// Mistakes in deciding what to send, and in taking answers.
var sending = []Mutant{
	{
		Name: "acknowledged-before-answered", What: "a message counts as done once it is sent",
		Evidence: "fire-and-forget writers (segmentio's Async, runmq/queue#28); 59 % of modelled runs lose",
		Patches:  []Patch{{"internal/engine/call_send.go", "	f.watch(now + f.cfg.SlowAfter)\n	return c\n", "	for i, e := range c.entries {\n		c.entries[i] = nil\n		f.answered(e, &Answer{Outcome: 1}, false, now)\n		f.resume(e, now)\n	}\n	f.watch(now + f.cfg.SlowAfter)\n	return c\n"}},
		By:       sim(), Quick: true,
	},
	{
		Name: "position-passes-what-is-out", What: "what is being sent is passed by the position",
		Evidence: "auto-commit of consumer positions; DESIGN: settle after the answer",
		Patches:  []Patch{{"internal/engine/entry_life.go", "return e.state >= slow }", "return e.state >= sent }"}},
		By:       sim(),
	},
	{
		Name: "unknown-taken-as-done", What: "a lost answer counts as an acknowledgement",
		Evidence: "franz-go#1217: success and offset for records not in the log",
		Patches:  []Patch{{"internal/engine/call_answer.go", "		f.lost(e, *a, alone, now)", "		f.deliver(e, now)"}},
		By:       sim(), Quick: true,
	},
	{
		Name: "unknown-taken-as-failed", What: "a lost answer counts as a failed attempt",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"internal/engine/call_answer.go", "		f.lost(e, *a, alone, now)", "		e.attempts++\n		f.reject(e, *a, now)"}},
		By:       sim(),
	},
	{
		Name: "attempts-burned-by-outage", What: "an unavailable destination costs an attempt",
		Evidence: "Agendia#322",
		Patches:  []Patch{{"internal/engine/call_answer.go", "	case broker.Misconfigured, broker.Unavailable, broker.NotSent:\n		f.postpone(e, *a, now)", "	case broker.Misconfigured, broker.Unavailable, broker.NotSent:\n		e.attempts++\n		f.reject(e, *a, now)"}},
		By:       sim(),
	},
	{
		Name: "not-sent-taken-as-rejected", What: "what was held back, or lost with the connection, counts as rejected",
		Evidence: "RabbitMQ: one oversize message in 50 had 35 reported as nacks, 25 of which were in the queue",
		Patches:  []Patch{{"internal/engine/call_answer.go", "	case broker.Misconfigured, broker.Unavailable, broker.NotSent:\n", "	case broker.NotSent:\n		e.attempts++\n		f.reject(e, *a, now)\n	case broker.Misconfigured, broker.Unavailable:\n"}},
		By:       sim(),
	},
	{
		Name: "unknown-never-sent-again", What: "a message whose answer was lost waits for it for ever",
		Evidence: "RabbitMQ clients waiting for confirms of a dead channel (amqp091-go#10)",
		Patches:  []Patch{{"internal/engine/call_answer.go", "		f.lost(e, *a, alone, now)", "		f.suspect(e, alone)"}},
		By:       sim(),
	},
	{
		Name: "next-of-a-key-before-the-answer", What: "a message is sent while the one before it in its key is out",
		Evidence: "asynchronous publishing that retries one of several (nats.go#1464); 28 % of modelled runs invert",
		Patches:  []Patch{{"internal/engine/turn_absorb.go", "		if c.head == e && c.out == 0 && c.gate == 0 {", "		if c.head == e || c.out > 0 {"}},
		By:       sim(), Quick: true,
	},
	{
		Name: "several-of-a-key-in-a-call", What: "several of a key ride in one call to a destination that keeps no order",
		Evidence: "pipelined publishing and one rejection: 28 % of modelled runs invert",
		Patches:  []Patch{{"internal/engine/call_send.go", "if !b.f.cfg.Ordered || next == nil", "if next == nil"}},
		By:       sim(),
	},
	{
		Name: "window-without-bound", What: "more is sent and not settled than InFlight allows",
		Evidence: "batches that are marked at their end repeat all of it after a crash (FAULTS C1)",
		Patches:  []Patch{{"internal/engine/call_send.go", "return e.counted() || b.f.out+b.reserve < b.f.places()", "return true"}},
		By:       sim(),
	},
	{
		Name: "buffer-never-emptied", What: "what was delivered counts in the buffer for ever",
		Evidence: "a relay that was killed for its memory, 1,051 MiB for 1,000 messages of 1 MiB: the bound must not be a stop instead",
		Patches:  []Patch{{"internal/engine/load.go", "	f.loadOf(e).held -= e.size\n", ""}},
		By:       sim(),
	},
	{
		Name: "buffer-without-bound", What: "what is read and not sent is bounded by count alone",
		Evidence: "1,000 messages of 1 MiB before a webhook of 0.5 s take 1,051 MiB, 200 of 16 MiB 3,288 MiB",
		Patches:  []Patch{{"internal/engine/load.go", "	return max(min(left, page), 1)", "	return page"}, {"internal/engine/load.go", "		return 0", "		return page"}},
		By:       sim(),
	},
	{
		Name: "large-message-waits-for-ever", What: "a message larger than the buffer is never read",
		Evidence: "the bound must not be a stop: one message always goes",
		Patches:  []Patch{{"internal/engine/load.go", "	if l.held+coming > 0 && left", "	if left"}, {"internal/engine/load.go", "	return max(min(left, page), 1)", "	return max(min(left-1, page), 0)"}},
		By:       sim(),
	},
	{
		Name: "circuit-opens-on-rejection", What: "a rejected message closes the destination for all",
		Evidence: "MassTransit#6216: one bad message stops all",
		Patches:  []Patch{{"internal/engine/call_circuit.go", "	case a.Outcome == broker.Accepted, a.Outcome == broker.Rejected:\n		t.works++", "	case a.Outcome == broker.Accepted:\n		t.works++\n	case a.Outcome == broker.Rejected:\n		t.down++"}},
		By:       coreTests("internal/engine", "."),
	},
	{
		Name: "circuit-stays-open", What: "a destination that works again is never tried",
		Evidence: "River#1077, oban#1488: leaders that never heal",
		Patches:  []Patch{{"internal/engine/call_circuit.go", "	if !f.mayCheck(now) || now < c.until {", "	if !f.mayCheck(now) || now < c.until || c.failures > 1 {"}},
		By:       sim(),
	},
}

// Mistakes in when something is done.
var timing = []Mutant{
	{
		Name: "sent-after-its-lease", What: "a relay goes on sending when its lease is over by its own clock",
		Evidence: "leases that are renewed by a timer and looked at by nobody (golang/go#24595; CAP#1682)",
		Patches:  []Patch{{"internal/engine/call_send.go", "	if f.paused || now >= f.expires {\n		return nil\n	}\n	f.expireOld", "	if f.paused {\n		return nil\n	}\n	f.expireOld"}},
		By:       coreTests("internal/engine", "."),
	},
	{
		Name: "read-only-when-woken", What: "a flow that found nothing reads again only when somebody wakes it",
		Evidence: "LISTEN without polling: notifications are lost when a connection is (FAULTS A12)",
		Patches:  []Patch{{"internal/engine/group.go", "		l.nextPoll = now + f.pollAfter(now-l.found)", "		l.nextPoll = now + 24*time.Hour"}},
		By:       sim(),
	},
	{
		Name: "idle-flow-polls-without-a-rest", What: "a flow that finds nothing looks ten times a second for ever",
		Evidence: "relays that poll an empty table all night (xilapa's pattern: no needless query)",
		Patches:  []Patch{{"internal/engine/group.go", "		l.nextPoll = now + f.pollAfter(now-l.found)", "		l.nextPoll = now + min(f.pollAfter(now-l.found), 100*time.Millisecond)"}},
		By:       sim("-mode", "liveness"),
	},
	{
		Name: "woken-without-end", What: "a flow that is woken without end reads without end",
		Evidence: "a hint that anybody may give, as often as they like (found in this project: 10,000 turns a second)",
		Patches:  []Patch{{"internal/engine/group.go", "	if l.vain == vainHints {", "	if false {"}},
		By:       coreTests("internal/engine", "."),
	},
	{
		Name: "slow-destination-holds-up-all", What: "calls that are late take the places of others",
		Evidence: "one pool of workers for all (FAULTS C29)",
		Patches:  []Patch{{"internal/engine/call_send.go", "	return len(f.calls)-slow < f.cfg.Calls && slow <= f.cfg.Calls", "	return len(f.calls) < f.cfg.Calls"}},
		By:       coreTests("internal/engine", "."),
	},
}

// Mistakes in the parking lot.
var parking = []Mutant{
	{
		Name: "parked-and-gone-on", What: "under block a key goes on behind a parked message",
		Evidence: "retry topics; 38 % of modelled runs invert",
		Patches:  []Patch{{"internal/engine/retry.go", "Blocking: f.cfg.OnReject == Block}", "Blocking: false}"}},
		By:       sim(),
	},
	{
		Name: "blocked-key-forgotten-after-takeover", What: "who takes a shard over does not know its blocked keys",
		Evidence: "in-memory block lists; oagudo/outbox reschedules and goes on",
		Patches:  []Patch{{"internal/engine/shard.go", "	for _, h := range blocked.Keys {\n		f.stored(s, h)\n	}", "	for _, h := range blocked.Keys {\n		if h == strictHash {\n			f.stored(s, h)\n		}\n	}"}},
		By:       sim(),
	},
	{
		Name: "blocked-key-forgotten-before-its-row-is-stored", What: "a key is blocked only once its row is settled",
		Evidence: "the picture of blocked keys must be a superset of the truth",
		Patches:  []Patch{{"internal/engine/entry_chain.go", "return c.stored || c.unsettled > 0 ||", "return c.stored ||"}},
		By:       sim(),
	},
	{
		Name: "blocked-key-forgotten-once-its-row-is-stored", What: "a key is blocked only until its row is settled",
		Evidence: "MQDBOutbox.tla: an index that is reset after a partial failure",
		Patches:  []Patch{{"internal/engine/entry_chain.go", "return c.stored || c.unsettled > 0 ||", "return c.unsettled > 0 ||"}},
		By:       sim(),
	},
	{
		Name: "key-freed-by-its-first-accepted", What: "the first parked message that gets through frees its key, though more wait",
		Evidence: "released lock of a key with rows left",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "	for _, h := range v.Cleared {", "	for _, r := range t.Resolve {\n		f.cleared(s, r.Hash)\n	}\n	for _, h := range v.Cleared {"}},
		By:       sim(),
	},
	{
		Name: "parked-row-deleted-before-delivery", What: "a parked row goes when its message is sent, not when it is accepted",
		Evidence: "destructive reads of retry tables",
		Patches:  []Patch{{"internal/engine/lot_due.go", "	f.hand[e.Seq] = e\n	f.mayTry(e)\n	c := f.chainOf", "	f.hand[e.Seq] = e\n	f.mayTry(e)\n	f.draftEnd(s, &e.Message, m.Key, 1)\n	c := f.chainOf"}},
		By:       sim(),
	},
	{
		Name: "waiting-row-not-parked", What: "what is read behind a parked message of its key is passed and not parked",
		Evidence: "skipped while blocked, and the position moves",
		Patches:  []Patch{{"internal/engine/turn_absorb.go", "		f.parkInWindow(e, store.Park{State: store.ParkBlocked, Blocking: true}, now)\n	default:", "		f.finish(onDone, e, store.TallyDelivered, now)\n	default:"}},
		By:       sim(),
	},
	{
		Name: "banked-row-not-parked", What: "what was queued behind a message when it was parked is passed and not parked",
		Evidence: "as before",
		Patches:  []Patch{{"internal/engine/lot_park.go", "			f.parkInWindow(e, store.Park{State: store.ParkBlocked, Blocking: true}, now)", "			f.finish(onDone, e, store.TallyDelivered, now)"}},
		By:       sim(),
	},
	{
		Name: "dead-message-dropped", What: "after its last attempt a message is dropped, not kept as dead",
		Evidence: "oagudo/outbox deletes the row and offers it to a full channel",
		Patches:  []Patch{{"internal/engine/retry.go", "	case last:\n		f.kill(e, store.CauseAttempts, a.Reason, now)\n", "	case last:\n		f.deliver(e, now)\n"}},
		By:       sim(),
	},
	{
		Name: "an-hour-taken-for-a-pause", What: "after a request that brought nothing, the next due time is taken for a pause, and what is due before it waits",
		Evidence: "a retry of hundreds of dead messages of which few were sent for minutes: another message was due in half an hour",
		Patches:  []Patch{{"internal/engine/lot_due.go", "			p.empty, p.round = 0, 0\n		}\n	}\n}", "		}\n	}\n}"}},
		By:       coreTests("internal/engine", "TestAMessageThatIsDueNowIsAskedForAlthoughTheOnesBeforeItWereNot"),
	},
	{
		Name: "parked-never-tried-again", What: "parked messages are not looked for",
		Evidence: "GoWDK#197, openlinker#2164: pending entries that nobody claims",
		Patches:  []Patch{{"internal/engine/lot_due.go", "	return f.due.known && f.canAsk()", "	return f.due.known && f.due.asking && f.canAsk()"}},
		By:       sim(),
	},
	{
		Name: "late-answer-frees-its-key", What: "a slow message, parked as in flight, does not block its key",
		Evidence: "time-out taken as an end: first occurrences invert",
		Patches:  []Patch{{"internal/engine/call_slow.go", "f.parkInWindowAs(onSlow, e, store.Park{State: store.ParkInFlight, Blocking: true}, now)", "f.parkInWindowAs(onSlow, e, store.Park{State: store.ParkInFlight}, now)"}},
		By:       sim(),
	},
	{
		Name: "row-tried-while-its-end-is-unsettled", What: "a parked row is read and sent again while the settlement that removes it is under way",
		Evidence: "a second read of a row whose change is not committed",
		Patches:  []Patch{{"internal/engine/lot_due.go", "if _, changing := s.changing[m.Park.Seq]; changing || f.hand[m.Park.Seq] != nil {", "if f.hand[m.Park.Seq] != nil {"}},
		By:       sim(),
	},
	{
		Name: "discard-races-a-delivery", What: "an operator's discard is carried out while the message's answer is out",
		Evidence: "consoles that delete rows beside the worker (sidekiq, oban)",
		Patches:  []Patch{{"internal/engine/lot_command.go", " || f.flying(seq) {", " {"}},
		By:       sim(),
	},
}

// Mistakes in settling.
var settling = []Mutant{
	{
		Name: "position-beyond-unresolved", What: "the position goes to the end of a page although its middle is not resolved",
		Evidence: "highest acknowledged offset committed",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "		if p.head < len(p.entries) {\n			return\n		}", "		if p.head < len(p.entries) && p.head == 0 {\n			return\n		}"}},
		By:       sim(),
	},
	{
		Name: "refusal-taken-as-applied", What: "a refused settlement counts as done, and the relay goes on",
		Evidence: "update without a look at the rows affected (pkritiotis/go-outbox)",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "	if !v.Applied {", "	if !v.Applied && s.lost {"}},
		// A heartbeat follows at once and takes the shards away, so that the simulator sees it in one of thousands of runs.
		By: coreTests("internal/engine", "TestARefusedSettlement"),
	},
	{
		Name: "parks-without-position", What: "parked rows ride in the settlement after the one that passes them",
		Evidence: "settle split in two transactions",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "		Park: d.park, Resolve: d.resolve, Tally: d.tally, Done: d.done,", "		Park: d.park[:len(d.park)/2], Resolve: d.resolve, Tally: d.tally, Done: d.done,"}},
		By:       sim(),
	},
	{
		Name: "filtered-counted-as-delivered", What: "the ledger counts what a filter refused as delivered",
		Evidence: "sums that agree and say nothing",
		Patches:  []Patch{{"internal/engine/turn_absorb.go", "		f.finish(onDone, e, store.TallyFiltered, now)", "		f.finish(onDone, e, store.TallyDelivered, now)"}},
		By:       sim(),
	},
}

// Mistakes in owning shards.
var owning = []Mutant{
	{
		Name: "handed-over-before-the-answers", What: "a shard is given back while messages of it are out",
		Evidence: "rolling restarts that repeat (FAULTS F1)",
		Patches:  []Patch{{"internal/engine/shard_leave.go", "			if e != nil && e.shard == s {\n				return false", "			if e != nil && e.shard == s && e.shard.lost {\n				return false"}},
		By:       sim(),
	},
	{
		Name: "handed-over-before-it-is-settled", What: "a shard is given back before its last settlement",
		Evidence: "as before",
		Patches:  []Patch{{"internal/engine/shard_leave.go", "!v.passed || s.unsettled() || s.settled != v.to {", "!v.passed {"}},
		By:       sim(),
	},
	{
		Name: "lost-shard-goes-on", What: "answers and queues of a shard that was lost still count",
		Evidence: "past leaders that think they keep winning (River)",
		Patches:  []Patch{{"internal/engine/call_answer.go", "	if e.shard.lost {\n		return\n	}\n	if e.chain", "	if e.chain"}},
		By:       sim(),
	},
	{
		Name: "reshaped-with-messages-in-hand", What: "shards are split while their windows hold messages",
		Evidence: "repartitioning under load (FAULTS C8)",
		Patches:  []Patch{{"internal/engine/flow.go", "	if !l.empty() || l.unsettled() {\n		return false\n	}", ""}},
		By:       sim(),
	},
	{
		Name: "groups-joined-apart", What: "shards at different positions are read as one",
		Evidence: "merging needs equal positions",
		Patches:  []Patch{{"internal/engine/group_meet.go", "if l.read != first.read || !l.empty()", "if !l.empty()"}},
		By:       sim(),
	},
	{
		Name: "never-taken-over", What: "the shards of a dead relay are taken by nobody",
		Evidence: "wolverine#3954: nine days of silent backlog",
		Patches:  []Patch{{"internal/engine/shard_share.go", "	return free[:min(quota-len(mine), len(free))], nil, expect", "	return free[:min(quota-len(mine), len(free))/2], nil, expect"}},
		By:       sim(),
	},
}
