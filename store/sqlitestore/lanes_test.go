package sqlitestore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestALaneWithoutItsTableIsAnOldSchema(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.DB().ExecContext(t.Context(), "DROP TABLE postbag__lane")
	f.check(err)
	for what, use := range map[string]func(context.Context, postbag.SQLTx) error{
		"OpenLane": func(ctx context.Context, tx postbag.SQLTx) error {
			_, err := f.OpenLane(ctx, tx, "lane")
			return err
		},
		"WriteLane": func(ctx context.Context, tx postbag.SQLTx) error {
			return f.WriteLane(ctx, tx, "lane", 1, []byte("record"))
		},
	} {
		if err := f.InTx(t.Context(), use); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "postbag migrate up") {
			t.Errorf("%s: %v, not ErrSchema", what, err)
		}
	}
}
