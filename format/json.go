package format

import (
	"encoding/base64"
	"mime"
	"strings"
)

// appendText appends s as a JSON string. s is UTF-8.
func appendText(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		start = i + 1
	}
	return append(append(b, s[start:]...), '"')
}

// appendMember appends a name and the colon, after a comma unless it is the
// object's first.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendText(b, name), ':')
}

func appendBase64(b, payload []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, payload)
	return append(b, '"')
}

// kind is what a content type says of a payload.
type kind int

const (
	bytesKind kind = iota
	jsonKind
	textKind
)

// kindOf reads a content type: JSON is "*/json" and "*/*+json", text is "text/*",
// "*/xml" and "*/*+xml" in UTF-8.
func kindOf(contentType string) kind {
	if contentType == "application/json" {
		return jsonKind
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return bytesKind
	}
	major, minor, _ := strings.Cut(media, "/")
	charset := strings.ToLower(params["charset"])
	switch {
	case minor == "json" || strings.HasSuffix(minor, "+json"):
		return jsonKind
	case charset != "" && charset != "utf-8" && charset != "us-ascii":
		return bytesKind
	case major == "text" || minor == "xml" || strings.HasSuffix(minor, "+xml"):
		return textKind
	}
	return bytesKind
}
