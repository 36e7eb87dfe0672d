package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func newWebhookSecretCommand(c *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "webhook-secret",
		Short: "Draw a secret that signs webhooks",
		Long: `Print a secret of 32 random bytes, in the form of Standard Webhooks (whsec_ and base64). Give
each endpoint one of its own. Keep it in an environment variable or a file, name that in
secrets_env or secrets_file, and give the secret to the receiver, which verifies signatures.`,
		Example: `  umask 077 && postbag webhook-secret > orders.secret`,
		Args:    none,
		RunE: func(*cobra.Command, []string) error {
			secret := webhook.NewSecret()
			if c.JSON {
				return c.Emit(map[string]string{"secret": secret})
			}
			c.Sayf("%s", secret)
			return nil
		},
	}
}
