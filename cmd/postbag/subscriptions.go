package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newSubscriptionsCommand(c *terminal.Terminal) *cobra.Command {
	return group("subscriptions", "List subscriptionsubscriptions, and change them while relays run",
		newSubscriptionsListCommand(c), newSubscriptionsShowCommand(c), newSubscriptionsSetCommand(c),
		newPauseCommand(c, true), newPauseCommand(c, false), newSubscriptionsRemoveCommand(c), newSubscriptionsReadmitCommand(c))
}

// newPauseCommand is the command that pauses, or some of its messages, or let them go on", newPauseCommand(c), newResumeCommand(c), newPausesCommand(c))
}
