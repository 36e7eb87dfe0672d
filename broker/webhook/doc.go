// Package webhook sends messages to an HTTP endpoint, signed as Standard
// Webhooks asks (https://www.standardwebhooks.com), and helps the endpoint to
// check and read them.
//
// Each message is one POST. Its body is the payload, bit for bit; an id made of its
// own and of its subscription, the time of the attempt and their signature are the
// headers webhook-id, webhook-timestamp and webhook-signature; its facts are
// Postbag-Id, Postbag-Topic, Postbag-Key, Postbag-Type and Postbag-Time; its own
// headers travel whole in Postbag-Headers, and once more as ordinary headers where
// HTTP carries them unchanged.
//
// The answer's status decides: 2xx is accepted; what says that this request is
// wrong (400, 413, 422) is rejected; what says that the endpoint is (a redirect,
// 401, 404, 410) is misconfigured; 408, 429 and 5xx are unavailable, and their
// Retry-After is passed on. See [StatusOutcome]. Where no answer comes, the
// request may have been handled: that is unknown, and the relay sends it again
// with the same id. Nothing is repeated below the relay: no redirect is
// followed and no request is sent twice by the HTTP client.
//
// An endpoint must therefore expect repeats and drop them by webhook-id, which is
// the same in every attempt and differs between subscriptions. Within a key, first
// deliveries come in commit order.
//
// Endpoints' addresses are checked at connect time, after name resolution:
// whatever is not a public address is refused unless [Options.AllowPrivate] has
// it, so that a URL given by a stranger cannot reach an internal service.
// Certificates are always verified.
//
// On the receiving side [Receive] turns a request back into a message, and
// [Verify] checks only the signature.
package webhook
