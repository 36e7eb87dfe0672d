package component

import (
	"context"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/stdout"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

func openStdout(_ context.Context, _ *config.Destination, _ string, c *console.Console, dry bool) (broker.Destination, error) {
	if dry {
		return nil, nil //nolint:nilnil // there is nothing that could be wrong
	}
	return stdout.New(c.Out), nil
}
