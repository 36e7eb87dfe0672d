package store

import "context"

// Assigner is implemented by a store, a Tuner too, that tells relays to which subscriptions
// operators have given a destination, with SettingDestination. A relay that has a destination
// of that name begins such a subscription while it runs, and ends it when the setting or the
// subscription is gone.
type Assigner interface {
	// Assigned returns those subscriptions, by box and name, and no replays. It costs one
	// read of the subscriptions' settings. Relays call it when the epoch has changed.
	// Changes nothing. None is no error.
	Assigned(ctx context.Context) ([]Assignment, error)
}

// Assignment is a subscription with the destination that an operator has given it.
type Assignment struct {
	Ref
	// Destination is its name. It may be one that no relay has.
	Destination string
	// Who gave it.
	Who string
}

// DestinationOf returns the destination that an operator has given a subscription with these
// settings, and who did. Empty: none.
func DestinationOf(settings []Setting) (name, who string) {
	var p Policy
	for i := range settings {
		if settings[i].Name == SettingDestination && p.Set(SettingDestination, settings[i].Value) == nil {
			return *p.Destination, settings[i].Who
		}
	}
	return "", ""
}
