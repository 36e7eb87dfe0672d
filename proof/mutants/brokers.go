package mutants

// Mistakes in what is taken from applications.
var publishing = []Mutant{
	{
		Name: "text-that-databases-refuse", What: "a NUL byte in a key or a header is let through to the database",
		Evidence: "reproduced: it ends the producer's transaction, or is cut off (FAULTS D13)",
		Patches:  []Patch{{"message_rules.go", "	case strings.IndexByte(s, 0) >= 0:\n", "	case strings.IndexByte(s, 0) > len(s):\n"}},
		By:       coreTests(".", "TestPublishRefusesBeforeAnySQL"),
	},
	{
		Name: "one-key-in-two-shards", What: "two messages of one key may have two shard keys",
		Evidence: "a key that lies in two places has no order (FAULTS C8)",
		Patches:  []Patch{{"message_rules.go", "	oneShardKey(&f, msgs)\n", ""}},
		By:       coreTests(".", "TestOneKeyWithTwoShardKeys"),
	},
	{
		Name: "ordered-without-locks", What: "PublishOrdered writes without the locks of its keys",
		Evidence: "two transactions of one key commit in either order",
		Patches:  []Patch{{"publisher.go", "		if err = p.store.Lock(ctx, tx, p.options.Box, orderKeys(msgs)); err != nil {", "		if err := ctx.Err(); err != nil {"}},
		By:       coreTests(".", "TestPublishOrdered"),
	},
}

