package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// digestBytes of SHA-256 tell apart the few subscriptions that send one message.
const digestBytes = 8

// webhookID makes what goes out as webhook-id, by which receivers drop repeats: the
// message's id and a digest of the subscription that sends it. A message that two
// subscriptions send to one endpoint is two webhooks, and no repeat. It is the same in
// every attempt, whatever becomes of options and URLs.
func webhookID(m *broker.Delivery) string {
	sum := sha256.Sum256([]byte(m.Box + "\x00" + m.Subscription))
	b, _ := m.ID.AppendText(make([]byte, 0, 36+1+2*digestBytes)) // it never fails
	return string(hex.AppendEncode(append(b, ':'), sum[:digestBytes]))
}

// messageID is the message's id in a webhook-id.
func messageID(webhookID string) (postbag.ID, error) {
	id, _, _ := strings.Cut(webhookID, ":")
	return postbag.ParseID(id)
}
