package mutants

// Mistakes in the stores, found on real servers.
var storing = []Mutant{
	{
		Name: "postgresql-settled-without-token", What: "PostgreSQL: a settlement is judged by its version alone",
		Evidence: "unfenced done marks (pkritiotis/go-outbox)",
		Patches:  []Patch{{"store/pgstore/query/settle.sql", "  WHERE s.token = i.token AND i.token <> 0 AND (", "  WHERE i.token <> 0 AND ("}},
		By:       tests("store/pgstore", "TestConformance/(A_dead_relay|A_shard_given_back|A_lost_settlement)"),
	},
	{
		Name: "postgresql-last-seq-read-by-select", What: "PostgreSQL: the last seq is read as a column, without the page's lock",
		Evidence: "measured: 21 to 35 of a million reads up to 32 too high; 13 of 8,629 messages lost once",
		Patches:  []Patch{{"store/pgstore/query/server.sql", "SELECT coalesce(pg_sequence_last_value('postbag.{box}__seq'::regclass), (", "SELECT coalesce((SELECT last_value FROM postbag.{box}__seq), ("}},
		By:       tests("store/pgstore", "TestTheLastSeqIsNeverReadTooHigh"),
	},
	{
		Name: "postgresql-dropped-before-all-have-passed", What: "PostgreSQL: retention asks the first subscription only",
		Evidence: "partition droppers that do not look (velmie/outbox, postal#353)",
		Patches:  []Patch{{"store/pgstore/maintain_minimum.go", "		for k := range f.shards {\n			floor = min(", "		for k := range f.shards[:len(f.shards)*(1-min(i, 1))] {\n			floor = min("}},
		By:       tests("store/pgstore", "TestAPartitionIsKeptForALaggingSubscription"),
	},
	{
		Name: "postgresql-retention-by-what-is-read", What: "PostgreSQL: retention goes as far as the highest row passed, where open transactions write below",
		Evidence: "retention by insert time: rows of a long transaction are born expired (Tr3kkR/Yuzu#3924)",
		Patches:  []Patch{{"store/pgstore/maintain_minimum.go", "f.shards[k].at.Lowest())", "f.shards[k].at.Reach())"}},
		By:       tests("store/pgstore", "TestATransactionThatIsOpenLongerThanMessagesAreKeptLosesNothing"),
	},
	{
		Name: "postgresql-parked-messages-dropped", What: "PostgreSQL: a partition goes without a copy of its parked messages",
		Evidence: "state-blind cleaners (pkritiotis/go-outbox)",
		Patches: []Patch{
			{"store/pgstore/maintain_retain.go", "looked, last, err := m.copyOut(ctx, after, p.to-1)", "looked, last, err := int64(0), after, ctx.Err()"},
			{"store/pgstore/query/retain.sql", "u(id) JOIN postbag._parked p ON p.sub = u.id\n    WHERE p.seq > $2::bigint AND p.seq <= $3::bigint AND NOT", "u(id) JOIN postbag._parked p ON p.sub = u.id\n    WHERE false AND p.seq > $2::bigint AND p.seq <= $3::bigint AND NOT"},
		},
		By: tests("store/pgstore", "TestAParkedMessageOutlivesItsPartition"),
	},
	{
		Name: "postgresql-ledger-not-compared", What: "PostgreSQL: a partition goes although its ledger does not agree",
		Evidence: "a mismatch refuses and alarms",
		Patches:  []Patch{{"store/pgstore/maintain_ledger.go", "	return agree, nil", "	return agree || ctx.Err() == nil, nil"}},
		By:       tests("store/pgstore", "TestAPartitionIsKeptIfTheLedgerDiffers"),
	},
	{
		Name: "postgresql-scheduled-sent-early", What: "PostgreSQL: a scheduled message comes before it is due",
		Evidence: "schedules by another clock than the database's (FAULTS B5)",
		Patches:  []Patch{{"store/pgstore/query/maintain.sql", "  WHERE c.due <= statement_timestamp() AND", "  WHERE c.due <= statement_timestamp() + interval '1 day' AND"}},
		By:       tests("store/pgstore", "TestConformance/A_scheduled_message_(comes|is_listed)"),
	},
	{
		Name: "postgresql-lease-by-another-clock", What: "PostgreSQL: heartbeats are judged by a clock that is a day ahead",
		Evidence: "CAP#1682, oban#862, and clients' now() in claims",
		Patches:  []Patch{{"store/pgstore/query/beat.sql", "WHERE NOT e.dead AND e.expires <= clock_timestamp() FOR", "WHERE NOT e.dead AND e.expires <= clock_timestamp() + interval '1 day' FOR"}},
		By:       tests("store/pgstore", "TestConformance/(A_shard_that_a_live|A_view_shows|A_new_heartbeat)"),
	},
	{
		Name: "postgresql-taken-though-held", What: "PostgreSQL: a shard that a live relay holds is taken",
		Evidence: "UPDATE ... SET locked_by without a condition (pkritiotis/go-outbox)",
		Patches:  []Patch{{"store/pgstore/query/beat.sql", "  AND NOT EXISTS (SELECT FROM postbag._relays r WHERE r.id = s.owner AND NOT r.dead)\n  AND CASE", "  AND CASE"}},
		By:       tests("store/pgstore", "TestConformance/(A_shard_that_a_live|Of_eight_relays)"),
	},
	{
		Name: "sqlite-seq-used-again", What: "SQLite: the seq of a deleted row is given out again",
		Evidence: "rowid without AUTOINCREMENT, reproduced",
		Patches:  []Patch{{"store/sqlitestore/schema/box.sql", "	seq       INTEGER PRIMARY KEY AUTOINCREMENT,", "	seq       INTEGER PRIMARY KEY,"}},
		By:       tests("store/sqlitestore", "TestASeqIsNeverReused"),
	},
	{
		Name: "sqlite-settled-without-token", What: "SQLite: a settlement is judged by its version alone",
		Evidence: "unfenced done marks",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "SET position = ?6, version = version + 1, settled = token\nWHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND token = ?4 AND version = ?5", "SET position = ?6, version = version + 1, settled = token\nWHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND ?4 = ?4 AND version = ?5"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(A_dead_relay|A_shard_given_back|A_lost_settlement)"),
	},
	{
		Name: "mysql-open-seqs-forgotten", What: "MySQL and MariaDB: holes below the highest seq are not looked for again",
		Evidence: "reproduced: cursor at id 8, row 7 committed later, never seen; 63 to 67 % lost",
		Patches:  []Patch{{"store/mysqlstore/turn_read.go", "	open := w.from.open.from(w.swept + 1)\n	if", "	open := w.from.open.from(w.from.high + 1)\n	if"}},
		By:       tests("store/mysqlstore", "TestAProducerSlowerThanTheGracePeriodIsDelivered"),
	},
	{
		Name: "mysql-late-producer-not-repeated", What: "MySQL and MariaDB: who comes to a tombstone late gets an error",
		Evidence: "nothing can commit unseen, so the statement is repeated",
		Patches:  []Patch{{"store/mysqlstore/append.go", "codeOf(err) != codeDuplicate || n >= repeats {", "codeOf(err) != codeDuplicate || n >= 0 {"}},
		By:       tests("store/mysqlstore", "TestAProducerWhoseSeqHasATombstoneRetriesItsStatement"),
	},
	{
		Name: "mysql-no-tombstones", What: "MySQL and MariaDB: seqs that nobody will write stay open for ever",
		Evidence: "positions that grow without bound",
		Patches:  []Patch{{"store/mysqlstore/turn_tombstone.go", "	old = slices.Clone(old.minus(rangesOf(present)))\n", "	old = slices.Clone(old.minus(rangesOf(present)))[:0]\n"}},
		By:       tests("store/mysqlstore", "TestAProducerWhoseSeqHasATombstoneRetriesItsStatement/MariaDB"),
	},
}

