package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Subscriptions writes a list of subscriptions for people.
func Subscriptions(c *terminal.Terminal, l *operations.SubscriptionList) error {
	if len(l.Subscriptions) == 0 {
		c.Sayf("there is no subscription; the first relay declares it")
	} else {
		rows := make([][]string, 0, len(l.Subscriptions))
		for i := range l.Subscriptions {
			rows = append(rows, listRow(&l.Subscriptions[i]))
		}
		headings := []string{"BOX", "SUBSCRIPTION", "FILTER", "SHARDS", "BACKLOG", "OLDEST", "RELAYS", "STATE", "DESTINATION", "DECLARED"}
		if err := c.Table(headings, rows); err != nil {
			return err
		}
	}
	for i := range l.Subscriptions {
		if d := &l.Subscriptions[i]; d.Unworked != "" {
			c.Sayf("%s/%s has no relay: %s", d.Box, d.Name, terminal.Printable(d.Unworked))
		}
	}
	for _, r := range l.Removed {
		c.Sayf("%s/%s was removed on %s by %s; relays do not declare it again until postbag subscriptions readmit", r.Box, r.Name, day(r.At), terminal.Printable(r.By))
	}
	return nil
}

func listRow(d *operations.SubscriptionDetail) []string {
	var states []string
	if d.ReplayOf != "" {
		states = append(states, "replay")
	}
	switch {
	case d.Paused:
		states = append(states, "paused")
	case len(d.Pauses) > 0:
		states = append(states, "paused in part")
	}
	state := dash(strings.Join(states, ", "))
	types := operations.TypesText(d.Types)
	if f := d.Filter(); d.Where != nil {
		types = f.String()
	}
	if d.Unreadable != "" {
		types = store.ConditionUnreadable
	}
	types = terminal.Short(types, 40)
	if d.TypesBy != "" {
		types += " (operator)"
	}
	return []string{
		d.Box, d.Name, types, shardsText(d), strconv.FormatInt(d.Backlog, 10), operations.Span(operations.Seconds(d.Oldest)),
		dash(strings.Join(d.Owners, " ")), state, destinationText(d), day(d.Declared),
	}
}

func shardsText(d *operations.SubscriptionDetail) string {
	if d.Wanted != d.Shards {
		return fmt.Sprintf("%d becoming %d", d.Shards, d.Wanted)
	}
	return strconv.Itoa(d.Shards)
}

func destinationText(d *operations.SubscriptionDetail) string {
	if d.Destination == nil {
		return "-"
	}
	word, _ := d.Destination.Words()
	return word + " " + operations.Span(operations.Seconds(d.Destination.Since))
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// Subscription writes one subscription for people, with its settings.
func Subscription(c *terminal.Terminal, d *operations.SubscriptionDetail) error {
	began := "with the first message"
	if d.Begun > 0 {
		began = fmt.Sprintf("behind seq %d", d.Begun)
	}
	rows := [][]string{
		{"subscription", d.Box + "/" + d.Name},
		{"declared", day(d.Declared) + ", began " + began},
		{"shards", shardsText(d)},
		{"paused", pausedText(c, d)},
		{"relays", dash(strings.Join(d.Owners, " "))},
		{"backlog", fmt.Sprintf("%s, the oldest %s", terminal.Count(d.Backlog, "message"), operations.Span(operations.Seconds(d.Oldest)))},
		{"parked", parkedText(d)},
		{"destination", destinationText(d)},
	}
	if d.ReplayOf != "" {
		rows = append(rows, []string{"replay of", d.ReplayOf})
	}
	if d.Unreadable != "" {
		rows = append(rows, []string{"filter", store.ConditionUnreadable + ": " + c.InWords(d.Unreadable)})
	}
	if d.Unworked != "" {
		rows = append(rows, []string{"no relay", terminal.Printable(d.Unworked)})
	}
	if d.Destination != nil && d.Destination.Error != "" {
		rows = append(rows, []string{"last error", c.InWords(d.Destination.Error)})
	}
	if err := c.Table(nil, rows); err != nil {
		return err
	}
	c.Sayf("")
	settings := make([][]string, 0, len(d.Settings))
	for _, s := range d.Settings {
		source := s.Source
		switch {
		case s.Unused:
			source += ", not in force"
		case s.By != "":
			source += " " + terminal.Printable(s.By) + ": " + c.InWords(s.Why)
		case (s.Name == "types" || s.Name == "where") && s.Source == operations.FromOperator:
			source += " " + d.TypesBy
		case s.Name == "shards" && s.Source == operations.FromOperator:
			source += " " + d.WantedBy
		}
		settings = append(settings, []string{s.Name, s.Value, source})
	}
	return c.Table([]string{"SETTING", "VALUE", "FROM"}, settings)
}

// pausedText says what operators hold of a subscription, who and why.
func pausedText(c *terminal.Terminal, d *operations.SubscriptionDetail) string {
	if len(d.Pauses) == 0 {
		return yesNo(d.Paused)
	}
	words := make([]string, len(d.Pauses))
	for i := range d.Pauses {
		words[i] = d.Pauses[i].Of() + " " + d.Pauses[i].InWords()
	}
	return c.InWords(strings.Join(words, "; "))
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func parkedText(d *operations.SubscriptionDetail) string {
	var words []string
	for _, state := range operations.ParkStates {
		if n := d.Parked[state.String()]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	return dash(strings.Join(words, ", "))
}
