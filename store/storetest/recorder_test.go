package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// recorder is a testing.TB that keeps a case's failures to itself.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failed   bool
	skipped  bool
	said     []string
	cleanups []func()
}

// record runs a case to its end and returns what became of it. A panic is a
// failure.
func record(t *testing.T, run func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.clean()
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		run(r)
	}()
	<-done
	return r
}

func (r *recorder) clean() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func (r *recorder) say(failed bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || failed
	r.said = append(r.said, text)
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Fail() { r.say(true, "fail") }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Log(args ...any) { r.say(false, fmt.Sprint(args...)) }

func (r *recorder) Logf(format string, args ...any) { r.say(false, fmt.Sprintf(format, args...)) }

func (r *recorder) Error(args ...any) { r.say(true, fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) { r.say(true, fmt.Sprintf(format, args...)) }

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.skipped = true
	r.Log(args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }

func (r *recorder) SkipNow() { r.Skip("skip") }

func (r *recorder) Skipped() bool { return r.skipped }
