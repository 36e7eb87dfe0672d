// Package webhook sends messages to an HTTP endpoint, signed as Standard
// Webhooks asks (https://www.standardwebhooks.com), and helps the endpoint to
// check and read them.
//
// Each message is one POST. Its body is the payload, bit for bit. The header webhook-id
// is an id made of the message's id and its subscription. webhook-timestamp is the time
// of the attempt, and webhook-signature signs them and the body. The facts of the message
// are Postbag-Id, Postbag-Topic, Postbag-Key, Postbag-Type and Postbag-Time. The header
// Postbag-Headers has the message's own headers, whole. Those that HTTP carries unchanged
// are also ordinary headers.
//
// The answer's status decides. 2xx is accepted. A status that says that this request is
// wrong (400, 413, 422) is rejected. One that says that the endpoint is wrong (a
// redirect, 401, 404, 410) is misconfigured. 408, 429 and 5xx are unavailable, and their
// Retry-After is passed on. See [StatusOutcome]. If no answer comes, the request may have
// been handled: that is unknown, and the relay sends it again with the same id. Only the
// relay repeats: the HTTP client follows no redirect and sends no request twice.
//
// So an endpoint must expect repeats, and drop them by webhook-id. That is the same in
// every attempt, and differs between subscriptions. Within a key, first deliveries come in
// commit order.
//
// Addresses are checked at connect time, after name resolution. An address that is not
// public is refused unless [Options.AllowPrivate] has it. So a URL that somebody else
// gave you cannot reach an internal service. Certificates are always verified.
//
// On the receiving side a [Source] is an endpoint for an inbox: it verifies what comes, and
// answers 2xx when the message is stored. [Receive] turns one request back into a message,
// and [Verify] checks only the signature.
package webhook
