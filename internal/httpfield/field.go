package httpfield

import (
	"slices"
	"strings"
)

// Framing says whether name belongs to one connection or frames the body (RFC
// 9110, section 7.6.1), so that only the HTTP client may set it.
func Framing(name string) bool {
	return In(name, "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
		"te", "trailer", "transfer-encoding", "upgrade") || HasPrefix(name, "proxy-")
}

// Steering says whether name changes how servers and proxies treat a request. A
// message has no business in that; only an operator has.
func Steering(name string) bool {
	return In(name, "authorization", "cookie", "date", "forwarded", "max-forwards", "origin", "range", "referer",
		"user-agent", "via", "x-method-override", "x-original-url", "x-real-ip", "x-rewrite-url") ||
		HasPrefix(name, "accept", "access-control-", "content-", "if-", "sec-", "x-forwarded-", "x-http-method")
}

// In says whether list holds name, without regard to case.
func In(name string, list ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(name, s) })
}

// HasPrefix says whether name begins with one of prefixes, without regard to case.
func HasPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		return len(name) >= len(p) && strings.EqualFold(name[:len(p)], p)
	})
}

// IsToken says whether name is a field name of HTTP (RFC 9110, section 5.6.2).
func IsToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return name != ""
}

// Verbatim says whether every server sees value as it is: visible ASCII, with
// spaces inside only. An empty value is dropped on some ways.
func Verbatim(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return value != "" && value[0] != ' ' && value[len(value)-1] != ' '
}
