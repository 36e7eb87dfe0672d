// Package stdout writes messages as lines of JSON to an io.Writer: standard
// output, a file, a pipe.
//
//	dest := stdout.New(os.Stdout)
//
// It is for looking at what a relay would send, for pipes into other programs, and
// for tests. One message is one line (NDJSON):
//
//	{"id":"0198...","seq":7,"topic":"orders","key":"42","type":"order.created",
//	 "time":"2026-03-14T15:09:26.535897Z","headers":{"tenant":"acme"},"payload":"..."}
//
// A payload that is UTF-8 stands in "payload" as text, any other in
// "payload_base64". Key, type, headers and time are left out when there are none.
// What an encoder made stands in "headers", "content_type" and the payload, which is
// left out if it is null.
//
// A message is Accepted when the writer has taken its whole line. That is as
// durable as the writer is: nothing is synced.
package stdout
