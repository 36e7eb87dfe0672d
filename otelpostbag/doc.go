// Package otelpostbag traces messages with OpenTelemetry, from the transaction that
// publishes them to the handler that applies them, and measures what is done with them.
//
//	tel, err := otelpostbag.New(otelpostbag.Options{})
//	pub, err := postbag.NewPublisher(s, tel.Publisher(postbag.PublisherOptions{}))
//	rel, err := relay.New(s, relay.Options{Subscriptions: []relay.Subscription{{
//		To: dest, Use: []broker.Middleware{tel.Relay},
//	}}})
//	consumer, err := inbox.NewConsumer(inbox.ConsumerOptions[pgx.Tx]{ // and what it needs besides
//		Use: []inbox.Middleware[pgx.Tx]{otelpostbag.Handler[pgx.Tx](tel, otelpostbag.HandlerOptions{Consumer: "billing"})},
//	})
//
// The context of a trace goes through the log in the message's headers (W3C traceparent
// and tracestate). It is written once, when the message is published. A relay sends those
// headers as they are, however often it sends the message. Attributes and metrics follow
// OpenTelemetry's conventions for messaging. docs/guides/tracing.md shows them.
//
// Nothing here changes what becomes of a message. If code of OpenTelemetry panics, the
// message goes on without a span, and Options.OnFault hears of it. Metrics hold boxes,
// subscriptions, consumers and outcomes, and never anything of a message.
package otelpostbag
