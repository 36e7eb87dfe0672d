package format

import (
	"maps"
	"slices"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// ascii says whether a binding's headers hold visible ASCII only, so that other
// text is percent-encoded.
func ascii(binding string) bool {
	return binding == broker.BindingHTTP || binding == broker.BindingNATS
}

// carried returns text as a header's value carries it.
func carried(text, binding string) string {
	if ascii(binding) {
		return broker.Escape(text, "")
	}
	return text
}

// addOwn adds a message's own headers to those an encoder made, which go before
// them: one whose name is taken is left out, in HTTP whatever its case. The content
// type is returned instead.
func addOwn(to, own map[string]string, binding string, skip func(name string) bool) (contentType string) {
	if len(own) == 0 {
		return ""
	}
	for _, name := range inOrder(own) {
		value := own[name]
		switch {
		case strings.EqualFold(name, "content-type"):
			if contentType == "" {
				contentType = value
			}
			continue
		case name == "", binding == broker.BindingHTTP && value == "", skip != nil && skip(name):
			continue
		}
		name = ownName(name, binding)
		if !taken(to, name, binding) {
			to[name] = carried(value, binding)
		}
	}
	return contentType
}

// inOrder returns the names of headers, sorted if there are several, so that of
// two that collide it is always the same that stays.
func inOrder(headers map[string]string) []string {
	if len(headers) > 1 {
		return slices.Sorted(maps.Keys(headers))
	}
	for name := range headers {
		return []string{name}
	}
	return nil
}

func taken(headers map[string]string, name, binding string) bool {
	if _, there := headers[name]; there || binding != broker.BindingHTTP {
		return there
	}
	for other := range headers {
		if len(other) == len(name) && strings.EqualFold(other, name) {
			return true
		}
	}
	return false
}

// unnamed are the characters of visible ASCII that neither HTTP nor NATS has in a
// header's name.
const unnamed = "\"(),/:;<=>?@[\\]{}"

// ownName returns the name under which a header of a message's own is sent. One
// that server, proxy or client would obey has its first letter percent-encoded,
// so that decoding gives it back.
func ownName(name, binding string) string {
	if !ascii(binding) {
		return name
	}
	name = broker.Escape(name, unnamed)
	if obeyed(name, binding) {
		const digits = "0123456789ABCDEF"
		return string([]byte{'%', digits[name[0]>>4], digits[name[0]&15]}) + name[1:]
	}
	return name
}

func obeyed(name, binding string) bool {
	if binding == broker.BindingNATS {
		return httpfield.HasPrefix(name, "nats-") || httpfield.In(name, "status", "description")
	}
	return httpfield.Framing(name) || httpfield.Steering(name) || httpfield.HasPrefix(name, "webhook-")
}
