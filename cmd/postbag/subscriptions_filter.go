package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// filterFlags say another filter.
type filterFlags struct {
	types, topics, headers          []string
	allTypes, allTopics, allHeaders bool
	noExcept, configured            bool
}

func (f *filterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.types, "types", nil, "`types` to deliver, with commas between: exact, or a prefix and .*")
	flags.BoolVar(&f.allTypes, "all-types", false, "deliver messages of all types")
	flags.StringSliceVar(&f.topics, "topics", nil, "`topics` to deliver, with commas between: exact, or a prefix and .*")
	flags.BoolVar(&f.allTopics, "all-topics", false, "deliver messages of all topics")
	flags.StringArrayVar(&f.headers, "header", nil, "a `condition` on a header: name=value, or name alone for any value; give the flag again for more")
	flags.BoolVar(&f.allHeaders, "all-headers", false, "ask for no header")
	flags.BoolVar(&f.noExcept, "no-except", false, "except nothing")
	flags.BoolVar(&f.configured, "as-configured", false, "take the whole filter from the configuration (-c)")
}

// given says whether one of the flags stands in the command.
func (f *filterFlags) given(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"types", "all-types", "topics", "all-topics", "header", "all-headers", "no-except", "as-configured"},
		func(name string) bool { return cmd.Flags().Changed(name) })
}

// check refuses flags that say nothing, or two things.
func (f *filterFlags) check() error {
	given := f.noExcept
	for _, one := range []struct {
		name  string
		given []string
		all   bool
		every string
	}{{"types", f.types, f.allTypes, "all-types"}, {"topics", f.topics, f.allTopics, "all-topics"}, {"header", f.headers, f.allHeaders, "all-headers"}} {
		if len(one.given) > 0 && one.all {
			return exit.Usagef("give either --%s or --%s", one.name, one.every)
		}
		given = given || len(one.given) > 0 || one.all
	}
	switch {
	case given && f.configured:
		return exit.Usagef("--as-configured takes the whole filter from the configuration; leave the other flags out")
	case !given && !f.configured:
		return exit.Usagef("give what to deliver: --types, --topics or --header with one or more, --all-types, --all-topics, --all-headers, --no-except, or --as-configured")
	}
	return nil
}

// beside refuses flags beside those of a policy, if there are such, and flags that say no filter otherwise.
func (f *filterFlags) beside(cmd *cobra.Command, policy bool) error {
	switch {
	case !policy:
		return f.check()
	case f.given(cmd):
		return exit.Usagef("some flags set the filter, and others the policy; give two commands")
	}
	return nil
}

// filter is the one that the flags say, of a subscription.
func (f *filterFlags) filter(cmd *cobra.Command, from *storeFlags, s operations.Store, ref store.Ref) (store.Filter, error) {
	if f.configured {
		return from.configuredFilter(ref)
	}
	d, err := find(cmd, s, ref)
	if err != nil {
		return store.Filter{}, err
	}
	whole := (len(f.types) > 0 || f.allTypes) && (len(f.topics) > 0 || f.allTopics) && (len(f.headers) > 0 || f.allHeaders) && f.noExcept
	if d.Unreadable != "" && !whole {
		return store.Filter{}, exit.Usagef("the filter of %s cannot be read by this version, so no part of it can stay; update postbag, or give all of it: types, topics, headers and --no-except, or --as-configured", ref)
	}
	out := d.Filter()
	choose(&out.Types, f.types, f.allTypes)
	choose(&out.Topics, f.topics, f.allTopics)
	choose(&out.Headers, f.headers, f.allHeaders)
	if f.noExcept {
		out.Except = nil
	}
	return out, nil
}

// set gives a subscription the filter that the flags say.
func (f *filterFlags) set(cmd *cobra.Command, c *terminal.Terminal, from *storeFlags, ref store.Ref, audit store.Audit) error {
	var asks store.Filter
	var notes []string
	do := func(s operations.Store) (err error) {
		if asks, err = f.filter(cmd, from, s, ref); err != nil {
			return err
		}
		if notes, err = s.FilterNotes(cmd.Context(), ref, asks); err != nil {
			return err
		}
		return s.SetFilter(cmd.Context(), audit, ref, asks)
	}
	if err := from.operate(cmd.Context(), do); err != nil {
		return noSubscription(ref, err)
	}
	for _, n := range notes {
		c.Notef("%s", n)
	}
	return sayFilter(c, ref, asks)
}

// choose puts what was given in the place of a list.
func choose(list *[]string, given []string, all bool) {
	if len(given) > 0 || all {
		*list = given
	}
}

// configuredFilter is the filter that a file says of a subscription.
func (f *storeFlags) configuredFilter(ref store.Ref) (store.Filter, error) {
	if !f.config.given() {
		return store.Filter{}, exit.Usagef("--as-configured needs the configuration; give -c postbag.yaml")
	}
	file, err := f.config.read(false)
	if err != nil {
		return store.Filter{}, err
	}
	said := deployed(file, f.name, ref)
	if said == nil {
		return store.Filter{}, exit.Usagef("the configuration has no subscription %s; name one that it has", ref)
	}
	return said.Filter(), nil
}

// sayFilter says what the filter is now.
func sayFilter(c *terminal.Terminal, ref store.Ref, f store.Filter) error {
	if c.JSON {
		out := map[string]any{"box": ref.Box, "subscription": ref.Subscription, "types": append([]string{}, f.Types...)}
		if !f.Where.Empty() {
			out["where"] = f.Where.Clone()
		}
		return c.Emit(out)
	}
	said := operations.TypesText(f.Types)
	if !f.Where.Empty() {
		said = f.String()
	}
	c.Sayf("the filter of %s is %s now", ref, terminal.Printable(said))
	return nil
}
