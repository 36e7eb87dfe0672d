package console

import (
	"slices"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// remedy is a trouble with what can be done about it.
type remedy struct {
	// Text says what is wrong.
	Text string
	// Command can be pasted into a shell. Empty: there is none.
	Command string
	// Page is the address of the page where it can be seen to, and Label its name. Empty: there is none.
	Page, Label string
}

// Remedies are the troubles of a box of a database.
func (s *sheet) Remedies(database string, b BoxState) (all []remedy) {
	alone := operations.Status{Boxes: []operations.Box{b.Box}}
	for _, t := range alone.Found() {
		one := remedy{Text: t.Text, Command: t.Shell(s.storeFlags(database))}
		one.Page, one.Label = s.where(database, &t)
		all = append(all, one)
	}
	return all
}

// storeFlags are the flags that name a database on the command line.
func (s *sheet) storeFlags(of string) string {
	named := func(d *database) bool { return d.name == of && d.named }
	if s.several || s.console != nil && slices.ContainsFunc(s.console.databases, named) {
		return "-c postbag.yaml --store-name " + quoted(of)
	}
	return "-c postbag.yaml"
}

// where is the page on which a trouble can be seen to. One of the box leads to the box, unless the page is that.
func (s *sheet) where(database string, t *operations.Trouble) (page, label string) {
	switch {
	case t.State == store.StateDead: // they can be retried there
		return s.To("databases", database, "boxes", t.Box, "errors") + query([]string{"subscription", t.Subscription}), "Errors of " + t.Subscription
	case t.State != "":
		return s.FoundIn(database, t.Box, "subscription", t.Subscription, "state", string(t.State)), "Its " + string(t.State) + " messages"
	case t.Subscription != "":
		return s.To("databases", database, "boxes", t.Box, "subscriptions", t.Subscription), "Subscription " + t.Subscription
	case s.Box == "":
		return s.To("databases", database, "boxes", t.Box), "Box " + t.Box
	}
	return "", ""
}
