package display

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// signs are how a difference begins, and its colour.
var signs = map[string]struct {
	sign   string
	colour terminal.Colour
}{
	plan.Create: {"+", terminal.Green}, plan.Change: {"~", terminal.Yellow},
	plan.Remove: {"-", terminal.Red}, plan.Migrate: {"^", terminal.Yellow},
}

// Plan writes a plan for people.
func Plan(c *terminal.Terminal, p *plan.Plan) {
	for _, d := range p.Differences {
		Difference(c, d)
	}
	if len(p.Notes) > 0 && len(p.Differences) > 0 {
		c.Sayf("")
	}
	for i := range p.Notes {
		n := &p.Notes[i]
		c.Sayf("%s", c.Paint(terminal.Faint, "  "+terminal.Printable(inStore(n.Store, of(n.Of()))+n.Text)))
	}
}

// of is what a note is of, before its text.
func of(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

// inStore names a store before what is in it.
func inStore(store, text string) string {
	if store == "" {
		return text
	}
	return store + ": " + text
}

// Difference writes one difference for people, with what it needs below it.
func Difference(c *terminal.Terminal, d *plan.Difference) {
	s := signs[d.Action]
	c.Sayf("%s", c.Paint(s.colour, s.sign+" "+terminal.Printable(differenceText(d))))
	if d.Effect != "" {
		c.Sayf("    %s", terminal.Printable(d.Effect))
	}
	if d.Needs != "" {
		c.Sayf("    %s", c.Paint(terminal.Red, "it needs "+terminal.Printable(d.Needs)))
	}
}

func differenceText(d *plan.Difference) string {
	what := "box " + d.Of()
	switch {
	case d.Action == plan.Migrate:
		what = "schema"
	case d.Subscription != "":
		what = "subscription " + d.Of()
	}
	text := inStore(d.Store, what)
	if d.Setting != "" {
		text += ": " + d.Setting
	}
	switch {
	case d.Have != "":
		text += fmt.Sprintf(" %s -> %s", d.Have, d.Want)
	case d.Want != "":
		text += ": " + d.Want
	}
	if d.By != "" {
		text += " (set by " + strings.TrimPrefix(d.By, "set by ") + ")"
	}
	return text
}
