package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
)

// auditText is what was done, for people. A command for many messages that flags selected names twenty of them before it says
// what selected them: so the names are cut off. JSON has them.
func auditText(what string) string {
	const widest, selected = 120, "; selected by "
	names, by, some := strings.Cut(what, selected)
	if !some {
		return what
	}
	return terminal.Short(names, widest) + selected + by
}

func newAuditCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what operators did, the latest first",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > operations.MaxAuditLines {
				return exit.Usagef("--limit is %d; choose between 1 and %d", limit, operations.MaxAuditLines)
			}
			if f.server.given(&f) && limit > remote.MaxAuditLines {
				return exit.Usagef("--limit is %d, and a console shows at most %d lines; choose fewer, or ask the database", limit, remote.MaxAuditLines)
			}
			return f.at(cmd.Context(), func(d desk) error {
				lines, err := d.AuditLog(cmd.Context(), limit)
				if err != nil {
					return err
				}
				return showAudit(c, lines)
			})
		},
	}
	f.addServer(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "most `lines` to show")
	return cmd
}

func showAudit(c *terminal.Terminal, lines []operations.AuditLine) error {
	var rows [][]string
	for _, l := range lines {
		if c.JSON {
			if err := c.Line(l); err != nil {
				return err
			}
		}
		rows = append(rows, []string{l.At.UTC().Format(time.DateTime), l.Who, auditText(l.What), l.Why})
	}
	if c.JSON {
		return nil
	}
	return c.Table([]string{"TIME (UTC)", "WHO", "WHAT", "WHY"}, rows)
}
