// Package ndjson is how messages are written as JSON, one a line: what postbag
// publish --ndjson reads and postbag messages writes. "payload" is a text, whose
// bytes are the payload, or any other JSON value, whose JSON is; other bytes are
// "payload_base64". What the stdout destination writes has the same form.
package ndjson
