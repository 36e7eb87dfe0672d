package adopt

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
)

func myTrigger(a *Adoption) string { return fmt.Sprintf("postbag_adopt_%d", a.ID) }

// Feed implements Database. Statements that make a trigger commit by themselves here.
// So the table is locked, which waits until all who have written to it are done; what
// came last is imported and committed; then the trigger is made, under the same lock.
// A process that is killed in between has imported, and made no trigger.
func (d *MySQL) Feed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	body := myRow{p, "NEW"}.insert()
	if p.fresh != nil {
		body = "IF " + p.fresh(mySyntax{}, "NEW") + " THEN " + body + "; END IF"
	}
	return d.locked(ctx, p, a, fn, `CREATE TRIGGER `+mySyntax{}.table(p.Table.Schema, myTrigger(a))+` AFTER INSERT ON `+myRow{p, "o"}.from()+
		` FOR EACH ROW BEGIN `+body+`; END`)
}

// Unfeed implements Database. A process that is killed in between has noted what the trigger
// brought, and has the trigger.
func (d *MySQL) Unfeed(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error) error {
	return d.locked(ctx, p, a, fn, `DROP TRIGGER IF EXISTS `+mySyntax{}.table(p.Table.Schema, myTrigger(a)))
}

// locked runs fn in a transaction, and then a statement, while the table is locked.
// The box is locked too, because a session that locks tables may use no others.
func (d *MySQL) locked(ctx context.Context, p *Plan, a *Adoption, fn func(Tx) error, statement string) error {
	table := myRow{p, "o"}.from()
	locks := []string{
		table + " WRITE", table + " o WRITE", myBox(p.Box) + " WRITE", "postbag__adopted WRITE", "postbag__adopted k WRITE", "postbag__adoptions WRITE",
	}
	if p.From == "watermill" && p.Table.Column("acked") == nil {
		offsets, err := offsetsTable(p.Table, &p.Options)
		if err != nil {
			return err
		}
		locks = append(locks, mySyntax{}.table(p.Table.Schema, offsets)+" w READ")
	}
	return d.session(ctx, func(conn *sql.Conn) error {
		// Whatever happens, the session takes its locks with it.
		defer discard(conn)
		for _, sql := range []string{`SET SESSION autocommit = 0`, `LOCK TABLES ` + strings.Join(locks, ", ")} {
			if _, err := conn.ExecContext(ctx, sql); err != nil {
				return busy(myError("lock the table", err))
			}
		}
		if err := end(ctx, conn, d.on(conn, p, a, fn)); err != nil {
			return busy(err)
		}
		_, err := conn.ExecContext(ctx, statement)
		return busy(myError("change the trigger", err))
	})
}

// busy is errBusy for a lock that was not to be had.
func busy(err error) error {
	if code := myCode(err); code == 1205 || code == 1213 {
		return errBusy
	}
	return err
}

// discard closes a connection for good.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // that is what closes it
}
