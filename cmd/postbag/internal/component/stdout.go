package component

import (
	"context"
	"errors"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/stdout"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

func openStdout(_ context.Context, _ *config.Destination, url string, c *console.Console, dry bool) (broker.Destination, error) {
	if url != "" && !strings.EqualFold(url, "stdout:") {
		return nil, errors.New("standard output has no place; write stdout: alone, and redirect the program's output")
	}
	if dry {
		return nil, nil //nolint:nilnil // there is nothing that could be wrong
	}
	return stdout.New(c.Out), nil
}
