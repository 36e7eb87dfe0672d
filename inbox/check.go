package inbox

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// check refuses what no store takes, before any SQL.
func check(tx any, consumer string, marks []Mark) error {
	if isNil(tx) {
		return postbag.ErrNoTx
	}
	if err := store.ValidConsumer(consumer); err != nil {
		return err
	}
	if len(marks) > store.MaxMarks {
		return fmt.Errorf("there are %d marks, more than %d; mark them in several calls", len(marks), store.MaxMarks)
	}
	for i := range marks {
		if err := checkID(marks[i].ID); err != nil && len(marks) > 1 {
			return fmt.Errorf("mark %d: %w", i, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func checkID(id MessageID) error {
	switch {
	case id == "":
		return errors.New("the message's id is empty; take the one that its sender gave it, or make one with Place")
	case len(id) > store.MaxMessageID:
		return fmt.Errorf("the message's id has %d bytes, more than %d; take a hash of it", len(id), store.MaxMessageID)
	}
	return nil
}

// isNil says whether v is nil, or a nil pointer or the like in an interface.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice, reflect.UnsafePointer:
		return r.IsNil()
	default:
		return false
	}
}