// More mistakes in the brokers' adapters, found by their tests.
var classing = []Mutant{
	{
		Name: "rabbitmq-not-mandatory", What: "RabbitMQ: messages are sent without asking for those that no queue takes",
		Evidence: "reproduced: an unroutable message is acknowledged and gone; eventuate-tram#194",
		Patches:  []Patch{{"broker/rabbitbroker/channel_session.go", "PublishWithDeferredConfirm(it.exchange, it.key, true, false,", "PublishWithDeferredConfirm(it.exchange, it.key, !true, false,"}},
		By:       tests("broker/rabbitbroker", "TestAnUnroutableMessageIsMisconfiguredThoughAcknowledged"),
	},
	{
		Name: "rabbitmq-full-queue-parks", What: "RabbitMQ: what a full queue refuses counts as rejected",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"broker/rabbitbroker/channel_session.go", "		f := adapter.TopicFailure(broker.Unavailable, \"the server refused the message (basic.nack)\",", "		f := adapter.Failure(broker.Rejected, \"the server refused the message (basic.nack)\","}},
		By:       tests("broker/rabbitbroker", "TestAFullQueueThatRefuses"),
	},
	{
		Name: "nats-any-stream-will-do", What: "NATS: messages do not name the stream that they are meant for",
		Evidence: "a subject that another stream takes over",
		Patches:  []Patch{{"broker/natsbroker/encode.go", "		h.add(headerExpectedStream, stream)\n", "		_ = stream\n"}},
		By:       tests("broker/natsbroker", "TestHeadersHoldMessageFactsAndStreamExpectations|TestAnotherStreamThanTheOneNamed"),
	},
	{
		Name: "nats-silence-taken-as-not-sent", What: "NATS: a message without an answer in time counts as not sent",
		Evidence: "time-outs taken as failures (FAULTS C2)",
		Patches:  []Patch{{"broker/natsbroker/destination.go", "c.end(adapter.NoAnswer(), adapter.NotInTime())", "c.end(adapter.NotInTime(), adapter.NotInTime())"}},
		By:       tests("broker/natsbroker", "TestADialledDestinationConforms"),
	},
	{
		Name: "redis-out-of-memory-parks", What: "Redis: what a full server refuses counts as rejected",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"broker/redisbroker/failure.go", "	\"OOM\":         {broker.Unavailable,", "	\"OOM\":         {broker.Rejected,"}},
		By:       tests("broker/redisbroker", "TestAServerThatIsOutOfMemory"),
	},
	{
		Name: "redis-lost-connection-taken-as-not-sent", What: "Redis: a connection that is lost before the answer counts as one over which nothing was sent",
		Evidence: "clients that repeat by themselves (FAULTS C2)",
		Patches:  []Patch{{"broker/redisbroker/failure.go", "		return adapter.Lost()", "		return adapter.Failure(broker.Unavailable, \"the connection was lost before the answer came\", \"send the message again\")"}},
		By:       tests("broker/redisbroker", "TestErrorsOfTheClientHaveTheirOutcome|TestADialledDestinationConforms"),
	},
	{
		Name: "kafka-other-partitioner", What: "Kafka: keys go to partitions by another hash than the Java client's",
		Evidence: "CRC32 beside murmur2: one key in two partitions (FAULTS C8)",
		Patches:  []Patch{{"broker/kafkabroker/route_partition.go", "	return int32(murmur2(key)&0x7fffffff) % n", "	return int32(murmur2(key)>>1) % n"}},
		By:       tests("broker/kafkabroker", "TestTheHashIsThatOfTheJavaClient|TestAKeyGoesToThePartitionThatTheJavaClientChooses"),
	},
	{
		Name: "kafka-missing-right-parks", What: "Kafka: a right that was taken away counts as a refusal of each message",
		Evidence: "an operator's slip dead-letters all (FAULTS C23)",
		Patches:  []Patch{{"broker/kafkabroker/failure.go", "{broker.Misconfigured, broker.ScopeTopic, \"grant this user Describe and Write", "{broker.Rejected, broker.ScopeTopic, \"grant this user Describe and Write"}},
		By:       tests("broker/kafkabroker", "TestEveryCodeOfTheProtocolHasAnOutcome"),
	},
	{
		Name: "kafka-lane-read-while-open", What: "Kafka: the record of a lane is read without a mark of its own, while a predecessor's transaction may still end",
		Evidence: "a zombie's commit after its successor has read (exactly once)",
		Patches:  []Patch{{"broker/kafkabroker/lane.go", "			if r.Offset < end && !r.Attrs.IsControl() && string(r.Key) == l.name {", "			if r.Offset < end-2 && !r.Attrs.IsControl() && string(r.Key) == l.name {"}},
		By:       tests("broker/kafkabroker", "TestALaneStoresMessagesAndItsRecordTogether"),
	},
	{
		Name: "mqtt-refusal-taken-as-accepted", What: "MQTT: an acknowledgement counts as accepted, whatever its reason code",
		Evidence: "clients of MQTT 3 know no reasons",
		Patches:  []Patch{{"broker/mqttbroker/failure.go", "	firstCodeOfFailure = 0x80\n", "	firstCodeOfFailure = 0xff\n"}},
		By:       tests("broker/mqttbroker", "TestATopicThatIsDenied|TestEveryReasonOfABroker"),
	},
	{
		Name: "webhook-redirect-taken-as-accepted", What: "webhook: a redirect counts as accepted",
		Evidence: "Standard Webhooks: only 2xx is an acknowledgement (FAULTS C28)",
		Patches:  []Patch{{"broker/webhook/failure_status.go", "	case status >= 200 && status < 300:\n", "	case status >= 200 && status < 400:\n"}},
		By:       coreTests("broker/webhook", "TestTheResponseStatusDecidesTheOutcome|TestEveryStatusHasAnOutcome"),
	},
	{
		Name: "webhook-slow-taken-as-not-sent", What: "webhook: a time-out counts as nothing sent",
		Evidence: "a 2xx after the time-out (FAULTS C28)",
		Patches:  []Patch{{"broker/webhook/failure.go", "	case p.maybeSent():\n		f.outcome, f.what", "	case p.maybeSent() && p == nil:\n		f.outcome, f.what"}},
		By:       coreTests("broker/webhook", "TestTheOutcomeDependsOnHowFarTheRequestGot|TestASlowAnswer"),
	},
	{
		Name: "webhook-private-addresses-reached", What: "webhook: a name that leads into the private network is connected to",
		Evidence: "SSRF; addresses looked at before they are resolved (FAULTS G4)",
		Patches:  []Patch{{"broker/webhook/transport_address.go", "		return checkAddr(ap.Addr(), allowed)\n", "		_ = ap\n		return nil\n"}},
		By:       coreTests("broker/webhook", "TestOnlyPublicAddresses|TestDNSRebindingReachesNoPrivateAddress|TestNoSpelling"),
	},
}
