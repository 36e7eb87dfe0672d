package component

import (
	"context"
	"errors"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// lacking answers for a store that cannot show what it holds, or take orders.
type lacking struct{}

var errLacking = errors.New("this store cannot show what it holds yet, nor take orders; " +
	"look into its tables, which the SQL reference describes")

func (lacking) Overview(context.Context) (store.Overview, error) {
	return store.Overview{}, errLacking
}

func (lacking) List(context.Context, store.Query) ([]store.Item, string, error) {
	return nil, "", errLacking
}

func (lacking) Show(context.Context, string, postbag.ID) ([]store.Item, error) {
	return nil, errLacking
}

func (lacking) Command(context.Context, store.Audit, store.Ref, store.CommandKind, []int64) (int, error) {
	return 0, errLacking
}

func (lacking) SetShards(context.Context, store.Audit, store.Ref, int) error { return errLacking }

func (lacking) Audited(context.Context, int) ([]store.AuditEntry, error) { return nil, errLacking }

// inspector returns what s can show, and operator what orders it takes.
func inspector(s store.Store) store.Inspector {
	if i, ok := s.(store.Inspector); ok {
		return i
	}
	return lacking{}
}

func operator(s store.Store) store.Operator {
	if o, ok := s.(store.Operator); ok {
		return o
	}
	return lacking{}
}
