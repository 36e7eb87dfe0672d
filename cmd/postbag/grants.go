package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
)

// purposes are what a role can be for.
var purposes = []string{"producer", "relay", "console"}

func newGrantsCommand(c *terminal.Terminal) *cobra.Command {
	var purpose, kind string
	var boxes []string
	cmd := &cobra.Command{
		Use:   "grants ROLE",
		Short: "Write the SQL of a role's rights, and do nothing",
		Long: `Write the SQL that gives a role of PostgreSQL, or an account of MySQL or MariaDB, the least
rights that it needs, and do nothing: who may grant them runs it in the boxes' database. A
producer publishes in the boxes that are named. A relay works all boxes, and a console reads
what status, list, show and audit show, and writes nothing; on MySQL and MariaDB, where a
grant is for one table, name all boxes for them too. An account may have a host: app@10.0.0.%.`,
		Example: `  postbag grants shop --for producer --box outbox | psql "$DATABASE_URL"
  postbag grants shop@% --for relay --store-kind mariadb --box outbox | mariadb shop`,
		Args: exactly("a role"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := grantsOf(args[0], purpose, kind, boxes)
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
	cmd.Flags().StringVar(&purpose, "for", "", "what the role is for, `producer`, relay or console")
	cmd.Flags().StringVar(&kind, "store-kind", "postgresql", "`kind` of store: postgresql, mysql, mariadb")
	cmd.Flags().StringSliceVar(&boxes, "box", nil, "the `box` that the role works with; may be repeated")
	return cmd
}

func grantsOf(role, purpose, kind string, boxes []string) (string, error) {
	byTable := kind == "mysql" || kind == "mariadb"
	switch {
	case kind == "sqlite":
		return "", exit.Usagef("sqlite has no roles: the rights are those of the file and its folder; give who publishes or delivers the right to write both, and who only looks the right to read")
	case !byTable && kind != "postgresql":
		return "", exit.Usagef("--store-kind is %q; say postgresql, mysql or mariadb", kind)
	case role == "" || strings.ContainsRune(role, 0):
		return "", exit.Usagef("the role has no name, or a NUL in it; name a role of the database")
	case !slices.Contains(purposes, purpose):
		return "", exit.Usagef("--for is %q; say --for producer, --for relay or --for console", purpose)
	case !byTable && purpose != "producer" && len(boxes) > 0:
		return "", exit.Usagef("--box is not for a %s on postgresql, which sees all boxes; leave it out", purpose)
	case (byTable || purpose == "producer") && len(boxes) == 0:
		return "", exit.Usagef("a %s needs a box; name it with --box", purpose)
	}
	for _, box := range boxes {
		if err := boxName(box); err != nil {
			return "", err
		}
	}
	if byTable {
		text, err := map[string]func(string, ...string) (string, error){
			"producer": mysqlstore.GrantProducer, "relay": mysqlstore.GrantRelay, "console": mysqlstore.GrantConsole,
		}[purpose](role, boxes...)
		return text, exit.With(exit.Usage, err)
	}
	switch purpose {
	case "relay":
		return pgstore.GrantRelay(role), nil
	case "console":
		return pgstore.GrantConsole(role), nil
	}
	text, err := pgstore.GrantProducer(role, boxes...)
	return text, exit.With(exit.Usage, err)
}
