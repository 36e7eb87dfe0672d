package main

import (
	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newLedgerCommand(c *terminal.Terminal) *cobra.Command {
	return group("ledger", "Accept that the ledger and the log differ", newAcceptCommand(c))
}

func newAcceptCommand(c *terminal.Terminal) *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Have retention go on where the ledger and the log differ",
		Long: `Let retention go on over the parts of a box in which ledger and log differ now, for example after
somebody deleted rows of the log by hand. It prints what it accepted. The relay's log names such parts.
Find out first who else changes the tables: messages may be lost. A later difference stops retention
again. The command also ends the notices of postbag status about the box, such as that its log was
begun again, even if nothing differs. The audit log records who accepted what, and why.`,
		Example: `  postbag ledger accept -c postbag.yaml --why "two rows were deleted by hand, request 4711"`,
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.edit(cmd.Context(), func(s operations.Store, a store.Audit) error {
				lines, err := s.AcceptLedger(cmd.Context(), a, f.box)
				switch {
				case err != nil:
					return err
				case c.JSON:
					return c.Emit(map[string]any{"box": f.box, "accepted": lines})
				case len(lines) == 0:
					c.Sayf("the ledger of box %s agrees with its log; there is nothing to accept", f.box)
				}
				for _, line := range lines {
					c.Sayf("accepted: %s", line)
				}
				return nil
			})
		},
	}
	f.add(cmd)
	return cmd
}
