package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/pgstore"
)

// purposes are what a role can be for.
var purposes = []string{"producer", "relay"}

func newGrantsCommand(c *console.Console) *cobra.Command {
	var purpose string
	var boxes []string
	cmd := &cobra.Command{
		Use:   "grants ROLE",
		Short: "Write the SQL of a role's rights on PostgreSQL, and do nothing",
		Long: `Write the SQL that gives a role of PostgreSQL the least rights that it needs, and do
nothing: the owner of the tables runs it. A producer publishes in the boxes that are named;
a relay works all boxes. The rights on MySQL and MariaDB are in docs/reference/mysql.md.`,
		Example: `  postbag grants shop --for producer --box outbox | psql "$DATABASE_URL"`,
		Args:    exactly("a role"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := grantsOf(args[0], purpose, boxes)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.Emit(map[string]string{"sql": text})
			}
			c.Sayf("%s", strings.TrimRight(text, "\n"))
			return nil
		},
	}
	cmd.Flags().StringVar(&purpose, "for", "", "what the role is for, `producer` or relay")
	cmd.Flags().StringSliceVar(&boxes, "box", nil, "the `box` that a producer publishes in; may be repeated")
	return cmd
}

func grantsOf(role, purpose string, boxes []string) (string, error) {
	switch {
	case role == "" || strings.ContainsRune(role, 0):
		return "", exit.Usagef("the role has no name, or a NUL in it; name a role of the database")
	case !slices.Contains(purposes, purpose):
		return "", exit.Usagef("--for is %q; say --for producer or --for relay", purpose)
	case purpose == "relay" && len(boxes) > 0:
		return "", exit.Usagef("--box is not for a relay, which works all boxes; leave it out")
	case purpose == "relay":
		return pgstore.GrantRelay(role), nil
	case len(boxes) == 0:
		return "", exit.Usagef("a producer needs a box; name it with --box")
	}
	for _, box := range boxes {
		if err := boxName(box); err != nil {
			return "", err
		}
	}
	return pgstore.GrantProducer(role, boxes...)
}
