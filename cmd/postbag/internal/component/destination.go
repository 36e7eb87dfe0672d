package component

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// opener is what settings of every kind of destination implement.
type opener interface {
	config.Settings
	// open opens a destination without waiting for its server. With dry it only looks
	// whether it could, and returns nil.
	open(ctx context.Context, c *terminal.Terminal, dry bool) (broker.Destination, error)
}

// OpenDestination opens the destination d, whose name is only for messages.
func OpenDestination(ctx context.Context, name string, d config.Destination, c *terminal.Terminal) (broker.Destination, error) {
	to, err := destination(ctx, d, c, false)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("destination %s: %w", name, err))
	}
	return to, nil
}

// CheckDestination looks whether d could be opened: that its secrets are there
// and its settings fit. It talks to no server.
func CheckDestination(ctx context.Context, d config.Destination) error {
	_, err := destination(ctx, d, nil, true)
	return err
}

// Addable says why a subscription that an operator adds while relays run cannot go to d. Empty: it can.
func Addable(d config.Destination) string {
	if t, ok := d.Settings.(config.Transactional); ok && t.HasTransactions() {
		return "it has transactions, which only subscriptions of the configuration with exactly_once use"
	}
	if r, ok := d.Settings.(*Redis); ok && r.Fence {
		return "it has fence, which works for one subscription alone: put that into the configuration"
	}
	return ""
}

func destination(ctx context.Context, d config.Destination, c *terminal.Terminal, dry bool) (broker.Destination, error) {
	settings, ok := d.Settings.(opener)
	if !ok {
		return nil, fmt.Errorf("this program holds no destination of kind %.40q; see postbag version --components", d.Kind)
	}
	return settings.open(ctx, c, dry)
}
