package console

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
)

// grantable says of a command that was refused for lack of a right which rights the console's role needs.
func grantable(err error) error {
	if !errors.Is(err, store.ErrDenied) {
		return err
	}
	return fmt.Errorf("%w; the console's role lacks a right that commands need: run what postbag grants ROLE --for console --role operator --box BOX prints", err)
}
