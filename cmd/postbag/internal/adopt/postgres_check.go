package adopt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// rights refuses a plan for which the role lacks rights, and names all that are
// missing.
func (d *Postgres) rights(ctx context.Context, p *Plan) error {
	table := pgRow{p, "o"}.from()
	var role string
	var create, read, insert, update, remove, trigger, owner bool
	err := d.Pool.QueryRow(ctx, `SELECT current_user, has_schema_privilege('postbag', 'CREATE'),
		has_table_privilege($1::regclass, 'SELECT'), has_any_column_privilege($2::regclass, 'INSERT'),
		has_table_privilege($1::regclass, 'UPDATE'), has_table_privilege($1::regclass, 'DELETE'), has_table_privilege($1::regclass, 'TRIGGER'),
		(SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class c WHERE c.oid = $1::regclass)`,
		table, pgSyntax{}.table("postbag", p.Box)).Scan(&role, &create, &read, &insert, &update, &remove, &trigger, &owner)
	if err != nil {
		return pgError("look at the role's rights", err)
	}
	var lacks []string
	for _, need := range []struct {
		wanted, has bool
		what        string
	}{
		{true, create, "CREATE on schema postbag"},
		{true, insert, "INSERT on postbag." + p.Box},
		{true, read, "SELECT on " + p.Table.String()},
		{p.Originals == Mark, update, "UPDATE on " + p.Table.String()},
		{p.Originals == Delete, remove, "DELETE on " + p.Table.String()},
		{p.Mode == Trigger, trigger, "TRIGGER on " + p.Table.String()},
		{p.Mode == View, owner, "membership in the role that owns " + p.Table.String()},
	} {
		if need.wanted && !need.has {
			lacks = append(lacks, need.what)
		}
	}
	if lacks == nil {
		return nil
	}
	return fmt.Errorf("adopt: role %s lacks %s; grant it, or use a role that has it", role, strings.Join(lacks, ", "))
}

// group refuses a consumer group that watermill does not know, when it knows others.
func (d *Postgres) group(ctx context.Context, p *Plan) error {
	offsets, err := offsetsTable(p.Table, &p.Options)
	if err != nil {
		return err
	}
	rows, err := d.Pool.Query(ctx, `SELECT consumer_group FROM `+pgSyntax{}.table(p.Table.Schema, offsets)+` ORDER BY 1`)
	var groups []string
	if err == nil {
		groups, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	switch {
	case pgCode(err) == "42P01":
		return input(fmt.Errorf("adopt: there is no table %s.%s of watermill's offsets; name it with --offsets", p.Table.Schema, offsets))
	case err != nil:
		return pgError("look at the offsets", err)
	}
	return unknownGroup(p, groups)
}

func unknownGroup(p *Plan, groups []string) error {
	if len(groups) == 0 || slices.Contains(groups, p.Group) {
		return nil
	}
	quoted := make([]string, len(groups))
	for i := range groups {
		quoted[i] = fmt.Sprintf("%.100q", groups[i])
	}
	return input(fmt.Errorf("adopt: %s has no consumer group %.100q, whose offset would say what is undelivered; name one with --group: %s",
		p.Table, p.Group, strings.Join(quoted, ", ")))
}

// answerError is what PostgreSQL answered, with nothing of a row in it.
type answerError struct {
	doing, said string
	cause       error
}

func (f *answerError) Error() string { return "adopt: " + f.doing + ": " + f.said }

// Unwrap is the driver's error, for its code.
func (f *answerError) Unwrap() error { return f.cause }

// pgError wraps an error, once, with what failed. A server's detail is left out: it
// quotes rows, and so do messages about values.
func pgError(doing string, err error) error {
	var done *answerError
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, errBusy), errors.Is(err, errTooMany), errors.Is(err, errFaulty):
		return err
	case errors.As(err, &answer):
		said := answer.Message
		if strings.HasPrefix(answer.Code, "22") {
			said = "the server refused a value"
		}
		fix := ""
		switch answer.Code {
		case "42501":
			fix = "; grant the role its rights, or use a role that has them"
		case "40P01", "40001":
			fix = "; try again"
		}
		return &answerError{doing, fmt.Sprintf("%s (SQLSTATE %s)%s", said, answer.Code, fix), err}
	}
	return &answerError{doing, "the connection failed; look whether the server runs and can be reached, then run this again: it goes on where it was", err}
}

// pgCode is the SQLSTATE of a server's answer, or "".
func pgCode(err error) string {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return answer.Code
	}
	return ""
}
