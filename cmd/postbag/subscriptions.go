package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newSubscriptionsCommand(c *terminal.Terminal) *cobra.Command {
	return group("subscriptions", "List subscriptions, and change them while relays run",
		newSubscriptionsListCommand(c), newSubscriptionsShowCommand(c), newSubscriptionsAddCommand(c), newSubscriptionsSetCommand(c),
		newPauseCommand(c), newResumeCommand(c), newPausesCommand(c), newSubscriptionsSkipCommand(c), newSubscriptionsRemoveCommand(c), newSubscriptionsReadmitCommand(c))
}
