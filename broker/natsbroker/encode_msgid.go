package natsbroker

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/postbag/postbag/broker"
)

// msgID makes what goes out as Nats-Msg-Id, by which a stream drops repeats of a
// message: the message's id and a digest of where it comes from and goes to. One
// stream may take a message twice, for two subscriptions or at two subjects; these
// are no repeats of each other.
type msgID struct {
	box, subscription, subject string // of digest
	digest                     [16]byte
	text                       []byte
}

// digestBytes of SHA-256 tell apart the few places that one message goes to.
const digestBytes = 8

// append appends the id of m at subject. after is the sequence number that an
// earlier message under the id had, which turned out to be no copy of m; zero for
// the first try.
func (d *msgID) append(b []byte, m *broker.Delivery, subject string, after uint64) []byte {
	if d.text == nil || m.Box != d.box || m.Subscription != d.subscription || subject != d.subject {
		d.box, d.subscription, d.subject = m.Box, m.Subscription, subject
		d.text = append(append(d.text[:0], m.Box...), 0)
		d.text = append(append(d.text, m.Subscription...), 0)
		d.text = append(d.text, subject...)
		sum := sha256.Sum256(d.text)
		hex.Encode(d.digest[:], sum[:digestBytes])
	}
	b, _ = m.ID.AppendText(b) // it never fails
	b = append(append(b, ':'), d.digest[:]...)
	if after > 0 {
		b = strconv.AppendUint(append(b, ':'), after, 10)
	}
	return b
}
