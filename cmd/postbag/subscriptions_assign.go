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
	case said != nil && said.ExactlyOnce:
		return exit.Usagef("%s is exactly once in the configuration; relays of another one would deliver a part of it at least once: change its destination in the configuration", ref)
	case there && component.Addable(d) != "":
		return exit.Usagef("an added subscription cannot go to destination %s: %s", destination, component.Addable(d))
	case there && len(file.Echoes(f.name, ref.Box, destination)) > 0:
		return exit.Usagef("destination %s sends what a source of the configuration stores in box %s back to that source, and it comes again; take another destination or box", destination, ref.Box)
	case said != nil && said.To != destination:
		c.Notef("the configuration has %s with the destination %s; relays with this configuration go by that, and not by %s", ref, said.To, terminal.Printable(destination))
	case !there:
		c.Notef("this configuration has no destination %s; relays begin %s only if theirs has it", terminal.Printable(destination), ref)
	}
	return nil
}
