package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// audited is one line of the audit log in JSON.
type audited struct {
	At   time.Time `json:"at"`
	Who  string    `json:"who"`
	Why  string    `json:"why"`
	What string    `json:"what"`
}

func newAuditCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what operators did, the latest first",
		Args:  none,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if limit < 1 || limit > 100_000 {
				return exit.Usagef("--limit is %d; choose between 1 and 100000", limit)
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			entries, err := s.Audited(cmd.Context(), limit)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, e := range entries {
				if c.JSON {
					if err := c.Line(audited{e.At, e.Who, e.Why, e.What}); err != nil {
						return err
					}
				}
				rows = append(rows, []string{e.At.UTC().Format(time.DateTime), e.Who, e.What, e.Why})
			}
			if c.JSON {
				return nil
			}
			return c.Table([]string{"TIME (UTC)", "WHO", "WHAT", "WHY"}, rows)
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "most `lines` to show")
	return cmd
}
