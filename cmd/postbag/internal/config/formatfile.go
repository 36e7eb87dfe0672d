package config

// Format is the form in which a subscription's messages go out.
type Format struct {
	// plain, cloudevents or debezium. Required.
	Kind string `yaml:"kind"`
	// For plain and cloudevents: content type of messages without a header Content-Type; -
	// for none with cloudevents.
	ContentType string `yaml:"content_type" otherwise:"none; for cloudevents application/json"`

	// For plain: the names of the headers that hold a message's facts.
	Names FormatNames `yaml:"names"`
	// For plain: send the headers Outbox-Name, Idempotency-Key, Sequence-ID and Created-At.
	Reserved bool `yaml:"reserved" default:"false"`
	// For plain: send the header Dispatched-At, the time of the attempt: a repeated message
	// then differs from its first.
	DispatchedAt bool `yaml:"dispatched_at" default:"false"`

	// For cloudevents: the source, a URI reference.
	Source string `yaml:"source" otherwise:"/ and the box"`
	// For cloudevents: binary or structured.
	Mode string `yaml:"mode" default:"binary"`
	// For cloudevents: what the subject is: key, topic or none.
	Subject string `yaml:"subject" default:"key"`
	// For cloudevents: headers of messages that become attributes, as header: attribute.
	Extensions map[string]string `yaml:"extensions" otherwise:"those named ce- or ce_ and an attribute"`
	// For cloudevents over AMQP: what an attribute's name begins with, "cloudEvents_",
	// "cloudEvents:" or "ce-".
	AMQPPrefix string `yaml:"amqp_prefix" default:"cloudEvents_"`

	// For debezium: the topic, with ${routedByValue} for the message's.
	Route string `yaml:"route" literal:"true" default:"outbox.event.${routedByValue}"`
	// For debezium: what goes with the event, as table.fields.additional.placement has it:
	// column:placement:name, separated by commas, or none; placement is header or envelope.
	Fields string `yaml:"fields" default:"type:header:eventType"`
	// For debezium: put JSON into the envelope as it is, not as a string.
	ExpandJSON bool `yaml:"expand_json" default:"false"`
	// For debezium: send null for a message without payload.
	Tombstone bool `yaml:"tombstone" default:"false"`
}

// FormatNames are header names; "-" leaves a fact out.
type FormatNames struct {
	// The message's id.
	ID string `yaml:"id" default:"Postbag-Id"`
	// Its key.
	Key string `yaml:"key" default:"Postbag-Key"`
	// Its type.
	Type string `yaml:"type" default:"Postbag-Type"`
	// When it was stored.
	Time string `yaml:"time" default:"Postbag-Time"`
	// Its topic.
	Topic string `yaml:"topic" otherwise:"none: it is left out"`
	// Its number in the box.
	Seq string `yaml:"seq" otherwise:"none: it is left out"`
	// The box.
	Box string `yaml:"box" otherwise:"none: it is left out"`
	// The subscription.
	Subscription string `yaml:"subscription" otherwise:"none: it is left out"`
}
