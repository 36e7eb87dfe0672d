package mutants

// What adapters must see to besides sending.
var adapting = []Mutant{
	{
		Name: "kafka-failed-producer-used-again", What: "Kafka: a producer that failed for good is used for the next call",
		Evidence: "librdkafka#3584, kafkajs#598: fatal producers that stay fatal (FAULTS C5)",
		Patches:  []Patch{{"broker/kafkabroker/call_job.go", "	if !healthy {\n		j.d.pool.drop(p)\n", "	if !healthy {\n		j.d.pool.give(p)\n"}},
		By:       tests("broker/kafkabroker", "TestAProducerThatFailedForGood"),
	},
	{
		Name: "kafka-missing-topic-parks", What: "Kafka: a topic that is not there counts as a refusal of each message",
		Evidence: "connect#4645, KAFKA-19234: an operator's slip dead-letters all (FAULTS C23, C24)",
		Patches:  []Patch{{"broker/kafkabroker/failure.go", "{broker.Misconfigured, broker.ScopeTopic, \"create the topic,", "{broker.Rejected, broker.ScopeTopic, \"create the topic,"}},
		By:       tests("broker/kafkabroker", "TestAMissingTopic|TestEveryCodeOfTheProtocol"),
	},
	{
		Name: "kafka-probe-wants-what-is-to-be-created", What: "Kafka: while nothing is sent, a topic that the next message creates counts as an outage",
		Evidence: "circuit breakers whose probe asks for more than a send needs: what was deleted meanwhile is never made (FAULTS C23)",
		Patches:  []Patch{{"broker/kafkabroker/probe.go", "	case f != nil && s.create != nil && isMissing(f):", "	case f != nil && s.create != nil && isMissing(f) && ctx == nil:"}},
		By:       tests("broker/kafkabroker", "TestAProbeAcceptsADeletedTopicThatTheNextMessageCreates"),
	},
	{
		Name: "kafka-weak-topic-not-told", What: "Kafka: a topic that one broker alone may acknowledge is graded as safe",
		Evidence: "acks=all with min.insync.replicas=1: a leader that dies takes messages along (FAULTS C6, C7)",
		Patches:  []Patch{{"broker/kafkabroker/durability.go", "	case g.MinInSync < 2:\n", "	case g.MinInSync < 0:\n"}},
		By:       tests("broker/kafkabroker", "TestDurabilityOfATopicFollowsItsSettings"),
	},
	{
		Name: "rabbitmq-transient-messages", What: "RabbitMQ: messages are sent as ones that need not outlive a restart",
		Evidence: "delivery_mode 1, the clients' default (FAULTS C12)",
		Patches:  []Patch{{"broker/rabbitbroker/encode.go", "DeliveryMode: amqp.Persistent, MessageId: id, Body: m.Payload,", "DeliveryMode: amqp.Transient, MessageId: id, Body: m.Payload,"}},
		By:       tests("broker/rabbitbroker", "TestAConsumerGetsTheMessage|TestAServerThatIsKilledFrozenOrBlocksPublishers"),
	},
	{
		Name: "rabbitmq-topology-declared-once", What: "RabbitMQ: an exchange of the topology that is gone is not declared again",
		Evidence: "topology that is declared at start alone: a deleted exchange needs a restart (FAULTS C23)",
		Patches:  []Patch{{"broker/rabbitbroker/connection_link.go", "	if k.topology.empty() {\n", "	if !k.topology.empty() || k.topology.empty() {\n"}},
		By:       tests("broker/rabbitbroker", "TestADeletedExchangeOfTheTopologyIsDeclaredAgain"),
	},
	{
		Name: "rabbitmq-blocked-not-heeded", What: "RabbitMQ: that the server blocks publishers is not heeded",
		Evidence: "amqp091-go#111, streadway#254: publishes that hang (FAULTS C13)",
		Patches:  []Patch{{"broker/rabbitbroker/connection_link.go", "			case b.Active:\n", "			case b.Active && line == nil:\n"}},
		By:       tests("broker/rabbitbroker", "TestAServerThatIsKilledFrozenOrBlocksPublishers"),
	},
	{
		Name: "rabbitmq-long-keys-sent", What: "RabbitMQ: routing keys that AMQP cannot carry are left to the client",
		Evidence: "reproduced: an error of the client for 300 bytes (FAULTS C10)",
		Patches:  []Patch{{"broker/rabbitbroker/route.go", "	case len(key) > maxShort:\n", "	case len(key) > maxShort<<10:\n"}},
		By:       tests("broker/rabbitbroker", "TestAMessageThatAMQPCannotCarryIsRejectedBeforeSending"),
	},
	{
		Name: "rabbitmq-certificate-not-verified", What: "RabbitMQ: any certificate of the server will do",
		Evidence: "InsecureSkipVerify (FAULTS G10)",
		Patches:  []Patch{{"broker/rabbitbroker/connection.go", "	if config := brokerkit.ClientTLS(k.login.TLS, h.tls, h.name); config != nil {\n", "	if config := brokerkit.ClientTLS(k.login.TLS, h.tls, h.name); config != nil {\n		config.InsecureSkipVerify = true\n"}},
		By:       tests("broker/rabbitbroker", "TestTLSIsVerified"),
	},
	{
		Name: "stream-position-of-what-was-delivered", What: "RabbitMQ: the position of a stream that is kept is behind what was handed out, acked or not",
		Evidence: "offsets that are committed before their effects",
		Patches:  []Patch{{"broker/rabbitbroker/stream_position.go", "	dirty, at := t.dirty, t.at\n", "	dirty, at := t.dirty, t.at\n	if n := len(t.sums); n > 0 {\n		next := t.sums[n-1].offset + 1\n		at = position{Next: &next, Seen: t.sums[n-1].offset, Sum: t.sums[n-1].sum}\n	}\n"}},
		By:       tests("broker/rabbitbroker", "TestAGroupThatBeginsWithWhatComesNextMissesNothingBetweenItsMembers"),
	},
	{
		Name: "stream-lock-not-taken", What: "RabbitMQ: each member of a group reads its stream, and none stands by",
		Evidence: "consumers of a stream without a single active one",
		Patches:  []Patch{{"broker/rabbitbroker/stream_reader.go", "		taken, again, err := t.tryLock()\n", "		taken, again, err := true, lockPause, ctx.Err()\n"}},
		By:       tests("broker/rabbitbroker", "TestAnotherMemberOfAStreamStandsByAndTakesOverBehindWhatIsAcked"),
	},
	{
		Name: "nats-without-message-ids", What: "NATS: messages do not carry the id by which a stream knows repeats",
		Evidence: "the dedupe window, unused (FAULTS C18)",
		Patches:  []Patch{{"broker/natsbroker/encode.go", "	h.add(headerMsgID, msgID)\n", "	_, _ = headerMsgID, msgID\n"}},
		By:       tests("broker/natsbroker", "TestHeadersHoldMessageFactsAndStreamExpectations|TestARepeatWithinTheWindow"),
	},
	{
		Name: "nats-one-id-for-two-subscriptions", What: "NATS: a message has one id for a stream, wherever it goes",
		Evidence: "reproduced: of two subscriptions into one stream the second was dropped",
		Patches:  []Patch{{"broker/natsbroker/encode_msgid.go", "	b = append(append(b, ':'), d.digest[:]...)\n", "	b = append(b, ':')\n"}},
		By:       tests("broker/natsbroker", "TestTheNatsMsgIdDependsOnBoxSubscriptionAndSubject"),
	},
	{
		Name: "nats-duplicates-believed", What: "NATS: a stream that says duplicate is taken to hold the message",
		Evidence: "reproduced: a purge within the window, then a replay",
		Patches:  []Patch{{"broker/natsbroker/reply_ack.go", "	if ack.Duplicate {\n", "	if ack.Duplicate && false {\n"}},
		By:       tests("broker/natsbroker", "TestARepeatIsStoredAgainIfTheStreamDeletedTheMessage"),
	},
	{
		Name: "redis-replicas-not-waited-for", What: "Redis: a message counts as stored before its replicas have it",
		Evidence: "acknowledged entries that vanish in a fail-over (FAULTS C21)",
		Patches:  []Patch{{"broker/redisbroker/call.go", "	if p.d.options.Replicas == 0 {\n		return nil", "	if p.d.options.Replicas >= 0 {\n		return nil"}},
		By:       tests("broker/redisbroker", "TestReplicasAreWaitedFor"),
	},
	{
		Name: "redis-client-repeats", What: "Redis: the client sends a command again by itself when its answer is lost",
		Evidence: "retries within clients (golang/go#11978): two entries of one call (FAULTS C2)",
		Patches:  []Patch{{"broker/redisbroker/encode.go", "func (command) NoRetry() bool { return true }", "func (command) NoRetry() bool { return false }"}},
		By:       tests("broker/redisbroker", "TestTheClientLibraryDoesNotRetryBrokenPipelines"),
	},
	{
		Name: "mqtt-nobody-hears-taken-as-accepted", What: "MQTT: a message that the broker dropped, since nobody subscribes, counts as accepted",
		Evidence: "unroutable is acknowledged and gone (FAULTS C11)",
		Patches:  []Patch{{"broker/mqttbroker/connection.go", "	case code == codeNoSubscribers && x.unheard:\n", "	case code == codeNoSubscribers && (x.unheard || code > 0):\n"}},
		By:       tests("broker/mqttbroker", "TestAMessageWithoutSubscribersIsMisconfiguredUnlessAllowed"),
	},
	{
		Name: "webhook-pause-without-bound", What: "webhook: an endpoint may ask for any pause",
		Evidence: "Retry-After of years: a destination that nobody tries again (FAULTS C28)",
		Patches:  []Patch{{"broker/webhook/failure_status.go", "		if err != nil || seconds > int64(limit/time.Second) {\n			return limit", "		if err != nil {\n			return limit"}, {"broker/webhook/failure_status.go", "	return min(max(at.Sub(now), 0), limit)", "	return max(at.Sub(now), 0)"}},
		By:       coreTests("broker/webhook", "TestRetryAfter"),
	},
	{
		Name: "webhook-request-sent-again", What: "webhook: the HTTP client may send a request again on another connection",
		Evidence: "POSTs repeated within transports (FAULTS C28)",
		Patches:  []Patch{{"broker/webhook/encode.go", "	return r.WithContext(ctx)\n", "	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Payload)), nil }\n	return r.WithContext(ctx)\n"}},
		By:       coreTests("broker/webhook", "TestNoRequestIsSentAgain"),
	},
	{
		Name: "webhook-signature-without-id-and-time", What: "webhook: the payload alone is signed",
		Evidence: "signatures that can be replayed at any time under any id (FAULTS G5)",
		Patches:  []Patch{{"broker/webhook/secret.go", "	mac.Write(head)\n", "	mac.Write(head[:0])\n"}},
		By:       coreTests("broker/webhook", "TestTheSignatureIsThatOfStandardWebhooks|TestVerify"),
	},
}
