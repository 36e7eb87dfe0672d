package storekit

import (
	"errors"

	"github.com/postbag/postbag"
)

// defaultBox is made with Create if no box is named.
const defaultBox = "outbox"

// Boxes are those that a store makes as it opens: with its option Create those that Boxes names, or "outbox" if
// that is nil.
func Boxes(create bool, named []string) []string {
	if create && named == nil {
		return []string{defaultBox}
	}
	return named
}

// BadBoxes returns every fault of the options Create and Boxes of a store, a package such as pgstore.
func BadBoxes(store string, create bool, named []string) (faults []error) {
	for _, box := range named {
		if err := postbag.ValidBox(box); err != nil {
			faults = append(faults, err)
		}
	}
	if len(named) > 0 && !create {
		faults = append(faults, errors.New(store+": Options.Boxes are only made with Options.Create; set it, or leave them out"))
	}
	return faults
}
