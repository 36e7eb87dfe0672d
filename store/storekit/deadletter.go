package storekit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// HasLetters says whether a settlement asks for dead letters.
func HasLetters(s *store.Settlement) bool {
	return slices.ContainsFunc(s.Park, func(p store.Park) bool { return IsLetter(&p) })
}

// IsLetter says whether a parked message gets a dead letter.
func IsLetter(p *store.Park) bool { return p.State == store.ParkDead && p.DeadTo != "" }

// DeadLetter makes the dead letter of a message that is parked under a lease. rec is the
// message, whose payload may be left to the store, and at the clock of the database. See
// package store for what a letter has.
func DeadLetter(l *store.Lease, p *store.Park, rec *store.Record, at time.Time) postbag.Message {
	m := rec.Message
	m.NotBefore = time.Time{}
	m.ID = letterID(l, p.Seq, rec.ID)
	var lacks []string
	sound := func(text *string, name string) {
		if !utf8.ValidString(*text) || strings.IndexByte(*text, 0) >= 0 {
			*text = ""
			lacks = append(lacks, name)
		}
	}
	sound(&m.Topic, "topic")
	sound(&m.Key, "key")
	sound(&m.ShardKey, "shard key")
	sound(&m.Type, "type")
	m.Topic = cmp.Or(m.Topic, l.Box)
	if rec.Err != nil && rec.Headers == nil {
		lacks = append(lacks, "headers that could not be read")
	}
	m.Headers = letterHeaders(l, p, rec, at, lacks)
	m.Topic = cmp.Or(p.DeadTopic, m.Topic)
	return m
}

// letterID is the id of a letter, a UUID of version 8 (RFC 9562): of one settlement always the
// same. A message that dies again does so in another settlement, and is another letter.
func letterID(l *store.Lease, seq int64, of postbag.ID) (id postbag.ID) {
	b := fmt.Appendf(nil, "dead letter\x00%s\x00%s\x00", l.Box, l.Subscription)
	b = append(b, of[:]...)
	for _, n := range []int64{seq, l.Token, l.Version} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// letterHeaders returns the headers of a letter: those that say why, and as many of the
// message's own as there is room for.
func letterHeaders(l *store.Lease, p *store.Park, rec *store.Record, at time.Time, lacks []string) map[string]string {
	const form = "2006-01-02T15:04:05.000000Z"
	out := map[string]string{
		store.HeaderDeadBox: l.Box, store.HeaderDeadSubscription: l.Subscription,
		store.HeaderDeadID: rec.ID.String(), store.HeaderDeadSeq: strconv.FormatInt(p.Seq, 10),
		store.HeaderDeadCause: p.Cause.String(), store.HeaderDeadAttempts: strconv.Itoa(p.Attempts),
		store.HeaderDeadStored: rec.At.UTC().Format(form), store.HeaderDeadAt: at.UTC().Format(form),
	}
	if reason := asciiReason(p.Reason); reason != "" {
		out[store.HeaderDeadReason] = reason
	}
	if topic := asciiReason(rec.Topic); topic != "" && p.DeadTopic != "" {
		out[store.HeaderDeadTopic] = topic
	}
	ours, _ := HeadersText(out)
	room := postbag.MaxHeader - len(ours) - len(store.HeaderDeadLacks) - lacksMost
	own, left := ownHeaders(rec.Headers, room)
	for _, h := range own {
		if _, set := out[h.name]; !set {
			out[h.name] = h.value
		}
	}
	if left > 0 {
		lacks = append(lacks, fmt.Sprintf("%d headers", left))
	}
	if len(lacks) > 0 {
		out[store.HeaderDeadLacks] = strings.Join(lacks, ", ")
	}
	return out
}

// lacksMost is room for the value of store.HeaderDeadLacks.
const lacksMost = 128

// header is a header of a message, with the bytes that it takes as it is stored.
type header struct {
	name, value string
	size        int
}

// ownHeaders returns the headers of a message that its letter has, the smallest first, within
// room bytes, and how many did not fit.
func ownHeaders(all map[string]string, room int) (own []header, left int) {
	for name, value := range all {
		if isProperty(name) || hasPrefixFold(name, "Postbag-") || strings.HasPrefix(name, "Dead-Letter-") {
			continue
		}
		text, err := HeadersText(map[string]string{name: value})
		if err != nil || name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) || strings.IndexByte(name+value, 0) >= 0 {
			left++
			continue
		}
		own = append(own, header{name, value, len(text)})
	}
	slices.SortFunc(own, func(a, b header) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name)) })
	for i := range own {
		if room -= own[i].size; room < 0 {
			return own[:i], left + len(own) - i
		}
	}
	return own, left
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isProperty says what broker.IsProperty says, which stores cannot import. A property was for
// the destination that refused the message, or is why: the destination of the letter would
// refuse or obey it.
func isProperty(name string) bool {
	space, _, found := strings.Cut(name, ".")
	return found && slices.Contains([]string{"kafka", "mqtt", "nats", "rabbitmq"}, space)
}

// reasonMost is the most bytes of a reason, or of a topic, in a header.
const reasonMost = 512

// asciiReason makes a text that every transport carries in a header: visible ASCII and single
// spaces. Other characters are written as \u0431.
func asciiReason(s string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(strings.ToValidUTF8(s, "?")) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, r := range word {
			piece := string(r)
			if r < ' ' || r > '~' {
				piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
			}
			if b.Len()+len(piece) > reasonMost {
				return strings.TrimSpace(b.String())
			}
			b.WriteString(piece)
		}
	}
	return strings.TrimSpace(b.String())
}

// NoLetter is the line of the audit log, and a notice, for dead letters of a subscription
// that could not be written to a box: those of some seqs.
func NoLetter(r store.Ref, box string, seqs []int64) string {
	return fmt.Sprintf("%s%s %s to box %s", noLetter, r, someSeqs(seqs), box)
}

const noLetter = "write no dead letter of "

// someSeqs lists the first of some seqs, and counts the rest.
func someSeqs(seqs []int64) string {
	const most = 20
	var b strings.Builder
	for i, seq := range seqs[:min(len(seqs), most)] {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d", seq)
	}
	if n := len(seqs) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}
