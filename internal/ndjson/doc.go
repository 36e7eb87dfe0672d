// Package ndjson reads and writes messages as JSON, one per line: postbag publish
// --ndjson reads them, and postbag messages list writes them. If "payload" is a string, its
// bytes are the payload. If it is any other JSON value, the payload is that JSON. Bytes
// that are no text are in "payload_base64". The stdout destination writes the same form.
package ndjson
