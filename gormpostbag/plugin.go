package gormpostbag

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/postbag/postbag"
)

// Plugin publishes the events of what GORM saves. It is safe for concurrent use.
type Plugin struct {
	pub *postbag.Publisher[postbag.SQLTx]
}

var _ gorm.Plugin = (*Plugin)(nil)

// New returns the plugin for [gorm.DB.Use]. pub writes to a box in GORM's database. It is
// over an appender of the *sql.DB that GORM has, as OpenAppender of the stores makes it.
//
// A model that is a [postbag.Aggregate] must be saved in a transaction: within
// db.Transaction, or in the one that GORM begins for each write. With
// SkipDefaultTransaction and no transaction the call fails before it writes anything.
//
// After a transaction that GORM began by itself, the plugin calls pub.Committed. After
// your own, call it yourself, if a relay in this process should hear of the messages at
// once.
func New(pub *postbag.Publisher[postbag.SQLTx]) *Plugin { return &Plugin{pub: pub} }

// Name is the name under which GORM knows the plugin.
func (*Plugin) Name() string { return "postbag" }

// Initialize registers the plugin's callbacks. GORM calls it.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if p.pub == nil {
		return errors.New("gormpostbag: the publisher is nil; make one with postbag.NewPublisher")
	}
	const commit = "gorm:commit_or_rollback_transaction"
	create, update, remove := db.Callback().Create(), db.Callback().Update(), db.Callback().Delete()
	return errors.Join(
		create.Before("gorm:create").Register("postbag:check", check),
		create.After("gorm:after_create").Before(commit).Register("postbag:publish", p.publish),
		create.After(commit).Register("postbag:wake", p.wake),
		update.Before("gorm:update").Register("postbag:check", check),
		update.After("gorm:after_update").Before(commit).Register("postbag:publish", p.publish),
		update.After(commit).Register("postbag:wake", p.wake),
		remove.Before("gorm:delete").Register("postbag:check", check),
		remove.After("gorm:after_delete").Before(commit).Register("postbag:publish", p.publish),
		remove.After(commit).Register("postbag:wake", p.wake),
	)
}

// check fails before the write if it would not be in a transaction.
func check(db *gorm.DB) {
	if db.Error != nil || db.DryRun || len(aggregates(db.Statement)) == 0 {
		return
	}
	if _, err := Tx(db); err != nil {
		_ = db.AddError(err)
	}
}

// published is the key of a statement under which publish says that it did something.
const published = "postbag:published"

func (p *Plugin) publish(db *gorm.DB) {
	if db.Error != nil || db.DryRun {
		return
	}
	raised := raisedBy(aggregates(db.Statement))
	if len(raised) == 0 {
		return
	}
	if db.RowsAffected == 0 {
		if !saves(db.Statement) {
			_ = db.AddError(ErrNoRow)
		}
		return
	}
	tx, err := Tx(db)
	if err == nil {
		err = p.pub.PublishEvents(db.Statement.Context, tx, raised...)
	}
	if err != nil {
		_ = db.AddError(err)
		return
	}
	db.InstanceSet(published, true)
}

// ErrNoRow says that a statement changed no row, though its model has raised events: the
// row is gone, a condition such as a version was not met, or it was there already under
// OnConflict. Nothing was published, and the model keeps its events.
//
// MySQL and MariaDB count no row that has the new values already, unless the DSN says
// clientFoundRows=true.
var ErrNoRow = errors.New("gormpostbag: the statement changed no row, and its model has raised events; load the model again, or call ClearRaised before")

// saves says whether a statement is the UPDATE of Save, after which GORM does an INSERT if
// there was no row.
func saves(s *gorm.Statement) bool { return len(s.Selects) == 1 && s.Selects[0] == "*" }

// raisedBy leaves out what has raised nothing.
func raisedBy(all []postbag.Aggregate) []postbag.Aggregate {
	return slices.DeleteFunc(all, func(a postbag.Aggregate) bool { return len(a.Raised()) == 0 })
}

// wake tells the relays of this process, if GORM has committed.
func (p *Plugin) wake(db *gorm.DB) {
	if _, did := db.InstanceGet(published); !did || db.Error != nil {
		return
	}
	if _, err := Tx(db); err != nil { // the transaction of the statement has ended, and there is none around it
		p.pub.Committed()
	}
}

// aggregates are the values of a statement that have events.
func aggregates(s *gorm.Statement) (out []postbag.Aggregate) {
	switch v := s.ReflectValue; v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if a, ok := aggregate(v.Index(i)); ok {
				out = append(out, a)
			}
		}
	default:
		if a, ok := aggregate(v); ok {
			out = append(out, a)
		}
	}
	return out
}

// aggregate returns v as an aggregate, or the one that v points to.
func aggregate(v reflect.Value) (postbag.Aggregate, bool) {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, false
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !v.CanAddr() {
		return nil, false
	}
	return reflect.TypeAssert[postbag.Aggregate](v.Addr())
}

// Tx returns the transaction that GORM keeps inside tx, for [postbag.Publisher.Publish].
// Outside a transaction it is an error. With PrepareStmt it is the one below GORM's, which
// would prepare and keep each statement, whatever is in it.
func Tx(tx *gorm.DB) (postbag.SQLTx, error) {
	pool := tx.Statement.ConnPool
	if prepared, ok := pool.(*gorm.PreparedStmtTX); ok {
		pool = prepared.Tx
	}
	if t, ok := pool.(postbag.SQLTx); ok {
		return t, nil
	}
	return nil, fmt.Errorf("gormpostbag: %T is no transaction; save and publish inside db.Transaction, or leave out SkipDefaultTransaction", pool)
}
