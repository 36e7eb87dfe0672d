// Package stdout writes messages as lines of JSON to an io.Writer: standard
// output, a file, a pipe.
//
//	dest, err := stdout.New(os.Stdout)
//
// Use it to see what a relay would send, to pipe messages into other programs, and in
// tests. One message is one line (NDJSON):
//
//	{"id":"0198...","seq":7,"topic":"orders","key":"42","type":"order.created",
//	 "time":"2026-03-14T15:09:26.535897Z","headers":{"tenant":"acme"},"payload":"..."}
//
// A payload that is UTF-8 is in "payload" as text, any other in "payload_base64". Key,
// type, headers and time are left out if there are none. What an encoder made is in
// "headers", "content_type" and the payload, which is left out if it is null.
//
// A message is Accepted when the writer has taken its whole line. It is as durable as the
// writer: nothing is synced.
package stdout
