package component

import (
	"context"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/stdout"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// Stdout is standard output. It has no settings.
type Stdout struct{}

// Check implements config.Settings.
func (*Stdout) Check(config.Report) {}

func (*Stdout) open(_ context.Context, c *terminal.Terminal, dry bool) (broker.Destination, error) {
	if dry {
		return nil, nil //nolint:nilnil // there is nothing that could be wrong
	}
	return stdout.New(c.Out)
}
