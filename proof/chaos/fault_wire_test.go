package chaos

import (
	"context"
	"net"
	"testing"
	"time"
)

func TestAConnectionTrapThatCaughtNothingHadNoEffect(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	server, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	w, err := NewWire(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, said := range []string{"something else", "COMMIT"} {
		s := &Strike{For: 10 * time.Millisecond}
		end, err := w.Doubtful("cut after COMMIT was sent", DatabaseWire, NoRelay, "COMMIT").Begin(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan struct{})
		go func() {
			defer close(heard)
			if c, err := server.Accept(); err == nil {
				_, _ = c.Read(make([]byte, 100)) // what was said, or that it was cut
				_ = c.Close()
			}
		}()
		client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", w.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		if said == "COMMIT" {
			if _, err := client.Read(make([]byte, 1)); err == nil {
				t.Error("the connection was not cut")
			}
		}
		<-heard
		_ = client.Close()
		if err := end(context.Background()); err != nil {
			t.Fatal(err)
		}
		if idle := said != "COMMIT"; s.idle != idle {
			t.Errorf("%s went by: %v, without an effect %v", said, s.notes, s.idle)
		}
	}
}
