package component

import (
	"context"
	"fmt"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// replicaConns is how many connections to a replica there are: the console asks two questions at a time, and looks how far it is.
const replicaConns = 4

// Reader is an open replica.
type Reader struct {
	store.Reader

	close func() error
}

// Close frees what was opened.
func (r *Reader) Close() error { return r.close() }

// OpenReplica opens the replica that a configuration names for a store. Its errors begin with the setting that says which.
func OpenReplica(ctx context.Context, s config.Store) (*Reader, error) {
	r, err := openReplica(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ReplicaPlace(), err)
	}
	return r, nil
}

func openReplica(ctx context.Context, s config.Store) (*Reader, error) {
	dsn, err := DSN(config.Store{DSN: s.Replica.DSN, DSNEnv: s.Replica.DSNEnv, DSNFile: s.Replica.DSNFile})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	name, mistake := Kinds().StoreKind(s.Kind, dsn)
	if mistake != "" {
		return nil, exit.Usagef("the DSN %s", mistake)
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for _, k := range storeKinds() {
		if k.Name != name {
			continue
		}
		if k.read == nil {
			return nil, exit.Usagef("a store of kind %s has no replica that the console can read; leave replica out", name)
		}
		r, err := k.read(ctx, dsn, StoreOptions{MaxConns: replicaConns, Comments: store.SQLComments{Application: s.SQLComments.Application}})
		if err != nil {
			return nil, openError(ctx, err)
		}
		return r, nil
	}
	return nil, exit.Usagef("this program holds no store of kind %s; see postbag version --components", name)
}
