package storekit

import (
	"encoding/json"
	"strings"
)

// HeadersText returns headers as the JSON object that is stored, or "" for none.
// Names are sorted, so equal headers have equal texts.
func HeadersText(headers map[string]string) (string, error) {
	if len(headers) == 0 {
		return "", nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(headers); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// ParseHeaders reads stored headers. If another program stored a value as a number or
// another type, ParseHeaders returns its JSON. The result may share text's memory.
func ParseHeaders(text string) (map[string]string, error) {
	if headers, ok := plainHeaders(text); ok {
		return headers, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, err
	}
	headers := make(map[string]string, len(values))
	for name, raw := range values {
		var s string
		if json.Unmarshal(raw, &s) != nil || string(raw) == "null" {
			s = string(raw)
		}
		headers[name] = s
	}
	return headers, nil
}

// plainHeaders reads the object that nearly every message has: strings without
// an escape and no space between them. It is several times faster than the
// general reader, to which it leaves everything else.
func plainHeaders(text string) (map[string]string, bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' || strings.IndexByte(text, '\\') >= 0 {
		return nil, false
	}
	rest := text[1 : len(text)-1]
	var headers map[string]string
	for rest != "" {
		name, tail, ok := plainString(rest)
		if !ok || tail == "" || tail[0] != ':' {
			return nil, false
		}
		value, tail, ok := plainString(tail[1:])
		if !ok || tail != "" && (tail[0] != ',' || len(tail) == 1) {
			return nil, false
		}
		if headers == nil {
			headers = make(map[string]string, 4)
		}
		headers[name] = value
		rest = strings.TrimPrefix(tail, ",")
	}
	return headers, true
}

// plainString reads one string in quotes off the front of text.
func plainString(text string) (s, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(text[1:], '"')
	if end < 0 {
		return "", "", false
	}
	return text[1 : 1+end], text[2+end:], true
}
