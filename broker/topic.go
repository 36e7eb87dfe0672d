package broker

// TopicChecker is implemented by a destination that has rules for topics.
type TopicChecker interface {
	// CheckTopic returns an error if the destination would reject every message of a topic: no key,
	// type or header could change that. The error says what is allowed. It does no I/O, and does not
	// say whether the topic is there. Where a function of the options makes the topic, it returns nil.
	CheckTopic(topic string) error
}
