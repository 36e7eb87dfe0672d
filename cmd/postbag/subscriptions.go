package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newSubscriptionsCommand(c *terminal.Terminal) *cobra.Command {
	return group("subscriptions", "Hold a subscription or some of its messages, or let them go on", newPauseCommand(c), newResumeCommand(c), newPausesCommand(c))
}
