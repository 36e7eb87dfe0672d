package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// ErrExists is ErrInvalid, and says that a subscription that was to be added is there. Nothing was changed.
var ErrExists error = &refusal{ErrInvalid, "the subscription is there already; change it with postbag subscriptions set, or choose another name; nothing was done"}

// Add declares a subscription that is not there. A relay that has it in its settings works it. One that is there is ErrExists.
func (s Store) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
		return refusef(ErrInvalid, "%v; nothing was done", err)
	}
	return s.tuner(a, func(t store.Tuner) error { return t.Add(ctx, a, spec) })
}

// AddTo declares a subscription that is not there, and has running relays begin it that have a
// destination of this name. If only the first is done, the error says how to do the rest.
func (s Store) AddTo(ctx context.Context, a store.Audit, spec store.Spec, destination string) error {
	set := []store.Setting{{Name: store.SettingDestination, Value: destination}}
	if err := s.checkSettings(ctx, spec.Ref, set, nil); err != nil {
		return err
	}
	if err := s.Add(ctx, a, spec); err != nil {
		return err
	}
	if err := s.Tune(ctx, a, spec.Ref, set, nil); err != nil {
		return fmt.Errorf("%s is added, and its destination is not kept; run postbag subscriptions set %s --box %s --destination %s: %w",
			spec.Ref, spec.Subscription, spec.Box, destination, err)
	}
	return nil
}

// Tune sets some settings of a subscription's policy, and lets go of others. A name of reset that
// is neither known nor set is ErrInvalid.
func (s Store) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	if err := s.checkSettings(ctx, r, set, reset); err != nil {
		return err
	}
	return s.tuner(a, func(t store.Tuner) error { return t.Tune(ctx, a, r, set, reset) })
}

func (s Store) checkSettings(ctx context.Context, r store.Ref, set []store.Setting, reset []string) error {
	for i := range set {
		if err := new(store.Policy).Set(set[i].Name, set[i].Value); err != nil {
			return refusef(ErrInvalid, "%s; nothing was done", strings.TrimPrefix(err.Error(), store.ErrSetting.Error()+": "))
		}
	}
	if err := store.CheckSettings(set, reset); err != nil {
		return refusef(ErrInvalid, "%s; nothing was done", strings.TrimPrefix(err.Error(), store.ErrSetting.Error()+": "))
	}
	unknown := slices.DeleteFunc(slices.Clone(reset), func(name string) bool { return slices.Contains(store.SettingNames, name) })
	if len(unknown) == 0 {
		return nil
	}
	o, err := s.Look(ctx, r.Box)
	if err != nil {
		return err
	}
	d, err := Subscriptions(&o).Find(r)
	if err != nil {
		return err
	}
	for _, name := range unknown {
		if !slices.ContainsFunc(d.tuned, func(t store.Setting) bool { return t.Name == name }) {
			return refusef(ErrInvalid, "%.40q is no setting; choose some of %s; nothing was done", name, strings.Join(store.SettingNames, ", "))
		}
	}
	return nil
}

func (s Store) tuner(a store.Audit, do func(store.Tuner) error) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	if s.Tuner == nil {
		return refusef(ErrUnsupported, "this kind of store keeps no settings of operators; nothing was done")
	}
	err := do(s.Tuner)
	if errors.Is(err, store.ErrExists) {
		return ErrExists
	}
	return err
}

// settingPaths are where a configuration has the settings that operators can set.
var settingPaths = map[string]string{store.SettingMaxAttempts: "retry.max_attempts", store.SettingMaxAge: "retry.max_age"}

// settingPath is the name that a setting has in a configuration.
func settingPath(name string) string {
	if path := settingPaths[name]; path != "" {
		return path
	}
	return name
}

// Tuned are the settings of the policy that operators have set, as a configuration names them.
func (d *SubscriptionDetail) Tuned() []Setting {
	var out []Setting
	for i := range d.tuned {
		t := &d.tuned[i]
		out = append(out, Setting{Name: settingPath(t.Name), Value: t.Value, Source: FromOperator, By: t.Who, Why: t.Why, At: t.At})
	}
	return out
}

// Overrides says that an operator has set a setting that a configuration has by this name. A rate
// takes the place of all that a configuration says of rates.
func (d *SubscriptionDetail) Overrides(path string) bool {
	part, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(d.tuned, func(t store.Setting) bool {
		return settingPath(t.Name) == path || t.Name == store.SettingRate && part == store.SettingRate
	})
}
