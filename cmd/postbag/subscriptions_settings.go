package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

// policyFlags set parts of a subscription's policy.
type policyFlags struct {
	rate, rateBytes, burst, burstBytes string
	values                             map[string]*string // by setting
	reset                              []string
}

// policyWords are the flags that set one setting each, and what they are.
var policyWords = []struct{ setting, usage string }{
	{store.SettingBatch, "the most messages in a call, a `number`"},
	{store.SettingRetryBatch, "the most parked messages in a call while new ones wait, a `number`"},
	{store.SettingInFlight, "the most messages that are sent and not settled, a `number`"},
	{store.SettingConcurrency, "the most calls at a time, a `number`"},
	{store.SettingMaxAttempts, "attempts before a message is dead, a `number`"},
	{store.SettingMaxAge, "the age at which a message is dead, a `duration` such as 5m or 3d, or none"},
	{store.SettingTimeout, "the longest call to the destination, a `duration`"},
	{store.SettingCadence, "`word`: latency, balanced or background"},
	{store.SettingDestination, "`name` of the destination with which running relays work it that do not have it in their configuration"},
}

// flagOf is the flag of a setting.
func flagOf(setting string) string { return strings.ReplaceAll(setting, "_", "-") }

func (f *policyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.rate, "rate", "", "the most messages a second of the whole subscription, such as `100/s`, or none for no limit")
	flags.StringVar(&f.rateBytes, "rate-bytes", "", "the most bytes a second of the whole subscription, such as `1MiB/s`")
	flags.StringVar(&f.burst, "burst", "", "messages that may go at once after a quiet time, a `number`; those of a second when left out")
	flags.StringVar(&f.burstBytes, "burst-bytes", "", "the same of bytes, a `size` such as 64KiB")
	f.values = make(map[string]*string)
	for _, w := range policyWords {
		f.values[w.setting] = flags.String(flagOf(w.setting), "", w.usage)
	}
	flags.StringSliceVar(&f.reset, "reset", nil, "`settings` whose deployment's value holds again, with commas between: "+strings.Join(store.SettingNames, ", "))
}

// given says whether a flag of the policy is given.
func (f *policyFlags) given(cmd *cobra.Command) bool {
	names := []string{"rate", "rate-bytes", "burst", "burst-bytes", "reset"}
	for setting := range f.values {
		names = append(names, flagOf(setting))
	}
	return slices.ContainsFunc(names, cmd.Flags().Changed)
}

// settings returns what the flags set.
func (f *policyFlags) settings(cmd *cobra.Command) ([]store.Setting, error) {
	var out []store.Setting
	given := cmd.Flags().Changed
	if given("rate") || given("rate-bytes") || given("burst") || given("burst-bytes") {
		text, err := f.rateText()
		if err != nil {
			return nil, err
		}
		out = append(out, store.Setting{Name: store.SettingRate, Value: text})
	}
	for _, w := range policyWords {
		if !given(flagOf(w.setting)) {
			continue
		}
		value := *f.values[w.setting]
		if d, err := duration.Parse(value); err == nil && (w.setting == store.SettingMaxAge || w.setting == store.SettingTimeout) {
			value = d.String()
		}
		out = append(out, store.Setting{Name: w.setting, Value: value})
	}
	return out, nil
}

// rateText is a rate as the store takes it.
func (f *policyFlags) rateText() (string, error) {
	if f.rate == "none" {
		if f.rateBytes != "" || f.burst != "" || f.burstBytes != "" {
			return "", exit.Usagef("--rate none takes all limits away, and another flag sets one; leave --rate out")
		}
		return f.rate, nil
	}
	var words []string
	if f.rate != "" {
		words = append(words, strings.TrimSuffix(f.rate, "/s")+"/s")
	}
	if f.burst != "" {
		words = append(words, "burst="+f.burst)
	}
	for _, one := range []struct{ flag, text, before, behind string }{
		{"rate-bytes", strings.TrimSuffix(f.rateBytes, "/s"), "", "B/s"}, {"burst-bytes", f.burstBytes, "burst_bytes=", ""},
	} {
		if one.text == "" {
			continue
		}
		var n config.Size
		if err := n.UnmarshalText([]byte(one.text)); err != nil {
			return "", exit.Usagef("--%s %w", one.flag, err)
		}
		words = append(words, one.before+strconv.Itoa(int(n))+one.behind)
	}
	return strings.Join(words, " "), nil
}

// run sets what the flags say, and resets.
func (f *policyFlags) run(cmd *cobra.Command, c *terminal.Terminal, at *storeFlags, ref store.Ref, audit store.Audit) error {
	set, err := f.settings(cmd)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed(store.SettingDestination) {
		if at.server.given(at) {
			return exit.Usagef("a console does not know which destinations relays have; set --destination where the database can be reached")
		}
		if err := at.addable(c, ref, *f.values[store.SettingDestination]); err != nil {
			return err
		}
	}
	do := func(d desk) error { return d.Tune(cmd.Context(), audit, ref, set, f.reset) }
	if err := at.at(cmd.Context(), do); err != nil {
		return noSubscription(ref, err)
	}
	if c.JSON {
		values := map[string]string{}
		for _, s := range set {
			values[s.Name] = s.Value
		}
		return c.Emit(map[string]any{"box": ref.Box, "subscription": ref.Subscription, "set": values, "reset": append([]string{}, f.reset...)})
	}
	for _, s := range set {
		if s.Name == store.SettingDestination {
			c.Sayf("%s goes to %s now, in relays that have that destination and not the subscription in their configuration", ref, s.Value)
			continue
		}
		c.Sayf("%s of %s is %s now, whatever a deployment says", s.Name, ref, s.Value)
	}
	for _, name := range f.reset {
		c.Sayf("%s of %s is what its deployment says", name, ref)
	}
	return nil
}
