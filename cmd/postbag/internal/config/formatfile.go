package config

// Format is the form in which a subscription's messages go out.
type Format struct {
	// plain, cloudevents or debezium. Required.
	Kind string `yaml:"kind"`
	// For plain and cloudevents: content type of messages without a header
	// Content-Type; - for none with cloudevents. Defaults to none; for cloudevents
	// application/json.
	ContentType string `yaml:"content_type"`

	// For plain: the names of the headers that hold a message's facts.
	Names FormatNames `yaml:"names"`
	// For plain: send the headers Outbox-Name, Idempotency-Key, Sequence-ID and
	// Created-At. Defaults to false.
	Reserved bool `yaml:"reserved"`
	// For plain: send the header Dispatched-At, the time of the attempt: a repeated
	// message then differs from its first. Defaults to false.
	DispatchedAt bool `yaml:"dispatched_at"`

	// For cloudevents: the source, a URI reference. Defaults to / and the box.
	Source string `yaml:"source"`
	// For cloudevents: binary or structured. Defaults to binary.
	Mode string `yaml:"mode"`
	// For cloudevents: what the subject is: key, topic or none. Defaults to key.
	Subject string `yaml:"subject"`
	// For cloudevents: headers of messages that become attributes, as header:
	// attribute. Defaults to those named ce- or ce_ and an attribute.
	Extensions map[string]string `yaml:"extensions"`
	// For cloudevents over AMQP: what an attribute's name begins with, "cloudEvents_",
	// "cloudEvents:" or "ce-". Defaults to cloudEvents_.
	AMQPPrefix string `yaml:"amqp_prefix"`

	// For debezium: the topic, with ${routedByValue} for the message's. Defaults to
	// outbox.event.${routedByValue}.
	Route string `yaml:"route" literal:"true"`
	// For debezium: what goes with the event, as table.fields.additional.placement has
	// it: column:placement:name, separated by commas, or none; placement is header or
	// envelope. Defaults to type:header:eventType.
	Fields string `yaml:"fields"`
	// For debezium: put JSON into the envelope as it is, not as a string. Defaults to
	// false.
	ExpandJSON bool `yaml:"expand_json"`
	// For debezium: send null for a message without payload. Defaults to false.
	Tombstone bool `yaml:"tombstone"`
}

// FormatNames are header names; "-" leaves a fact out.
type FormatNames struct {
	// The message's id. Defaults to Postbag-Id.
	ID string `yaml:"id"`
	// Its key. Defaults to Postbag-Key.
	Key string `yaml:"key"`
	// Its type. Defaults to Postbag-Type.
	Type string `yaml:"type"`
	// When it was stored. Defaults to Postbag-Time.
	Time string `yaml:"time"`
	// Its topic. Defaults to none: it is left out.
	Topic string `yaml:"topic"`
	// Its number in the box. Defaults to none: it is left out.
	Seq string `yaml:"seq"`
	// The box. Defaults to none: it is left out.
	Box string `yaml:"box"`
	// The subscription. Defaults to none: it is left out.
	Subscription string `yaml:"subscription"`
}
