package pgstore

import (
	"encoding/json"
	"strings"
)

// headersText returns headers as the JSON object that is stored, or "" for none.
func headersText(headers map[string]string) (string, error) {
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

// parseHeaders reads stored headers. Values that another program has stored as
// numbers and the like come as their JSON.
func parseHeaders(text string) (map[string]string, error) {
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
		if string(raw) == "null" || json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		headers[name] = s
	}
	return headers, nil
}

// plainHeaders reads the object that nearly every message has: strings without an
// escape and no space between them. What it returns shares text's memory.
func plainHeaders(text string) (map[string]string, bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' || strings.IndexByte(text, '\\') >= 0 {
		return nil, false
	}
	rest := text[1 : len(text)-1]
	var headers map[string]string
	for rest != "" {
		name, tail, ok := quoted(rest)
		if !ok || tail == "" || tail[0] != ':' {
			return nil, false
		}
		value, tail, ok := quoted(tail[1:])
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

// quoted reads one string in quotes off the front of text.
func quoted(text string) (s, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	end := strings.IndexByte(text[1:], '"')
	if end < 0 {
		return "", "", false
	}
	return text[1 : 1+end], text[2+end:], true
}
