package main

import (
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

// addable refuses a destination that a subscription cannot have which an operator adds, as far as the configuration says it.
// Without one there is nothing to compare: relays have their own.
func (f *storeFlags) addable(c *terminal.Terminal, ref store.Ref, destination string) error {
	if !f.config.given() {
		return nil
	}
	file, err := f.config.read(false)
	if err != nil {
		return err
	}
	said := deployed(file, f.name, ref)
	d, there := file.Destinations[destination]
	switch {
	case said != nil && said.To != destination:
		c.Notef("the configuration has %s with the destination %s; relays with this configuration go by that, and not by %s", ref, said.To, terminal.Printable(destination))
	case !there:
		c.Notef("this configuration has no destination %s; relays begin %s only if theirs has it", terminal.Printable(destination), ref)
	case component.Addable(d) != "":
		return exit.Usagef("an added subscription cannot go to destination %s: %s", destination, component.Addable(d))
	}
	return nil
}
