package sqlstore

import "errors"

// ErrDamaged says that a row of the log holds what no message can. The package of
// the store says which, around it.
var ErrDamaged = errors.New("the row is damaged; a program has written it with its checks off")
