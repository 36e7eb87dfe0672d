package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

func main() {
	ctx, stop := untilSignal(oneSignal)
	code := run(ctx, os.Args[1:], &terminal.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(int(code))
}

// oneSignal is for how long after the first signal others are taken for the same one: a
// process group gets one from its terminal and one from who started it.
const oneSignal = time.Second

// untilSignal returns a context that ends with the first signal. A second one ends the
// program at once, unless it comes together with the first.
func untilSignal(together time.Duration) (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	context.AfterFunc(ctx, func() { time.AfterFunc(together, stop) })
	return ctx, stop
}
