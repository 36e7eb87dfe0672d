package otelpostbag

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
)

// Attributes that the conventions do not have.
const (
	boxKey          = attribute.Key("postbag.box")
	subscriptionKey = attribute.Key("postbag.subscription")
	causeKey        = attribute.Key("postbag.cause")
	outcomeKey      = attribute.Key("postbag.outcome") // of messages that were sent, on metrics
	attemptKey      = attribute.Key("postbag.message.attempt")
)

// ownSystem is messaging.system where the other side is a box, or not known.
const ownSystem = "postbag"

// systemOf is messaging.system of a destination.
func systemOf(binding string) string {
	switch binding {
	case "":
		return ownSystem
	case broker.BindingAMQP:
		return "rabbitmq"
	default:
		return binding
	}
}

// Values of error.type. There are no others, so that metrics stay small. Those of messages
// that a relay sent are their outcomes.
const (
	errInvalid  = "invalid_message"
	errRejected = "rejected"
	errTimeout  = "timeout"
	errCanceled = "canceled"
	errPanic    = "panic"
	errOther    = "_OTHER"
)

// errorType is error.type of an error that a publisher or a handler returned.
func errorType(err error) string {
	if _, invalid := errors.AsType[*postbag.MessageError](err); invalid {
		return errInvalid
	}
	switch {
	case errors.Is(err, inbox.ErrRejected):
		return errRejected
	case errors.Is(err, context.DeadlineExceeded):
		return errTimeout
	case errors.Is(err, context.Canceled):
		return errCanceled
	default:
		return errOther
	}
}

// maxReason is how many bytes a span keeps of an error's text.
const maxReason = 1024

// failed notes on a span that its operation failed.
func failed(span trace.Span, kind, reason string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, text(reason[:min(len(reason), maxReason)]))
}

// panicked is the text of a span whose operation panicked. The value may hold anything.
const panicked = "it panicked"

// outcomeName is the outcome as an attribute has it.
func outcomeName(o broker.Outcome) string {
	if o == broker.NotSent {
		return "not_sent"
	}
	return o.String()
}

// template is the name of a topic that few others have, or "".
func (t *Telemetry) template(topic string) string {
	if t.o.Destination == nil {
		return ""
	}
	return text(t.o.Destination(topic))
}

// text is s as an exporter can send it: UTF-8. It would refuse a whole batch of spans.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
