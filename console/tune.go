package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// What a form can ask to do with a subscription, beside a pause and its end.
const (
	doShards = "shards"
	doSet    = "set"
	doReset  = "reset"
)

// subscriptionFields are the fields that each command of a subscription takes, beside do and why.
var subscriptionFields = map[string][]string{doPause: {"for"}, doResume: {}, doShards: {"shards"}, doSet: {"setting", "value"}, doReset: {"setting"}}

// subscriptionCommand reads which command a form gives for a subscription. What the giver should know comes into v.
func subscriptionCommand(f url.Values, a store.Audit, ref store.Ref, v *Done) (func(context.Context, operations.Store) error, error) {
	do := f.Get("do")
	takes, known := subscriptionFields[do]
	if !known {
		return nil, badRequestf("do is neither pause nor resume, nor shards, set or reset; write one of them")
	}
	for _, p := range subscriptionForm {
		if p.name != "do" && p != why && f.Get(p.name) != "" && !slices.Contains(takes, p.name) {
			return nil, badRequestf("%s is given, and %s takes none; leave it out", p.name, do)
		}
	}
	switch do {
	case doPause, doResume:
		return pauseCommand(f, a, store.Pause{Scope: store.PauseSubscription, Ref: ref}, v)
	case doShards:
		n, err := strconv.Atoi(f.Get("shards"))
		if err != nil {
			return nil, badRequestf("shards is no number; write how many shards the subscription is to have")
		}
		return func(ctx context.Context, ops operations.Store) error { return ops.SetShards(ctx, a, ref, n) }, nil
	default:
		return settingCommand(f, a, ref)
	}
}

// pauseCommand begins or ends a pause.
func pauseCommand(f url.Values, a store.Audit, p store.Pause, v *Done) (func(context.Context, operations.Store) error, error) {
	span, err := spanOf(f.Get("for"))
	if err != nil {
		return nil, err
	}
	if f.Get("do") == doResume {
		return func(ctx context.Context, ops operations.Store) error { return ops.Resume(ctx, a, p) }, nil
	}
	return func(ctx context.Context, ops operations.Store) (err error) {
		v.Notes, err = ops.Pause(ctx, a, p, span)
		return err
	}, nil
}

// tunable are the settings that operators set on the page of a subscription. Which destinations relays have, the console does not know.
var tunable = slices.DeleteFunc(slices.Clone(store.SettingNames), func(name string) bool { return name == store.SettingDestination })

// settingCommand sets or resets a setting.
func settingCommand(f url.Values, a store.Audit, ref store.Ref) (func(context.Context, operations.Store) error, error) {
	name := f.Get("setting")
	if !slices.Contains(tunable, name) {
		return nil, badRequestf("setting is none that can be set here; write one of %v", tunable)
	}
	if f.Get("do") == doReset {
		return func(ctx context.Context, ops operations.Store) error {
			return ops.Tune(ctx, a, ref, nil, []string{name})
		}, nil
	}
	set := []store.Setting{{Name: name, Value: f.Get("value")}}
	return func(ctx context.Context, ops operations.Store) error { return ops.Tune(ctx, a, ref, set, nil) }, nil
}

// Tunable are the settings that can be set on the page.
func (*sheet) Tunable() []string { return tunable }

// Skippable are the states of messages that wait, and that a subscription can be told to skip.
func (*sheet) Skippable() []store.State {
	return []store.State{store.StatePending, store.StateRetrying, store.StateBlocked, store.StateHeld}
}