// Mistakes in the brokers' adapters, found on real servers.
var answering = []Mutant{
	{
		Name: "rabbitmq-returned-taken-as-accepted", What: "RabbitMQ: a message that was returned and then acknowledged counts as accepted",
		Evidence: "reproduced: Return 312 and ack=true; eventuate-tram#194",
		Patches:  []Patch{{"broker/rabbitbroker/channel_session.go", "	case it.back:\n", "	case it.back && !acked:\n"}},
		By:       tests("broker/rabbitbroker", "TestAnUnroutableMessageIsMisconfiguredThoughAcknowledged"),
	},
	{
		Name: "rabbitmq-close-taken-as-refusal-of-all", What: "RabbitMQ: the end of a channel counts as a refusal of all that was in flight",
		Evidence: "reproduced: 35 of 50 reported as nacks, 25 of them in the queue",
		Patches:  []Patch{{"broker/rabbitbroker/channel_session.go", "			unanswered = append(unanswered, it)", "			it.call.answer(it, brokerkit.Result(adapter.Failure(broker.Rejected, \"the channel ended\", \"discard it\")))"}},
		By:       tests("broker/rabbitbroker", "(TestAMessageThatClosesTheChannelIsFoundAmongMany|TestATooLargeMessageAmongManyIsRejectedAlone)"),
	},
	{
		Name: "redis-smaller-id-taken-as-accepted", What: "Redis: an id that is refused as smaller counts as stored, without a look at what is stored",
		Evidence: "a refusal counts as accepted only after the id stored there was compared",
		Patches:  []Patch{{"broker/redisbroker/fence.go", "	case len(found) == 0:\n", "	case len(found) <= 1:\n		return broker.Result{Outcome: broker.Accepted, Note: \"duplicate\"}\n	case len(found) == 0:\n"}},
		By:       tests("broker/redisbroker", "(TestAMessageWhoseEntryWasDeletedIsRejected|TestAnotherMessageUnderTheSameIDIsRejected)"),
	},
	{
		Name: "nats-refusal-taken-as-acknowledgement", What: "NATS: an answer that names the stream counts as an acknowledgement, whatever else it says",
		Evidence: "reproduced: refusals name the stream too",
		Patches:  []Patch{{"broker/natsbroker/reply_ack.go", "	case ack.Error != nil:\n		return answer{kind: refused, err: ack.Error}\n	case ack.Stream == \"\" || ack.Seq == 0:", "	case ack.Error != nil && ack.Stream == \"\":\n		return answer{kind: refused, err: ack.Error}\n	case ack.Stream == \"\":"}},
		By:       tests("broker/natsbroker", "(TestAnErrorReplyThatNamesTheStreamIsNotAnAcknowledgement|TestRefusalsOfARealStream)"),
	},
	{
		Name: "nats-any-answer-is-an-acknowledgement", What: "NATS: an answer of an ordinary subscriber counts as the stream's",
		Evidence: "nats.go#1461; reproduced: a plain subscriber on the subject answers first",
		Patches:  []Patch{{"broker/natsbroker/reply_ack.go", "	case err != nil:\n		return answer{}\n", "	case err != nil:\n		return answer{kind: acknowledged}\n"}},
		By:       tests("broker/natsbroker", "(TestAReplyOfAnotherSubscriberIsNotAnAcknowledgement|TestAcknowledgementsAndErrorsAreParsed)"),
	},
	{
		Name: "kafka-batch-sent-again-out-of-order", What: "Kafka: a refused batch is sent again backwards",
		Evidence: "one bad record refuses its whole batch; order is made again when it is sent again",
		Patches:  []Patch{{"broker/kafkabroker/call_job.go", "			again = append(again, failed...)", "			for _, it := range failed {\n				again = append([]*item{it}, again...)\n			}"}},
		By:       tests("broker/kafkabroker", "TestABatchThatIsRefusedIsSentAgainOneByOneInOrder"),
	},
	{
		Name: "kafka-key-goes-on-behind-a-failure", What: "Kafka: what comes behind a message that was not accepted is sent nevertheless",
		Evidence: "pipelined publishing and one rejection: 28 % of modelled runs invert",
		Patches:  []Patch{{"broker/kafkabroker/call_job.go", "	if it.key != \"\" && j.keys[it.key] {", "	if it.key != \"\" && j.keys[it.key] && j == nil {"}},
		By:       tests("broker/kafkabroker", "TestABatchThatIsRefusedIsSentAgainOneByOneInOrder"),
	},
}
