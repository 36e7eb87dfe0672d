package mutants

// Mistakes in finding what was committed, in PostgreSQL's arithmetic of positions.
var finding = []Mutant{
	{
		Name: "emptied-log-read-on", What: "a log that was emptied and numbered from 1 again is read on from the old position",
		Evidence: "seen on Postbag: 10 to 50 rows lost after TRUNCATE ... RESTART IDENTITY",
		Patches:  []Patch{{"proof/simulation/relay_turn.go", "if w.server.renumbered(q, &c.r.view) {", "if w.server.renumbered(q, &c.r.view) && w.now < 0 {"}},
		By:       sim("-faults", "emptied"), Quick: true,
	},
	{
		Name: "emptied-log-bound-kept", What: "positions of a log that was emptied keep the bound below which they look for nothing",
		Evidence: "a sequence set back: new rows lie below what a position says is passed",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	out.Life, out.Done = least.Life, &Snapshot{XMax: least.Done.XMax}", "	out.Life, out.Done = least.Life, &Snapshot{XMax: least.Done.XMax, Beyond: least.Done.Beyond}"}},
		By:       sim("-faults", "emptied", "-store", "snapshots"),
	},
	{
		Name: "seq-is-the-cursor", What: "a window begins at the highest seq that was seen",
		Evidence: "watermill#311, SQLStreamStore#121; measured: 23 to 26 % lost",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	p.To, p.Top = &to, top\n	return from", "	p.To, p.Top = &to, top\n	return max(from, p.High)"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "bound-read-before-the-snapshot", What: "the low bound of new transactions is the last seq that was read at the snapshot",
		Evidence: "measured: 0.8 to 1.4 % lost",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	known.Raise(&to, p)\n", "	known.Raise(&to, p)\n	to.Beyond = max(to.Beyond, top)\n"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "bound-of-a-settlement-that-hit-no-row", What: "a settlement that was refused, and so took no id, gives a bound",
		Evidence: "S counts only if the update hit its row",
		Patches:  []Patch{{"proof/simulation/relay_turn.go", "ok && c.hit() {", "ok {"}, {"proof/simulation/relay_turn.go", "			v.bounds.Add(c.tx.xid, c.last)", "			if !c.hit() {\n				c.tx.xid = 1\n			}\n			v.bounds.Add(c.tx.xid, c.last)"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "bound-of-a-later-settlement", What: "a running transaction gets the bound of a settlement that began after it",
		Evidence: "a pair holds for ids above its own only",
		Patches:  []Patch{{"store/sqlkit/snapshots/bounds.go", "	if i == 0 {\n		return 0\n	}\n	return b.pairs[i-1].s", "	if i < len(b.pairs) {\n		i++\n	}\n	if i == 0 {\n		return 0\n	}\n	return b.pairs[i-1].s"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "late-rows-forgotten", What: "the end of a window forgets the transactions that ran in its snapshot",
		Evidence: "a high-water mark of ids",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "return Position{Life: p.Life, Done: p.To,", "return Position{Life: p.Life, Done: &Snapshot{XMax: p.To.XMax, Beyond: p.To.Beyond},"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "late-rows-above-the-bound-only", What: "a window begins at the bound of new transactions, not at those of the ones that ended late",
		Evidence: "as the cursor, for rows that commit late",
		Patches:  []Patch{{"store/sqlkit/snapshots/snapshot.go", "		if r.Low < low && t.Sees(r.XID) {", "		if r.Low < low && !t.Sees(r.XID) {"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "waits-for-the-oldest", What: "nothing is read that is newer than the oldest transaction that runs",
		Evidence: "the xmin cursor: one writer in another database stalls all (watermill-sql, nisshi#713)",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	known.Raise(&to, p)\n", "	if len(to.Running) > 0 {\n		to.XMax, to.Running = to.Running[0].XID, nil\n	}\n	known.Raise(&to, p)\n"}},
		By:       tests("store/pgstore", "TestConformance/Another_program.s_open_transaction"),
	},
	{
		Name: "running-transactions-dropped-from-a-long-position", What: "a position with too many running transactions forgets some",
		Evidence: "bounds may be lowered, ids never dropped",
		Patches:  []Patch{{"store/sqlkit/snapshots/codec.go", "	b = binary.AppendUvarint(b, uint64(len(s.Running)))\n	next := s.XMax\n	for _, r := range slices.Backward(s.Running) {\n		b = binary.AppendUvarint(b, next-1-r.XID)", "	s = &Snapshot{XMax: s.XMax, Beyond: s.Beyond, Running: s.Running[:min(len(s.Running), 2)]}\n	b = binary.AppendUvarint(b, uint64(len(s.Running)))\n	next := s.XMax\n	for _, r := range slices.Backward(s.Running) {\n		b = binary.AppendUvarint(b, next-1-r.XID)"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "snapshot-kept-over-a-crash", What: "a position that was read before the server crashed is settled after it",
		Evidence: "measured: ids 726 and 727 were given out again and their rows skipped",
		Patches:  []Patch{{"proof/simulation/server.go", "	if !bound || life == s.life {", "	if !bound || life <= s.life {"}},
		By:       sim("-store", "snapshots"),
	},
}

// Designs that Postbag is not, as its store: what the simulator is for.
var naive = []Mutant{
	{
		Name: "time-is-the-cursor", What: "a read goes on from the time of the last one, and a row has that of its transaction's start",
		Evidence: "Aiven-Open/jdbc-connector#54; measured: 29 % lost",
		Patches:  []Patch{{"proof/simulation/server_log_snapshot.go", "	return m.xid >= p.Done.XMax && m.seq > p.Done.Beyond || runs(p.Done, m.xid) && !p.Passed(m.xid, m.seq)", "	return m.xid >= p.Done.XMax"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "gap-skipped-after-a-time-out", What: "a seq that is missing for a while counts as rolled back, without proof",
		Evidence: "Eventuous#424 skips after 5 s; tw-tkms#69",
		Patches:  []Patch{{"proof/simulation/server_log_range.go", "	if l.at(m.seq) == tombstone {\n		return false\n	}\n", "	if l.at(m.seq) == tombstone {\n		return true\n	}\n"}},
		By:       sim("-store", "ranges"),
	},
	{
		Name: "open-seqs-read-before-the-page", What: "what was open is looked for before the page is read",
		Evidence: "a second message of a key is on the page, its first came in between",
		Patches: []Patch{
			{"proof/simulation/server_log_range.go", "		r.asked = true\n		r.readPage()\n		return false\n	}\n	r.readOpen()\n	return true", "		r.asked = true\n		r.looked = slices.DeleteFunc(slices.Clone(r.from.open), func(seq int64) bool { return r.l.at(seq) == nil || r.l.at(seq).state != committed })\n		return false\n	}\n	r.readPage()\n	r.readOpen()\n	return true"},
			{"proof/simulation/server_log_range.go", "	more        bool\n	asked       bool", "	more        bool\n	looked      []int64\n	asked       bool"},
			{"proof/simulation/server_log_range.go", "	for i, seq := range r.from.open {\n		m := r.l.at(seq)\n		if m == nil", "	for i, seq := range r.from.open {\n		m := r.l.at(seq)\n		if !contains(r.looked, seq) || m == nil"},
		},
		By: sim("-store", "ranges"),
	},
	{
		Name: "settled-without-token", What: "a settlement is carried out no matter who sends it",
		Evidence: "unfenced done marks (pkritiotis/go-outbox)",
		Patches:  []Patch{{"proof/simulation/server.go", "	case sh == nil || sh.token != t.Token:", "	case sh == nil:"}, {"proof/simulation/server.go", "	case sh.version != t.Version:\n		return store.Verdict{}\n", ""}},
		By:       sim(),
	},
	{
		Name: "settled-without-version", What: "a settlement is judged by its token alone, so that a late copy is applied again",
		Evidence: "a repeat after a lost answer",
		Patches:  []Patch{{"proof/simulation/server.go", "	case sh.settledUnder == t.Token && sh.version == t.Version+1: // a repeat\n		return store.Verdict{Applied: true, Cleared: s.cleared(sh, t), Waiting: s.waitingOf(sh, t)}\n	case sh.version != t.Version:\n		return store.Verdict{}\n", ""}},
		By:       sim(),
	},
	{
		Name: "call-sent-again-backwards", What: "a client that keeps order within a call sends the call again backwards when its connection is back",
		Evidence: "buffers of clients that are emptied from their end; retries that overtake each other (nats.go#1464)",
		Patches: []Patch{
			{"proof/simulation/relay_publishing.go", "	repeats      bool  // it is to be sent again, under Sequences", "	repeats      bool  // it is to be sent again, under Sequences\n	backwards    bool"},
			{"proof/simulation/broker_keeping.go", "	d.repeats = false\n", "	d.repeats, d.backwards = false, true\n"},
			{"proof/simulation/broker.go", "	for i, item := range d.call.Items {\n		m := b.w.message(item.Record)\n		b.checkAttempt(item)", "	for i := range d.call.Items {\n		if d.backwards {\n			i = len(d.call.Items) - 1 - i\n		}\n		item := d.call.Items[i]\n		m := b.w.message(item.Record)\n		b.checkAttempt(item)"},
		},
		By: sim(),
	},
}
