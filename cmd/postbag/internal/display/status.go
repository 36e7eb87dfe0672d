package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

// Status writes the state of a store for people.
func Status(c *terminal.Terminal, v *operations.Status, shards bool) error {
	if len(v.Boxes) == 0 {
		c.Sayf("there is no box; make one with postbag migrate up --box outbox")
	}
	for i := range v.Boxes {
		if err := showBox(c, &v.Boxes[i], shards); err != nil {
			return err
		}
	}
	if len(v.Relays) == 0 {
		c.Sayf("no relay is running")
		return nil
	}
	rows := make([][]string, 0, len(v.Relays))
	for i := range v.Relays {
		r := &v.Relays[i]
		seen := "-"
		if r.Seen != nil {
			seen = operations.Span(max(operations.Seconds(*r.Seen), time.Millisecond)) + " ago"
		}
		rows = append(rows, []string{r.Name, r.ID, strconv.Itoa(r.Shards), seen, operations.Span(operations.Seconds(r.Expires)), strings.Join(r.Works, " ")})
	}
	return c.Table([]string{"RELAY", "ID", "SHARDS", "LAST SEEN", "EXPIRES IN", "WORKS ON"}, rows)
}

func showBox(c *terminal.Terminal, b *operations.Box, shards bool) error {
	if b.Missing {
		c.Sayf("BOX %s: %s\n", b.Name, operations.MissingTable(b.Name))
		return nil
	}
	text := fmt.Sprintf("BOX %s: %s in the log, which has given out seqs up to %d", b.Name, terminal.Count(b.Messages, "message"), b.LastSeq)
	if b.Scheduled > 0 {
		text += fmt.Sprintf(", %d scheduled", b.Scheduled)
	}
	if b.Rate != nil {
		text += fmt.Sprintf(", %.0f published/s", *b.Rate)
	}
	c.Sayf("%s", text)
	if b.Retention != nil {
		c.Sayf("keeps %s", b.Retention.InWords())
	}
	for i := range b.Notices {
		c.Sayf("NOTICE: %s; postbag ledger accept --box %s ends this notice", terminal.Printable(b.Notices[i].InWords()), b.Name)
	}
	if len(b.Subscriptions) == 0 {
		c.Sayf("no subscription yet; the first relay declares it\n")
		return nil
	}
	headings := []string{
		"SUBSCRIPTION", "SHARDS", "BACKLOG", "UNSETTLED", "OLDEST", "RETRYING", "BLOCKED", "IN FLIGHT", "HELD", "DEAD", "DELIVERED", "DISCARDED", "SUPERSEDED",
		"RATE", "STATE", "DESTINATION",
	}
	rows := make([][]string, 0, len(b.Subscriptions))
	for i := range b.Subscriptions {
		rows = append(rows, subscriptionRow(&b.Subscriptions[i]))
	}
	if err := c.Table(headings, rows); err != nil {
		return err
	}
	for i := range b.Subscriptions {
		showTrouble(c, &b.Subscriptions[i])
	}
	c.Sayf("")
	if !shards {
		return nil
	}
	return showShards(c, b)
}

func subscriptionRow(s *operations.Subscription) []string {
	rate := "-"
	if s.Rate != nil {
		rate = fmt.Sprintf("%.0f/s", *s.Rate)
	}
	row := []string{
		s.Name, fmt.Sprintf("%d/%d", s.Owned, s.Shards), strconv.FormatInt(s.Backlog, 10), strconv.FormatInt(s.Unsettled, 10), operations.Span(operations.Seconds(s.Oldest)),
	}
	for _, state := range operations.ParkStates {
		count := strconv.FormatInt(s.Parked[state.String()], 10)
		if slices.Contains(s.AtLeast, state.String()) {
			count += "+"
		}
		row = append(row, count)
	}
	destination := "-"
	if d := s.Destination; d != nil {
		word, _ := d.Words()
		destination = word + " " + operations.Span(operations.Seconds(d.Since))
	}
	return append(row, strconv.FormatInt(s.Delivered, 10), strconv.FormatInt(s.Discarded, 10), strconv.FormatInt(s.Superseded, 10), rate, stateOfSubscription(s), destination)
}

// showTrouble says who holds what of a subscription, and why a destination, or topics of it,
// do not work.
func showTrouble(c *terminal.Terminal, s *operations.Subscription) {
	for i := range s.Pauses {
		p := &s.Pauses[i]
		c.Sayf("%s: %s is paused %s", s.Name, terminal.Printable(p.Of()), terminal.Printable(p.InWords()))
	}
	if s.Unworked != "" {
		c.Sayf("%s: no relay works it: %s", s.Name, terminal.Printable(s.Unworked))
	}
	for _, name := range s.Older {
		c.Sayf("%s: %s", s.Name, terminal.Printable(operations.OlderText(name)))
	}
	if d := s.Destination; d != nil && d.Error != "" {
		_, predicate := d.Words()
		c.Sayf("%s: the destination %s, now for %s, says relay %s: %s", s.Name, predicate, operations.Span(operations.Seconds(d.Since)),
			terminal.Printable(d.Relay), terminal.Printable(c.InWords(d.Error)))
	}
	for _, h := range s.Held {
		text := fmt.Sprintf("%s: topic %s does not work; %s held for it", s.Name, terminal.Printable(h.Topic), terminal.Count(h.Messages, "message"))
		if h.Error != "" {
			text += fmt.Sprintf(", now for %s: %s", operations.Span(operations.Seconds(h.Since)), terminal.Printable(c.InWords(h.Error)))
		}
		c.Sayf("%s", text)
	}
}

// stateOfSubscription says in words what someone should know.
func stateOfSubscription(s *operations.Subscription) string {
	var words []string
	switch {
	case s.Paused:
		words = append(words, "paused")
	case s.Owned == 0:
		words = append(words, "no relay")
	case s.Owned < s.Shards:
		words = append(words, fmt.Sprintf("%d shards free", s.Shards-s.Owned))
	case s.Owners == 1:
		words = append(words, "1 relay")
	default:
		words = append(words, fmt.Sprintf("%d relays", s.Owners))
	}
	if s.Wanted > 0 && s.Wanted != s.Shards {
		words = append(words, fmt.Sprintf("becoming %d shards", s.Wanted))
	}
	if s.Queued > 0 {
		words = append(words, fmt.Sprintf("%d commands queued", s.Queued))
	}
	return strings.Join(words, ", ")
}

func showShards(c *terminal.Terminal, b *operations.Box) error {
	var rows [][]string
	for i := range b.Subscriptions {
		s := &b.Subscriptions[i]
		for _, one := range s.Detail {
			rows = append(rows, []string{
				s.Name, one.Slots, dash(one.Owner), strconv.FormatInt(one.Token, 10), strconv.FormatInt(one.Version, 10),
			})
		}
	}
	if err := c.Table([]string{"SHARD OF", "SLOTS", "OWNER", "TOKEN", "VERSION"}, rows); err != nil {
		return err
	}
	c.Sayf("")
	return nil
}
