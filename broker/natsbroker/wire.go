package natsbroker

import (
	"strings"

	"github.com/postbag/postbag/broker"
)

const headerContentType = "Content-Type"

// setWire adds the headers that an encoder made, in place of the package's own.
func (h *headers) setWire(w *broker.Wire) {
	if w.ContentType != "" {
		h.add(headerContentType, w.ContentType)
	}
	for name, value := range w.Headers {
		h.add(name, value)
	}
}

// badWire says why NATS cannot carry what an encoder made as it is, nil when it
// can.
func badWire(w *broker.Wire, pass map[string]bool) *broker.Error {
	if w == nil {
		return nil
	}
	if !plainValue(w.ContentType) {
		return failure(broker.Rejected, "the encoder's content type has a line break, or a space at an end", "write it as application/json is written")
	}
	for name, value := range w.Headers {
		switch {
		case !plainName(name):
			return failure(broker.Rejected, "the encoder made a header whose name NATS cannot carry", "use letters, digits and hyphens")
		case obeyed(name) && !strings.HasPrefix(name, "Postbag-") && !pass[name]:
			return failure(broker.Rejected, "the encoder made a header that the server or a client would obey",
				"leave out Nats-*, Status and Description, or name it in Options.PassHeaders")
		case !plainValue(value):
			return failure(broker.Rejected, "the encoder made a header whose value has a line break, or a space at an end", "encode it first")
		case name == headerContentType && w.ContentType != "":
			return failure(broker.Rejected, "the encoder made a content type twice", "leave it out of the headers")
		}
	}
	return nil
}

// plainName says whether the client library takes a header name as it is.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(noName, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// plainValue says whether the client library sends a header value as it is.
func plainValue(value string) bool {
	return !strings.ContainsAny(value, "\r\n") && strings.Trim(value, " \t") == value
}
