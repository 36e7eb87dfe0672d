package inbox

import (
	"errors"
	"fmt"
	"runtime"
)

// guarded calls a handler in a goroutine of its own: one that ends its goroutine ends neither
// a worker nor a relay. panicked makes an error of a panic, in that goroutine.
func guarded(call func() error, panicked func(p any) error) error {
	answer := make(chan error, 1)
	go func() {
		err := errGone
		defer func() {
			if p := recover(); p != nil {
				err = panicked(p)
			}
			answer <- err
		}()
		err = call()
	}()
	return <-answer
}

// errGone is of a handler that called runtime.Goexit, as t.FailNow does.
var errGone = errors.New("inbox: the handler ended its goroutine; let it return an error")

// panicError is the error of a panic. Its value may hold anything, so the error has only its
// type, or the text of a fault that the runtime found.
func panicError(who string, p any) error {
	if fault, is := p.(runtime.Error); is {
		return fmt.Errorf("%s panicked: %w", who, fault)
	}
	return fmt.Errorf("%s panicked (%T); fix it, then retry the message", who, p)
}
