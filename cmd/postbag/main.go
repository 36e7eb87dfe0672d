package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], &console.Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(int(code))
}
