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
var purposes = []string{"producer", "consumer", "relay", "console"}

func newGrantsCommand(c *terminal.Terminal) *cobra.Command {
	var g granting
	cmd := &cobra.Command{
		Use:   "grants ROLE",
		Short: "Write the SQL of a role's rights, and do nothing",
		Long: `Print the SQL that gives a role of PostgreSQL, or an account of MySQL or MariaDB, the least
rights that it needs. It changes nothing: run the SQL in the boxes' database. A producer
publishes to the boxes that you name. A consumer marks the messages that it has applied, and
needs no box. A relay works all boxes, and removes old marks of consumers. A console is for people and
dashboards: it reads what status, list, show and audit show, and writes nothing. With --role operator
it can also give commands (--commands of postbag console), in the boxes that you name. With --edits,
too, it can publish edited messages there, as edits asks for. With --audit it
can write into the audit log who looked at a payload, as audit_payloads asks for. On MySQL and
MariaDB a grant is for one table: name all boxes for a relay and a console too. An account may
have a host: app@10.0.0.%. A relay that keeps boxes with partitions by time makes and drops
them: add --partitioned.`,
		Example: `  postbag grants shop --for producer --box outbox | psql "$DATABASE_URL"
  postbag grants desk --for console --role operator --box outbox | psql "$DATABASE_URL"
  postbag grants shop@% --for relay --store-kind mariadb --box outbox | mariadb shop`,
		Args: exactly("a role"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := g.sql(args[0])
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
	cmd.Flags().StringVar(&g.purpose, "for", "", "what the role is for, `producer`, consumer, relay or console")
	cmd.Flags().StringVar(&g.role, "role", viewer, "what a console does: `viewer` reads, operator gives commands too")
	cmd.Flags().BoolVar(&g.audit, "audit", false, "for a console with audit_payloads: it writes looks at payloads into the audit log; an operator may anyway")
	cmd.Flags().BoolVar(&g.edits, "edits", false, "for a console with edits, and --role operator: it publishes edited messages to the boxes")
	cmd.Flags().StringVar(&g.kind, "store-kind", "postgresql", "`kind` of store: postgresql, mysql, mariadb")
	cmd.Flags().StringSliceVar(&g.boxes, "box", nil, "the `box` that the role works with; may be repeated")
	cmd.Flags().BoolVar(&g.partitioned, "partitioned", false, "for a relay on mysql and mariadb: the boxes have partitions by time")
	return cmd
}

// granting is what a role is to have rights for.
type granting struct {
	purpose, kind, role string
	boxes               []string
	partitioned, audit  bool
	edits               bool
}

// Roles of a console.
const (
	viewer   = "viewer"
	operator = "operator"
)

// operates says whether a console is to give commands.
func (g *granting) operates() bool { return g.purpose == "console" && g.role == operator }

// byTable says whether grants are for one table each.
func (g *granting) byTable() bool { return g.kind == "mysql" || g.kind == "mariadb" }

func (g *granting) check(role string) error {
	switch {
	case g.kind == "sqlite":
		return exit.Usagef("sqlite has no roles: the rights are those of the file and its folder; give who publishes or delivers the right to write both, and who only looks the right to read")
	case !g.byTable() && g.kind != "postgresql":
		return exit.Usagef("--store-kind is %q; say postgresql, mysql or mariadb", g.kind)
	case role == "" || strings.ContainsRune(role, 0):
		return exit.Usagef("the role has no name, or a NUL in it; name a role of the database")
	case !slices.Contains(purposes, g.purpose):
		return exit.Usagef("--for is %q; say --for producer, --for consumer, --for relay or --for console", g.purpose)
	case g.role != viewer && g.role != operator:
		return exit.Usagef("--role is %q; say viewer or operator", g.role)
	case g.role == operator && !g.operates():
		return exit.Usagef("--role operator is for a console, and this is for a %s; leave it out, or say --for console", g.purpose)
	case g.edits && !g.operates():
		return exit.Usagef("--edits is for a console whose operators edit messages; leave it out, or say --for console --role operator")
	case g.audit && g.purpose != "console":
		return exit.Usagef("--audit is for a console, and this is for a %s; leave it out, or say --for console", g.purpose)
	case g.purpose == "consumer" && len(g.boxes) > 0:
		return exit.Usagef("--box is not for a consumer, which marks what it has applied and reads no box; leave it out")
	case !g.byTable() && g.purpose != "producer" && !g.operates() && len(g.boxes) > 0:
		return exit.Usagef("--box is not for a %s on postgresql, which sees all boxes; leave it out", g.purpose)
	case (g.byTable() && g.purpose != "consumer" || g.purpose == "producer") && len(g.boxes) == 0:
		return exit.Usagef("a %s needs a box; name it with --box", g.purpose)
	case g.operates() && len(g.boxes) == 0:
		return exit.Usagef("a console with commands needs the boxes whose scheduled messages it publishes and cancels; name each with --box")
	case g.partitioned && (!g.byTable() || g.purpose != "relay"):
		return exit.Usagef("--partitioned is for a relay on mysql or mariadb; leave it out")
	}
	for _, box := range g.boxes {
		if err := boxName(box); err != nil {
			return err
		}
	}
	return nil
}

// sql returns the grants.
func (g *granting) sql(role string) (string, error) {
	if err := g.check(role); err != nil {
		return "", err
	}
	if g.byTable() {
		return g.sqlByTable(role)
	}
	switch {
	case g.purpose == "consumer":
		return pgstore.GrantConsumer(role), nil
	case g.purpose == "relay":
		return pgstore.GrantRelay(role), nil
	case g.edits:
		text, err := pgstore.GrantEditor(role, g.boxes...)
		return text, exit.With(exit.Usage, err)
	case g.operates():
		text, err := pgstore.GrantOperator(role, g.boxes...)
		return text, exit.With(exit.Usage, err)
	case g.audit:
		return pgstore.GrantConsole(role) + pgstore.GrantAudit(role), nil
	case g.purpose == "console":
		return pgstore.GrantConsole(role), nil
	}
	text, err := pgstore.GrantProducer(role, g.boxes...)
	return text, exit.With(exit.Usage, err)
}

func (g *granting) sqlByTable(role string) (string, error) {
	if g.purpose == "consumer" {
		return mysqlstore.GrantConsumer(role), nil
	}
	grants := map[string]func(string, ...string) (string, error){
		"producer": mysqlstore.GrantProducer, "relay": mysqlstore.GrantRelay, "console": mysqlstore.GrantConsole,
	}[g.purpose]
	switch {
	case g.edits:
		grants = mysqlstore.GrantEditor
	case g.operates():
		grants = mysqlstore.GrantOperator
	}
	text, err := grants(role, g.boxes...)
	if err == nil && g.audit && !g.operates() {
		text += mysqlstore.GrantAudit(role)
	}
	if err == nil && g.partitioned {
		var more string
		more, err = mysqlstore.GrantPartitions(role, g.boxes...)
		text += more
	}
	return text, exit.With(exit.Usage, err)
}
