package adopt

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// heldSuffix is added to the name of a table whose place a view has.
const heldSuffix = "_adopted"

// pgPatience bounds how long writers queue behind us for the table's lock.
const pgPatience = `SET LOCAL lock_timeout = '300ms'`

// Feed implements Database. Making a trigger takes a lock that waits for all who have
// written to the table to end, and that lets no other begin: from there to the commit
// the table is still, so that what a statement sees of it is all there is. Taking the
// table's name away does the same.
func (d *Postgres) Feed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	return d.change(ctx, p, a, p.Mode, func(t *pgTx) error {
		if err := t.function(ctx); err != nil {
			return err
		}
		if p.Mode == View {
			return t.view(ctx, fn)
		}
		err := t.run(ctx, "make the trigger", `CREATE TRIGGER `+t.triggerName()+` AFTER INSERT ON `+t.table+` FOR EACH ROW `+
			t.when()+`EXECUTE FUNCTION `+t.functionName()+`()`)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

// Unfeed implements Database.
func (d *Postgres) Unfeed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	return d.change(ctx, p, a, Import, func(t *pgTx) error {
		var err error
		if a.Mode == View {
			held := pgSyntax{}.table(p.Table.Schema, p.Table.Name+heldSuffix)
			err = t.run(ctx, "take the view away", `DROP VIEW `+t.table, `ALTER TABLE `+held+` RENAME TO `+pgName(p.Table.Name))
		} else {
			err = t.run(ctx, "take the trigger away", `DROP TRIGGER IF EXISTS `+t.triggerName()+` ON `+t.table)
		}
		if err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.run(ctx, "take the function away", `DROP FUNCTION `+t.functionName()+`()`)
	})
}

// change runs fn, and notes what there is then.
func (d *Postgres) change(ctx context.Context, p *Plan, a *Adoption, mode Mode, fn func(*pgTx) error) error {
	err := d.inTx(ctx, p, a, func(t *pgTx) error {
		if err := t.run(ctx, "bound the wait for a lock", pgPatience); err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		_, err := t.tx.Exec(ctx, `UPDATE postbag._adoptions SET mode = $2 WHERE id = $1`, a.ID, string(mode))
		return pgError("note the "+string(mode), err)
	})
	if pgCode(err) == "55P03" || pgCode(err) == "40P01" {
		return errBusy
	}
	return err
}

// run executes statements without parameters.
func (t *pgTx) run(ctx context.Context, doing string, statements ...string) error {
	for _, sql := range statements {
		if _, err := t.tx.Exec(ctx, sql, pgx.QueryExecModeExec); err != nil {
			return pgError(doing, err)
		}
	}
	return nil
}

func (t *pgTx) triggerName() string { return fmt.Sprintf("postbag_adopt_%d", t.adoption.ID) }

func (t *pgTx) functionName() string { return fmt.Sprintf("postbag._adopt_%d", t.adoption.ID) }

// function makes what the trigger calls. It runs with the rights of who adopts, so
// that old code needs none on the box, and finds nothing by a path that old code sets.
func (t *pgTx) function(ctx context.Context) error {
	body := pgRow{t.row.Plan, "NEW"}.insert() + ";"
	if t.row.Mode == View {
		fill, err := t.identities(ctx)
		if err != nil {
			return err
		}
		body = fill + "IF " + t.freshOr("true") + " THEN " + body + " END IF;"
	}
	return t.run(ctx, "make the "+string(t.row.Mode)+"'s function",
		`CREATE OR REPLACE FUNCTION `+t.functionName()+`() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
			SET search_path = pg_catalog, pg_temp AS `+pgSyntax{}.literal("BEGIN "+body+" RETURN NEW; END"),
		`REVOKE ALL ON FUNCTION `+t.functionName()+`() FROM PUBLIC`)
}

// freshOr is the condition on a row that is just being inserted.
func (t *pgTx) freshOr(none string) string {
	if t.row.fresh == nil {
		return none
	}
	return t.row.fresh(pgSyntax{}, "NEW")
}

func (t *pgTx) when() string {
	if t.row.fresh == nil {
		return ""
	}
	return "WHEN (" + t.freshOr("") + ") "
}

// identities fills in what the table would: a view has no identity columns.
func (t *pgTx) identities(ctx context.Context) (string, error) {
	rows, err := t.tx.Query(ctx, `SELECT a.attname, format('%I.%I', n.nspname, s.relname) FROM pg_catalog.pg_depend d
		JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
		JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
		WHERE d.refobjid = $1::regclass AND d.deptype = 'i' AND d.classid = 'pg_catalog.pg_class'::regclass AND a.attidentity <> ''`, t.table)
	if err != nil {
		return "", pgError("look for identity columns", err)
	}
	var b strings.Builder
	var name, sequence string
	_, err = pgx.ForEachRow(rows, []any{&name, &sequence}, func() error {
		col := pgSyntax{}.column("NEW", name)
		fmt.Fprintf(&b, "IF %s IS NULL THEN %s := nextval(%s); END IF; ", col, col, pgSyntax{}.literal(sequence))
		return nil
	})
	return b.String(), pgError("look for identity columns", err)
}

// view puts a view in the table's place. The view shows the table, so that old code
// can still read it, and has its defaults, which are made before the trigger runs.
func (t *pgTx) view(ctx context.Context, fn func(Tx) error) error {
	name := t.table
	held := pgSyntax{}.table(t.row.Table.Schema, t.row.Table.Name+heldSuffix)
	err := t.run(ctx, "rename the table", `ALTER TABLE `+name+` RENAME TO `+pgName(t.row.Table.Name+heldSuffix))
	if err != nil {
		return err
	}
	t.table = held
	var columns []string
	for _, c := range t.row.Table.Columns {
		columns = append(columns, pgName(c.Name))
	}
	err = t.run(ctx, "make the view", `CREATE VIEW `+name+` AS SELECT `+strings.Join(columns, ", ")+` FROM `+held,
		`CREATE TRIGGER `+t.triggerName()+` INSTEAD OF INSERT ON `+name+` FOR EACH ROW EXECUTE FUNCTION `+t.functionName()+`()`)
	if err != nil {
		return err
	}
	for _, compareStatements := range []string{pgDefaults, pgGrants, pgColumnGrants, pgOwner} {
		if err := t.compareStatements(ctx, compareStatements, name, held); err != nil {
			return err
		}
	}
	return fn(t)
}

// compareStatements runs the statements that a query writes about the view and the table.
func (t *pgTx) compareStatements(ctx context.Context, query, view, held string) error {
	rows, err := t.tx.Query(ctx, query, held)
	if err != nil {
		return pgError("look at the table", err)
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return pgError("look at the table", err)
	}
	for i := range statements {
		statements[i] = strings.Replace(statements[i], "{view}", view, 1)
	}
	return t.run(ctx, "make the view like the table", statements...)
}

// What a view does not have of the table by itself.
const (
	pgDefaults = `SELECT format('ALTER VIEW {view} ALTER COLUMN %I SET DEFAULT %s', a.attname, pg_get_expr(d.adbin, d.adrelid))
		FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
		WHERE d.adrelid = $1::regclass AND a.attgenerated = ''`
	pgGrants = `SELECT format('GRANT %s ON {view} TO %s', g.privilege_type, CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END)
		FROM pg_catalog.pg_class c, aclexplode(c.relacl) g
		WHERE c.oid = $1::regclass AND g.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AND g.grantee <> c.relowner`
	pgColumnGrants = `SELECT format('GRANT %s (%I) ON {view} TO %s', g.privilege_type, a.attname,
			CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END)
		FROM pg_catalog.pg_attribute a, aclexplode(a.attacl) g WHERE a.attrelid = $1::regclass AND NOT a.attisdropped AND a.attnum > 0
			AND g.privilege_type IN ('SELECT', 'INSERT', 'UPDATE')`
	pgOwner = `SELECT format('ALTER VIEW {view} OWNER TO %s', relowner::regrole) FROM pg_catalog.pg_class
		WHERE oid = $1::regclass AND relowner <> current_user::regrole`
)
